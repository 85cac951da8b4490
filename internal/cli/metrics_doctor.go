package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/summary"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

type metricsDoctorOptions struct {
	*common
	prometheusOptions
	window string
}

func newMetricsDoctor(env Env) *cobra.Command {
	o := &metricsDoctorOptions{common: newCommon(env, "table", "wide", "json", "yaml", "name")}
	cmd := o.newCommand("doctor", cobra.NoArgs, cobra.NoFileCompletions, o.run)
	o.connecting(cmd)
	o.writing(cmd)
	f := cmd.Flags()
	f.StringVar(&o.window, "window", "30d", "the window of time that is inspected: 24h, 7d, month, lastmonth, 2026-11-01/2026-11-15")
	o.prometheusFlags(cmd)
	offer(cmd, "window", windowNames()...)
	return cmd
}

// windowNames are windows to offer.
func windowNames() []string {
	return []string{"1h", "24h", "7d", "30d", "today", "yesterday", "week", "lastweek", "month", "lastmonth"}
}

func (o *metricsDoctorOptions) run(ctx context.Context, _ []string) error {
	server, err := o.server(ctx)
	if err != nil {
		return err
	}
	if server.Address == "" {
		return hint.With(fmt.Errorf("there is no --prometheus to ask"), "add --prometheus URL, or --prometheus svc:NAMESPACE/NAME:PORT")
	}
	w, err := metrics.ParseWindow(o.window, o.env.Now())
	if err != nil {
		return fmt.Errorf("--window: %w", err)
	}
	timeout, err := o.requestTimeout()
	if err != nil {
		return err
	}
	all, err := o.InspectMetrics(ctx, server, w, timeout)
	if err != nil {
		return err
	}
	if err := o.write(view.MetricsDoctor(w, all)); err != nil {
		return err
	}
	o.say(summary.Inspected(all, w))
	return nil
}
