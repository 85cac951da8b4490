package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/autoscaler"
	"github.com/kubectl-sysop/kubectl-sysop/internal/cli/metricscmd"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type autoscaleStatusOptions struct {
	*command.Common
	autoscaleOptions
	exitCode bool
}

func newAutoscaleStatus(env command.Env) *cobra.Command {
	o := &autoscaleStatusOptions{Common: command.NewCommon(env, "table", "wide", "json", "yaml", "name")}
	cmd := o.NewCommand("status [ROOT... | -f SYSTEM]", cobra.ArbitraryArgs, o.CompleteRoots, o.run)
	o.AddReadFlags(cmd)
	o.AddOutputFlags(cmd)
	o.namingFlags(cmd)
	metricscmd.PricesFlag(cmd, &o.prices)
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with code 2 unless at least one scaler is found, and all work and are below their maxima")
	return cmd
}

func (o *autoscaleStatusOptions) run(ctx context.Context, args []string) error {
	req, err := o.request(ctx, o.Common, args)
	if err != nil {
		return err
	}
	r, err := autoscaler.Status(ctx, &o.Input, req)
	if err != nil {
		return err
	}
	if err := o.Write(view.AutoscaleStatus(r.Scalers, r.Session.AsOf(), r.Graph.Gaps())); err != nil {
		return err
	}
	if len(r.Scalers) == 0 && o.ForPeople() {
		fmt.Fprintln(o.Env.ErrOut, "no HorizontalPodAutoscaler scales a workload of it")
	}
	r.Session.PrintTimings(r.Graph)
	if o.exitCode && (len(r.Scalers) == 0 || !r.Works()) {
		return command.ErrNotFine
	}
	return nil
}
