package metricscmd

import (
	"context"
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
)

// question reads the flags, before anything is asked of a cluster.
func (o *metricsOptions) question(ctx context.Context) (*app.MetricsRequest, error) {
	if err := o.Validate(); err != nil {
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
		_, err = command.OneOf("--sort-by", q.SortBy, cost.SortKeys())
	}
	return err
}

func (o *metricsOptions) parseSharing(q *app.MetricsRequest) error {
	share, err := command.OneOf("--share", o.of.Sharing(o.share, o.shareChosen), sharings())
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
