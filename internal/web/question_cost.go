package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// cost is the totals by stack, namespace or label: as they were seen last, or of a window.
func (a *API) cost(ctx context.Context, query url.Values) (json.RawMessage, error) {
	groupBy := query.Get("by")
	key, err := cost.ParseKey(groupBy)
	if err != nil || !slices.Contains([]string{cost.ByStack, cost.ByResource, cost.ByNamespace, cost.ByNode, cost.ByLabel}, key.By) {
		return nil, Bad("by=%q: expected stack, resource, namespace, node, or label:KEY", groupBy)
	}
	name := strings.Replace(groupBy, ":", " ", 1)
	window := query.Get("window")
	if window == "" {
		l := a.last()
		report, err := l.ReportBy(ctx, key)
		if err != nil {
			return nil, err
		}
		return json.Marshal(uistate.CostsOf(name, report, l.Reading))
	}
	l, collector, err := a.lookBack(ctx, window)
	if err != nil {
		return nil, err
	}
	l.Request.Keys = []cost.Key{key}
	if err := l.Compute(ctx, collector); err != nil {
		return nil, err
	}
	return json.Marshal(uistate.CostsOf(name, l.Report, l.Reading))
}

// historyAnswer is what was paid over time: of each span, in hundredths of the currency. They are
// not rounded to whole ones, as small spans have little of them.
type historyAnswer struct {
	Currency string         `json:"currency"`
	Points   []historyPoint `json:"points"`
	// Unavailable is why there are none.
	Unavailable string `json:"unavailable,omitempty"`
}

type historyPoint struct {
	From   int64                  `json:"from"` // seconds of Unix time
	To     int64                  `json:"to"`
	Total  view.Number            `json:"total"`
	Stacks map[string]view.Number `json:"stacks"`
}

// maxSpans is into how many a window is divided.
const maxSpans = 24

// history is what was paid in each span of a window.
func (a *API) history(ctx context.Context, query url.Values) (json.RawMessage, error) {
	out := historyAnswer{Points: []historyPoint{}}
	if a.History.Address == "" {
		out.Unavailable = a.Page.MissingSources["history"]
		return json.Marshal(out)
	}
	window := query.Get("window")
	if window == "" {
		window = "24h"
	}
	l, collector, err := a.lookBack(ctx, window)
	if err != nil {
		return nil, err
	}
	// Spans of whole steps of the window: what they cost adds up to what it costs.
	step, err := l.EvaluatedStep(ctx)
	if err != nil {
		return nil, err
	}
	for _, span := range l.Request.Window.Aligned(step).Spans(step, maxSpans) {
		m, q := *l.MetricsResult, *l.Request
		q.Window, q.History.Step, m.Request = &span, step, &q
		if err := m.Compute(ctx, collector); err != nil {
			return nil, err
		}
		out.Currency = m.Report.Currency
		out.Points = append(out.Points, pointOf(&m, span.From, span.To))
	}
	return json.Marshal(out)
}

func pointOf(m *app.MetricsResult, from, to time.Time) historyPoint {
	const places = 4
	shown := func(d decimal.Decimal) view.Number { return view.Number(d.Shift(2).Round(places).String()) }
	p := historyPoint{From: from.Unix(), To: to.Unix(), Total: shown(m.Report.Total.Cost), Stacks: map[string]view.Number{}}
	for _, row := range m.Report.Rows {
		if row.Level == cost.LevelStack && row.Priced() {
			p.Stacks[row.Ref.String()] = shown(row.Cost)
		}
	}
	return p
}

// lookBack reads what a question about a window is about. The survey is not disturbed.
func (a *API) lookBack(ctx context.Context, window string) (*app.PageState, *metrics.Collector, error) {
	if a.History.Address == "" {
		return nil, nil, fmt.Errorf("window=%q: %s", window, a.Page.MissingSources["history"])
	}
	in := a.Page.Input.Another("")
	collector := &metrics.Collector{}
	in.Collect, in.Notes = collector.Add, []string{app.WeightAnnotation}
	q := *a.Page.Request
	q.Wrap, q.Brief = nil, false
	q.History = a.History.ForCluster(in.ClusterName())
	q.History.Window = window
	if err := q.SetWindow(in.Now()); err != nil {
		return nil, nil, Bad("%s", err)
	}
	var err error
	if q.Timeout, err = clientcmd.ParseTimeout(*in.Config.Timeout); err != nil {
		return nil, nil, fmt.Errorf("--request-timeout: %w", err)
	}
	l := &app.PageState{MetricsResult: &app.MetricsResult{Input: in, Request: &q}}
	q.Applications = len(q.Args) == 0
	if l.Session, err = in.Open(ctx); err != nil {
		return nil, nil, err
	}
	return l, collector, l.Read(ctx)
}
