package metricscmd

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/summary"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/internal/web"
)

// serving answers the scrapes of Prometheus.
func (o *metricsOptions) serving(ctx context.Context, q *app.MetricsRequest) error {
	o.Output = "openmetrics"
	reported := false
	return web.ServeMetrics(ctx, web.MetricsOptions{Address: o.listen, Interval: o.interval, Now: o.Env.Now, ErrOut: o.Env.ErrOut, Compute: func(ctx context.Context) (view.Output, error) {
		m, err := o.MeasureAll(ctx, q)
		if err != nil {
			return view.Output{}, err
		}
		if !reported {
			reported = true
			o.Say(summary.Metrics(m)...)
		}
		return o.answer(ctx, m)
	}})
}

// watching measures and shows repeatedly. It clears a terminal before each answer; elsewhere the
// answers follow each other. It reports failures and retries.
func (o *metricsOptions) watching(ctx context.Context, q *app.MetricsRequest) error {
	const clear = "\x1b[H\x1b[2J"
	for first := true; ; first = false {
		m, err := o.MeasureAll(ctx, q)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && first:
			return err
		case err != nil:
			fmt.Fprintf(o.Env.ErrOut, "warning: %s: trying again in %s\n", command.Safe(err.Error()), o.interval)
		default:
			if o.Env.Width > 0 {
				fmt.Fprint(o.Env.Out, clear)
			} else if !first && o.ForPeople() {
				fmt.Fprintln(o.Env.Out)
			}
			if err := o.show(ctx, m); err != nil {
				return err
			}
			if first {
				o.Say(summary.Metrics(m)...)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(o.interval):
		}
	}
}

// repeating checks what asks for more than one answer.
func (o *metricsOptions) repeating(*app.MetricsRequest) error {
	const least = time.Second
	switch {
	case o.invoiced() && o.watch:
		return fmt.Errorf("--watch: not supported with -o html")
	case o.watch && o.listen != "":
		return fmt.Errorf("--watch and --listen exclude each other")
	case o.interval < least:
		return fmt.Errorf("--interval %s: expected %s or more", o.interval, least)
	case o.listen != "" && o.Output != "tree" && o.Output != "openmetrics":
		return fmt.Errorf("--listen serves openmetrics: it cannot serve %s", o.Output)
	}
	return o.focus.validate()
}
