package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// weightNote is the annotation by which a stack takes more or less of what it shares.
const weightNote = "sysop.dev/share-weight"

// question is what the flags of the metrics command mean.
type question struct {
	selector labels.Selector
	by, key  string // of --by label:KEY
	sortBy   string
	window   *metrics.Window // nil for an instant
	step     time.Duration   // of the window; 0 for that of its length
	timeout  time.Duration   // with a query of Prometheus; 0 where it is not said
	book     *cost.Book
	options  cost.Options
	// find finds the stacks that are asked about; nil for those that have pods, claims or
	// load balancers.
	find func(*metricsResult) []metrics.Stack
	// through puts others in the place of the sources of usage; nil leaves them.
	through func([]metrics.Source) []metrics.Source
	// brief asks for CPU and memory alone: no kubelet is asked for the rest.
	brief bool
}

// question reads the flags, before anything is asked of a cluster.
func (o *metricsOptions) question(ctx context.Context) (*question, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	q := &question{}
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
		return withHint(fmt.Errorf("--selector chooses among all of a TYPE"), "kubectl sysop metrics TYPE -l "+o.selector)
	}
	if o.depth < 0 || o.top < 0 {
		return fmt.Errorf("--depth and --top: expected 0 or more")
	}
	q.sortBy = o.sortBy
	if q.sortBy == "" && o.top > 0 {
		q.sortBy = "cost"
	}
	if q.sortBy != "" && !slices.Contains(cost.SortKeys(), q.sortBy) {
		return withHint(fmt.Errorf("unknown value %q of --sort-by", o.sortBy), "write one of "+strings.Join(cost.SortKeys(), ", "))
	}
	q.by, q.key, _ = strings.Cut(o.by, ":")
	switch q.by {
	case "stack", "resource", "namespace", "node", "creator":
		if q.key == "" {
			return nil
		}
	case "label", "annotation":
		if len(validation.IsQualifiedName(q.key)) == 0 {
			return nil
		}
		return withHint(fmt.Errorf("--by %s: expected the key of a %s after the colon", o.by, q.by), "as in --by "+q.by+":app.kubernetes.io/name")
	}
	return withHint(fmt.Errorf("unknown value %q of --by", o.by), "write one of stack, resource, namespace, node, creator, label:KEY, annotation:KEY")
}

// parseWindow reads the window; one that ends now ends later when it is read again.
func (o *metricsOptions) parseWindow(q *question) error {
	switch {
	case o.prometheus == "" && o.matchers != "":
		return withHint(fmt.Errorf("--prometheus-matchers is for queries: there is no --prometheus"), "add --prometheus URL and --window 24h")
	case o.tokenFile != "" && !strings.HasPrefix(o.prometheus, "http"):
		return withHint(fmt.Errorf("--prometheus-token-file is for a --prometheus URL: requests through the API server carry no token"), "add --prometheus https://HOST and --window 24h")
	case o.window == "" && o.step != 0:
		return withHint(fmt.Errorf("--step is for a window: there is no --window"), "add --prometheus URL and --window 24h")
	case o.window == "" && o.prometheus == "":
		return nil
	case o.window == "":
		return withHint(fmt.Errorf("--prometheus is asked about a window: there is no --window"), "add --window 24h")
	case o.prometheus == "":
		return withHint(fmt.Errorf("--window %s needs a history: there is no --prometheus", o.window), "add --prometheus URL, or --prometheus svc:NAMESPACE/NAME:PORT")
	}
	w, err := metrics.ParseWindow(o.window, o.env.Now())
	if err != nil {
		return fmt.Errorf("--window: %w", err)
	}
	if o.step != 0 && !slices.Contains(metrics.Steps(), o.step) {
		return withHint(fmt.Errorf("--step %s: unknown step", o.step), "write one of 1m, 5m, 15m, 60m")
	}
	q.step = o.step
	if q.window = &w; o.output == "focus" {
		if err := view.CheckFocusWindow(w); err != nil {
			return err
		}
	}
	if q.timeout, err = clientcmd.ParseTimeout(*o.config.Timeout); err != nil {
		return fmt.Errorf("--request-timeout: %w", err)
	}
	return nil
}

func (o *metricsOptions) parseSharing(q *question) error {
	q.options.Sharing = cost.Sharing(o.of.sharing(o.share, o.shareChosen))
	if all := []cost.Sharing{cost.ShareEven, cost.ShareUsage, cost.ShareRequests, cost.ShareWeight}; !slices.Contains(all, q.options.Sharing) {
		return withHint(fmt.Errorf("unknown value %q of --share", o.share), "write one of even, usage, requests, weight")
	}
	if o.shareBy != "even" && o.shareBy != "weighted" {
		return withHint(fmt.Errorf("unknown value %q of --share-by", o.shareBy), "write even or weighted")
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
