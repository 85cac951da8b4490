package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/autoscaler"
	"github.com/kubectl-sysop/kubectl-sysop/internal/cli/metricscmd"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type autoscalePlanOptions struct {
	*command.Common
	autoscaleOptions
	usageOptions
}

func newAutoscalePlan(env command.Env) *cobra.Command {
	o := &autoscalePlanOptions{Common: command.NewCommon(env, "tree", "json", "yaml", "name")}
	cmd := o.NewCommand("plan [ROOT... | -f SYSTEM]", cobra.ArbitraryArgs, o.CompleteRoots, o.run)
	o.AddReadFlags(cmd)
	o.AddOutputFlags(cmd)
	o.namingFlags(cmd)
	metricscmd.PricesFlag(cmd, &o.prices)
	o.usageFlags(cmd)
	return cmd
}

func (o *autoscalePlanOptions) run(ctx context.Context, args []string) error {
	req, err := o.request(ctx, o.Common, args)
	if err != nil {
		return err
	}
	if err := o.usage(ctx, o.Common, &req); err != nil {
		return err
	}
	req.AtMaximum = true
	r, err := autoscaler.Plan(ctx, &o.Input, req)
	if err != nil {
		return err
	}
	if err := o.Write(view.AutoscalePlan(r.Plan, r.Graph.Gaps())); err != nil {
		return err
	}
	o.Notes(r.Notes)
	r.Session.PrintTimings(r.Graph)
	return nil
}
