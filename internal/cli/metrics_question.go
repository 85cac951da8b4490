package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
)

// question reads the flags, before anything is asked of a cluster.
func (o *metricsOptions) question(ctx context.Context) (*question, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	q := &question{args: o.args, top: o.top, containers: o.containers, rows: o.of.systemRows}
	for _, step := range []func(*question) error{o.parseRows, o.parseWindow, o.parseSharing, o.repeating} {
		if err := step(q); err != nil {
			return nil, err
		}
	}
	var err error
	q.book, err = readPrices(ctx, o.of.prices(o.prices))
	return q, err
}

func (o *metricsOptions) parseRows(q *question) error {
	var err error
	switch q.selector, err = parseSelector(o.selector); {
	case err != nil:
		return err
	case q.selector != nil && len(o.args) == 0:
		return hint.With(fmt.Errorf("--selector chooses among all of a TYPE"), "kubectl sysop metrics TYPE -l "+o.selector)
	}
	if o.depth < 0 || o.top < 0 {
		return fmt.Errorf("--depth and --top: expected 0 or more")
	}
	q.sortBy = o.sortBy
	if q.sortBy == "" && o.top > 0 {
		q.sortBy = "cost"
	}
	if q.sortBy != "" && !slices.Contains(cost.SortKeys(), q.sortBy) {
		return hint.With(fmt.Errorf("unknown value %q of --sort-by", o.sortBy), "write one of "+strings.Join(cost.SortKeys(), ", "))
	}
	return q.group(o.by)
}

// parseWindow reads the flags of a window.
func (o *metricsOptions) parseWindow(q *question) error {
	switch {
	case o.prometheus == "" && o.matchers != "":
		return hint.With(fmt.Errorf("--prometheus-matchers is for queries: there is no --prometheus"), "add --prometheus URL and --window 24h")
	case o.tokenFile != "" && !strings.HasPrefix(o.prometheus, "http"):
		return hint.With(fmt.Errorf("--prometheus-token-file is for a --prometheus URL: requests through the API server carry no token"), "add --prometheus https://HOST and --window 24h")
	case o.window == "" && o.prometheus == "":
		return nil
	case o.window == "":
		return hint.With(fmt.Errorf("--prometheus is asked about a window: there is no --window"), "add --window 24h")
	case o.prometheus == "":
		return hint.With(fmt.Errorf("--window %s needs a history: there is no --prometheus", o.window), "add --prometheus URL, or --prometheus svc:NAMESPACE/NAME:PORT")
	}
	q.history = historySource{window: o.window, address: o.prometheus, matchers: o.matchers, tokenFile: o.tokenFile}
	if err := q.setWindow(o.env.Now()); err != nil {
		return err
	}
	if o.output == "focus" {
		if err := view.CheckFocusWindow(*q.window); err != nil {
			return err
		}
	}
	var err error
	if q.timeout, err = clientcmd.ParseTimeout(*o.config.Timeout); err != nil {
		return fmt.Errorf("--request-timeout: %w", err)
	}
	return nil
}

func (o *metricsOptions) parseSharing(q *question) error {
	q.options.Sharing = cost.Sharing(o.of.sharing(o.share, o.shareChosen))
	if all := []cost.Sharing{cost.ShareEven, cost.ShareUsage, cost.ShareRequests, cost.ShareWeight}; !slices.Contains(all, q.options.Sharing) {
		return hint.With(fmt.Errorf("unknown value %q of --share", o.share), "write one of even, usage, requests, weight")
	}
	if o.shareBy != "even" && o.shareBy != "weighted" {
		return hint.With(fmt.Errorf("unknown value %q of --share-by", o.shareBy), "write even or weighted")
	}
	q.options.Weighted = o.shareBy == "weighted"
	q.options.ShareIdle, q.options.ShareNamespaces = o.shareIdle, o.shareNamespaces
	overhead, err := decimal.NewFromString(o.shareOverhead)
	if err != nil || overhead.IsNegative() {
		return fmt.Errorf("--share-overhead %q: expected an amount of money an hour, such as 0.10", o.shareOverhead)
	}
	q.options.ShareOverhead = overhead
	return nil
}

// repeating checks what asks for more than one answer.
func (o *metricsOptions) repeating(*question) error {
	const least = time.Second
	switch {
	case o.watch && o.listen != "":
		return fmt.Errorf("--watch and --listen exclude each other")
	case o.interval < least:
		return fmt.Errorf("--interval %s: expected %s or more", o.interval, least)
	case o.listen != "" && o.output != "tree" && o.output != "openmetrics":
		return fmt.Errorf("--listen serves openmetrics: it cannot serve %s", o.output)
	}
	return o.focus.validate()
}
