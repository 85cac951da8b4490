package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/monitoring"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type monitorStatusOptions struct {
	*common
	prometheusOptions
	file     string
	exitCode bool
}

func newMonitorStatus(env Env) *cobra.Command {
	o := &monitorStatusOptions{common: newCommon(env, "table", "wide", "json", "yaml", "name")}
	cmd := o.newCommand("status [ROOT...]", cobra.ArbitraryArgs, o.completeRoots, o.run)
	o.reading(cmd)
	o.writing(cmd)
	systemFlag(cmd, &o.file)
	o.prometheusFlags(cmd)
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with code 2 unless every app is seen, every target is up, and no alert fires")
	return cmd
}

func (o *monitorStatusOptions) run(ctx context.Context, args []string) error {
	server, err := o.server(ctx)
	if err != nil {
		return err
	}
	timeout, err := o.requestTimeout()
	if err != nil {
		return err
	}
	plan, err := monitoringPlan(ctx, o.common, args, o.file)
	if err != nil {
		return err
	}
	status, err := monitoring.Status(ctx, &o.Input, plan, server, timeout)
	if err != nil {
		return err
	}
	if err := o.write(view.MonitorStatus(status)); err != nil {
		return err
	}
	if o.human() {
		for _, w := range view.MonitorStatusWarnings(status) {
			o.Warn(w)
		}
	}
	if o.exitCode && !status.Fine() {
		return errNotFine
	}
	return nil
}
