package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/focus"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// question reads the flags, before anything is asked of a cluster.
func (o *metricsOptions) question(ctx context.Context) (*app.MetricsRequest, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	q := &app.MetricsRequest{Args: o.args, Top: o.top, Containers: o.containers, Rows: o.of.SystemRows}
	window := func(q *app.MetricsRequest) error { return o.parseWindow(ctx, q) }
	for _, step := range []func(*app.MetricsRequest) error{o.parseRows, o.parseKeys, window, o.parseSharing, o.repeating} {
		if err := step(q); err != nil {
			return nil, err
		}
	}
	var err error
	q.Book, err = app.ReadPrices(ctx, o.of.Prices(o.prices))
	return q, err
}

func (o *metricsOptions) parseRows(q *app.MetricsRequest) error {
	var err error
	switch q.Selector, err = app.ParseSelector(o.selector); {
	case err != nil:
		return err
	case q.Selector != nil && len(o.args) == 0:
		return hint.With(fmt.Errorf("--selector chooses among all of a TYPE"), "kubectl sysop metrics TYPE -l "+o.selector)
	}
	if o.depth < 0 || o.top < 0 {
		return fmt.Errorf("--depth and --top: expected 0 or more")
	}
	q.SortBy = o.sortBy
	if q.SortBy == "" && o.top > 0 {
		q.SortBy = "cost"
	}
	if q.SortBy != "" {
		_, err = oneOf("--sort-by", q.SortBy, cost.SortKeys())
	}
	return err
}

// parseWindow reads the flags of a window.
func (o *metricsOptions) parseWindow(ctx context.Context, q *app.MetricsRequest) error {
	server, err := o.server(ctx)
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
	if err := q.SetWindow(o.env.Now()); err != nil {
		return err
	}
	if o.step != 0 && !slices.Contains(metrics.Steps(), o.step) {
		return hint.With(fmt.Errorf("--step %s: unknown step", o.step), "write one of 1m, 5m, 15m, 60m")
	}
	if err := o.parseEvery(q); err != nil {
		return err
	}
	if o.output == "focus" {
		if err := focus.CheckWindow(*q.Window); err != nil {
			return err
		}
	}
	q.Timeout, err = o.requestTimeout()
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
	case o.every != "" && (o.output == "focus" || o.output == "openmetrics" || o.output == "svg" || o.listen != ""):
		with := "-o " + o.output
		if o.listen != "" {
			with = "--listen"
		}
		return hint.With(fmt.Errorf("--every: not supported with %s", with), "write one of tree, table, wide, json, yaml, csv, html, or leave it out")
	}
	return nil
}

// requestTimeout is that of --request-timeout; 0 if it is not given.
func (c *common) requestTimeout() (time.Duration, error) {
	timeout, err := clientcmd.ParseTimeout(*c.Config.Timeout)
	if err != nil {
		return 0, fmt.Errorf("--request-timeout: %w", err)
	}
	return timeout, nil
}

func (o *metricsOptions) parseSharing(q *app.MetricsRequest) error {
	share, err := oneOf("--share", o.of.Sharing(o.share, o.shareChosen), sharings())
	if err != nil {
		return err
	}
	q.Options.Sharing = cost.Sharing(share)
	switch {
	case q.Options.Sharing == cost.ShareNone && (o.shareIdle || len(o.shareNamespaces) > 0):
		return fmt.Errorf("--share none splits nothing: omit --share-idle and --share-namespace, or choose another --share")
	case o.shareBy != "" && o.shareBy != "even" && o.shareBy != "weighted":
		return hint.With(fmt.Errorf("unknown value %q of --share-by", o.shareBy), "write even or weighted")
	}
	q.Options.Weighted, q.ShareByChosen = o.shareBy == "weighted", o.shareBy != ""
	q.Options.ShareIdle, q.Options.ShareNamespaces = o.shareIdle, o.shareNamespaces
	overhead, err := decimal.NewFromString(o.shareOverhead)
	if err != nil || overhead.IsNegative() {
		return fmt.Errorf("--share-overhead %q: expected an amount of money an hour, such as 0.10", o.shareOverhead)
	}
	q.Options.ShareOverhead = overhead
	return nil
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
	case o.listen != "" && o.output != "tree" && o.output != "openmetrics":
		return fmt.Errorf("--listen serves openmetrics: it cannot serve %s", o.output)
	}
	return o.focus.validate()
}
