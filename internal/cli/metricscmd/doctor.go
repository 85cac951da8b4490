package metricscmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/summary"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

type metricsDoctorOptions struct {
	*command.Common
	command.PrometheusOptions
	window string
}

func newMetricsDoctor(env command.Env) *cobra.Command {
	o := &metricsDoctorOptions{Common: command.NewCommon(env, "table", "wide", "json", "yaml", "name")}
	cmd := o.NewCommand("doctor", cobra.NoArgs, cobra.NoFileCompletions, o.run)
	o.AddConnectionFlags(cmd)
	o.AddOutputFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.window, "window", "30d", "the window of time that is inspected: 24h, 7d, month, lastmonth, 2026-11-01/2026-11-15")
	o.AddPrometheusFlags(cmd)
	command.Offer(cmd, "window", WindowNames()...)
	return cmd
}

// WindowNames are windows to offer.
func WindowNames() []string {
	return []string{"1h", "24h", "7d", "30d", "today", "yesterday", "week", "lastweek", "month", "lastmonth"}
}

func (o *metricsDoctorOptions) run(ctx context.Context, _ []string) error {
	server, err := o.Server(ctx)
	if err != nil {
		return err
	}
	if server.Address == "" {
		return hint.With(fmt.Errorf("there is no --prometheus to ask"), "add --prometheus URL, or --prometheus svc:NAMESPACE/NAME:PORT")
	}
	w, err := metrics.ParseWindow(o.window, o.Env.Now())
	if err != nil {
		return fmt.Errorf("--window: %w", err)
	}
	timeout, err := o.RequestTimeout()
	if err != nil {
		return err
	}
	all, err := o.InspectMetrics(ctx, server, w, timeout)
	if err != nil {
		return err
	}
	if err := o.Write(view.MetricsDoctor(w, all)); err != nil {
		return err
	}
	o.Say(summary.Inspected(all, w))
	return nil
}
