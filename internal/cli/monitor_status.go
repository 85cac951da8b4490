package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/monitoring"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type monitorStatusOptions struct {
	*command.Common
	command.PrometheusOptions
	file     string
	exitCode bool
}

func newMonitorStatus(env command.Env) *cobra.Command {
	o := &monitorStatusOptions{Common: command.NewCommon(env, "table", "wide", "json", "yaml", "name")}
	cmd := o.NewCommand("status [ROOT...]", cobra.ArbitraryArgs, o.CompleteRoots, o.run)
	o.AddReadFlags(cmd)
	o.AddOutputFlags(cmd)
	command.AddSystemFlag(cmd, &o.file)
	o.AddPrometheusFlags(cmd)
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with code 2 unless every app is seen, every target is up, and no alert fires")
	return cmd
}

func (o *monitorStatusOptions) run(ctx context.Context, args []string) error {
	server, err := o.Server(ctx)
	if err != nil {
		return err
	}
	timeout, err := o.RequestTimeout()
	if err != nil {
		return err
	}
	plan, err := monitoringPlan(ctx, o.Common, args, o.file)
	if err != nil {
		return err
	}
	status, err := monitoring.Status(ctx, &o.Input, plan, server, timeout)
	if err != nil {
		return err
	}
	if err := o.Write(view.MonitorStatus(status)); err != nil {
		return err
	}
	if o.ForPeople() {
		for _, w := range view.MonitorStatusWarnings(status) {
			o.Warn(w)
		}
	}
	if o.exitCode && !status.Fine() {
		return command.ErrNotFine
	}
	return nil
}
