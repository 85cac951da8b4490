package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/internal/web"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// cost is the totals by stack, namespace or label: as they were seen last, or of a window.
func (a *uiAPI) cost(ctx context.Context, query url.Values) (json.RawMessage, error) {
	by := query.Get("by")
	o := metricsOptions{common: a.o.common, by: by}
	q := &question{}
	if err := o.parseRows(q); err != nil || q.by == cost.ByAnnotation || q.by == cost.ByCreator {
		return nil, web.Bad("by=%q: expected stack, namespace, node, or label:KEY", by)
	}
	name := strings.Replace(by, ":", " ", 1)
	window := query.Get("window")
	if window == "" {
		a.v.mu.Lock()
		l := a.v.last
		a.v.mu.Unlock()
		report, err := l.reportBy(ctx, q.by, q.key)
		if err != nil {
			return nil, err
		}
		return json.Marshal(view.UICostsOf(name, report, l.reading))
	}
	l, collector, err := a.lookBack(ctx, window)
	if err != nil {
		return nil, err
	}
	l.q.by, l.q.key = q.by, q.key
	if err := l.figure(ctx, collector); err != nil {
		return nil, err
	}
	return json.Marshal(view.UICostsOf(name, l.report, l.reading))
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
func (a *uiAPI) history(ctx context.Context, query url.Values) (json.RawMessage, error) {
	out := historyAnswer{Points: []historyPoint{}}
	if a.o.past.prometheus == "" {
		out.Unavailable = a.v.missingSources["history"]
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
	step := metrics.StepFor(*l.q.window)
	whole := l.q.window.Aligned(step)
	length := max(whole.Length()/maxSpans, step).Truncate(step)
	for from := whole.From; from.Before(whole.To); {
		to := from.Add(length)
		if len(out.Points) == maxSpans-1 || to.After(whole.To) {
			to = whole.To
		}
		m, q := *l.metricsResult, *l.q
		q.window, q.step, m.q = &metrics.Window{From: from, To: to}, step, &q
		if err := m.figure(ctx, collector); err != nil {
			return nil, err
		}
		out.Currency = m.report.Currency
		out.Points = append(out.Points, pointOf(&m, from, to))
		from = to
	}
	return json.Marshal(out)
}

func pointOf(m *metricsResult, from, to time.Time) historyPoint {
	const places = 4
	shown := func(d decimal.Decimal) view.Number { return view.Number(d.Shift(2).Round(places).String()) }
	p := historyPoint{From: from.Unix(), To: to.Unix(), Total: shown(m.report.Total.Cost), Stacks: map[string]view.Number{}}
	for _, row := range m.report.Rows {
		if row.Level == cost.LevelStack && row.Priced() {
			p.Stacks[row.Ref.String()] = shown(row.Cost)
		}
	}
	return p
}

// lookBack reads what a question about a window is about. The survey is not disturbed.
func (a *uiAPI) lookBack(ctx context.Context, window string) (*uiSnapshot, *metrics.Collector, error) {
	if a.o.past.prometheus == "" {
		return nil, nil, fmt.Errorf("window=%q: %s", window, a.v.missingSources["history"])
	}
	o := *a.o.metricsOptions
	o.common = a.o.another()
	o.window, o.prometheus, o.matchers, o.tokenFile = window, a.o.past.prometheus, a.o.past.matchers, a.o.past.tokenFile
	collector := &metrics.Collector{}
	o.collect, o.notes = collector.Add, []string{weightNote}
	q := *a.v.q
	q.through, q.brief = nil, false
	if err := o.parseWindow(&q); err != nil {
		return nil, nil, web.Bad("%s", err)
	}
	l := &uiSnapshot{metricsResult: &metricsResult{o: &o, q: &q}}
	if len(o.args) == 0 {
		q.find = l.find
	}
	var err error
	if l.session, err = o.open(ctx); err != nil {
		return nil, nil, err
	}
	return l, collector, l.read(ctx)
}

// another is what reads the same, for a reading of its own.
func (c *common) another() *common {
	fresh := newCommon(c.env)
	connectAs(fresh, c)
	fresh.from, fresh.rulesFiles, fresh.allNamespaces, fresh.noInferred = c.from, c.rulesFiles, c.allNamespaces, c.noInferred
	return fresh
}
