package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/autoscaler"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type autoscalePlanOptions struct {
	*common
	autoscaleOptions
	usageOptions
}

func newAutoscalePlan(env Env) *cobra.Command {
	o := &autoscalePlanOptions{common: newCommon(env, "tree", "json", "yaml", "name")}
	cmd := o.newCommand("plan [ROOT... | -f SYSTEM]", cobra.ArbitraryArgs, o.completeRoots, o.run)
	o.reading(cmd)
	o.writing(cmd)
	o.namingFlags(cmd)
	pricesFlag(cmd, &o.prices)
	o.usageFlags(cmd)
	return cmd
}

func (o *autoscalePlanOptions) run(ctx context.Context, args []string) error {
	req, err := o.request(ctx, o.common, args)
	if err != nil {
		return err
	}
	if err := o.usage(ctx, o.common, &req); err != nil {
		return err
	}
	req.AtMaximum = true
	r, err := autoscaler.Plan(ctx, &o.Input, req)
	if err != nil {
		return err
	}
	if err := o.write(view.AutoscalePlan(r.Plan, r.Graph.Gaps())); err != nil {
		return err
	}
	o.notes(r.Notes)
	r.Session.PrintTimings(r.Graph)
	return nil
}
