package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/autoscaler"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type autoscaleStatusOptions struct {
	*common
	autoscaleOptions
	exitCode bool
}

func newAutoscaleStatus(env Env) *cobra.Command {
	o := &autoscaleStatusOptions{common: newCommon(env, "table", "wide", "json", "yaml", "name")}
	cmd := o.newCommand("status [ROOT... | -f SYSTEM]", cobra.ArbitraryArgs, o.completeRoots, o.run)
	o.reading(cmd)
	o.writing(cmd)
	o.namingFlags(cmd)
	pricesFlag(cmd, &o.prices)
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with code 2 unless at least one scaler is found, and all work and are below their maxima")
	return cmd
}

func (o *autoscaleStatusOptions) run(ctx context.Context, args []string) error {
	req, err := o.request(ctx, o.common, args)
	if err != nil {
		return err
	}
	r, err := autoscaler.Status(ctx, &o.Input, req)
	if err != nil {
		return err
	}
	if err := o.write(view.AutoscaleStatus(r.Scalers, r.Session.AsOf(), r.Graph.Gaps())); err != nil {
		return err
	}
	if len(r.Scalers) == 0 && o.human() {
		fmt.Fprintln(o.env.ErrOut, "no HorizontalPodAutoscaler scales a workload of it")
	}
	r.Session.PrintTimings(r.Graph)
	if o.exitCode && (len(r.Scalers) == 0 || !r.Works()) {
		return errNotFine
	}
	return nil
}
