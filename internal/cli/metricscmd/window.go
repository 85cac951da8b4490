package metricscmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/focus"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// parseWindow reads the flags of a window.
func (o *metricsOptions) parseWindow(ctx context.Context, q *app.MetricsRequest) error {
	server, err := o.Server(ctx)
	if err != nil {
		return err
	}
	switch {
	case o.window == "" && o.every != "":
		return hint.With(fmt.Errorf("--every divides a window: there is no --window"), "add --prometheus URL and --window lastmonth")
	case o.window == "" && o.step != 0:
		return hint.With(fmt.Errorf("--step is for a window: there is no --window"), "add --prometheus URL and --window 24h")
	case o.window == "" && server.Address == "":
		return nil
	case o.window == "":
		return hint.With(fmt.Errorf("--prometheus is asked about a window: there is no --window"), "add --window 24h")
	case server.Address == "":
		return hint.With(fmt.Errorf("--window %s needs a history: there is no --prometheus", o.window), "add --prometheus URL, or --prometheus svc:NAMESPACE/NAME:PORT")
	}
	q.History = server
	q.History.Window, q.History.Step = o.window, o.step
	if err := q.SetWindow(o.Env.Now()); err != nil {
		return err
	}
	if o.step != 0 && !slices.Contains(metrics.Steps(), o.step) {
		return hint.With(fmt.Errorf("--step %s: unknown step", o.step), "write one of 1m, 5m, 15m, 60m")
	}
	if err := o.parseEvery(q); err != nil {
		return err
	}
	if o.Output == "focus" {
		if err := focus.CheckWindow(*q.Window); err != nil {
			return err
		}
	}
	q.Timeout, err = o.RequestTimeout()
	return err
}

func (o *metricsOptions) parseEvery(q *app.MetricsRequest) error {
	q.Every = metrics.Calendar(o.every)
	if o.invoiced() && o.every == "" {
		q.Every = q.Window.Calendar()
	}
	switch {
	case o.every != "" && !slices.Contains(metrics.Calendars(), q.Every):
		return hint.With(fmt.Errorf("unknown value %q of --every", o.every), "write one of day, week, month")
	case o.every != "" && (o.Output == "focus" || o.Output == "openmetrics" || o.Output == "svg" || o.listen != ""):
		with := "-o " + o.Output
		if o.listen != "" {
			with = "--listen"
		}
		return hint.With(fmt.Errorf("--every: not supported with %s", with), "write one of tree, table, wide, json, yaml, csv, html, or leave it out")
	}
	return nil
}
