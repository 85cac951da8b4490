package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
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
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Show which metrics for costs over a window a Prometheus has",
		Long: `Ask a Prometheus which of the metrics that "metrics --window" needs it has, and since when,
and show what costs are without those that it does not have. It queries 25 moments of the
window: a metric is present at all of them, partial at some, or missing.`,
		Example: `  # does it have what a bill of the last 30 days needs?
  kubectl sysop metrics doctor --prometheus svc:monitoring/prometheus-k8s:9090

  # what a bill of last month would lack, for a program
  kubectl sysop metrics doctor --prometheus https://prometheus.example.com --window lastmonth -o json`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.connecting(cmd)
	o.writing(cmd)
	f := cmd.Flags()
	f.StringVar(&o.window, "window", "30d", "the window of time that is inspected: 24h, 7d, month, lastmonth, 2026-11-01/2026-11-15")
	o.prometheusFlags(cmd)
	must(cmd.RegisterFlagCompletionFunc("window", cobra.FixedCompletions(windowNames(), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// windowNames are windows to offer.
func windowNames() []string {
	return []string{"1h", "24h", "7d", "30d", "today", "yesterday", "week", "lastweek", "month", "lastmonth"}
}

func (o *metricsDoctorOptions) run(ctx context.Context) error {
	if err := o.validate(); err != nil {
		return err
	}
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
	absent := count(all, func(m metrics.MetricStatus) bool { return m.Status != metrics.Present })
	fmt.Fprintf(o.env.ErrOut, "%d of %d metrics are present in the whole window %s\n", len(all)-absent, len(all), w)
	return nil
}
