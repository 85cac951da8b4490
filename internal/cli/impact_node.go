package cli

import (
	"context"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// drain shows what a drain of a node would do.
func (o *impactOptions) drain(ctx context.Context, name string) error {
	r, err := o.Drain(ctx, name)
	if err != nil {
		return err
	}
	r.Session.ReportGaps(r.Graph)
	if o.output == "table" {
		o.output = "tree" // A pod has lines of its own for what is to be said of it.
	}
	if err := o.write(view.Drain(r.Outcome, r.Graph.Gaps())); err != nil {
		return err
	}
	if !r.AllPods {
		o.Warn("cannot list pods in all namespaces: the node may run more")
	}
	r.Session.PrintTimings(r.Graph)
	return nil
}
