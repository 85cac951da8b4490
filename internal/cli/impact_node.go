package cli

import (
	"context"
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/drain"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// drain shows what a drain of a node would hit. Pods of every namespace may be there.
func (o *impactOptions) drain(ctx context.Context, name string) error {
	facts := o.CollectFacts()
	s, err := o.Open(ctx)
	if err != nil {
		return err
	}
	opts := graph.StackOptions{NoInferred: o.NoInferred}
	g, err := s.Read(ctx, source.Query{All: true}, func(*graph.Graph) []graph.ID { return nil }, opts)
	if err != nil {
		return err
	}
	node, err := s.Kinds.Find("nodes")
	if err != nil {
		return err
	}
	root := app.Root{Text: "node/" + name, Kind: node, Name: name}
	if err := s.Missing(g, []app.Root{root}, nil); err != nil {
		return err
	}
	stop := o.Clock.Stage("drain")
	w := s.CheckWorld(g, facts, s.Kinds, s.Inventory)
	var stacks []*check.Stack
	for _, f := range g.FindStacks("", opts).Stacks {
		stacks = append(stacks, &check.Stack{World: w, Ref: f.Ref(g), Stack: g.Stack(f.Roots, opts)})
	}
	d := drain.Predict(w, name, stacks)
	elsewhere := drain.Elsewhere(w, d)
	d.Elsewhere = &elsewhere
	stop()
	s.ReportGaps(g)
	if o.output == "table" {
		o.output = "tree" // A pod has lines of its own for what is to be said of it.
	}
	if err := o.write(view.Drain(d, g.Gaps())); err != nil {
		return err
	}
	if !s.Inventory.Covered(app.PodKind, "") {
		fmt.Fprintln(o.env.ErrOut, "warning: cannot list pods in all namespaces: the node may run more")
	}
	s.PrintTimings(g)
	return nil
}
