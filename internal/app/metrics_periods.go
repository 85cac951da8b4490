package app

import (
	"context"
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// divide divides the report of the window by the calendar: each period is measured by itself, for
// the stacks of the window.
func (m *MetricsResult) divide(ctx context.Context, collector *metrics.Collector) error {
	step, err := m.EvaluatedStep(ctx)
	if err != nil {
		return err
	}
	for _, span := range m.Request.Window.Aligned(step).Divide(m.Request.Every) {
		part, q := *m, *m.Request
		q.Window, q.History.Step, q.SortBy, q.Top = &span, step, "", 0
		part.Request, part.fixed, part.extra = &q, true, nil
		if err := part.Compute(ctx, collector); err != nil {
			return fmt.Errorf("measure %s: %w", q.Every.Name(span.From), err)
		}
		m.Periods = append(m.Periods, cost.Period{Name: q.Every.Name(span.From), From: span.From, To: span.To, Report: part.Report})
	}
	whole := *m.Request
	whole.Top = 0
	all := *m
	all.Request = &whole
	if err := all.roll(ctx); err != nil {
		return err
	}
	m.Divided = cost.Divide(all.Report, m.Periods, m.Request.Top)
	return nil
}

// mergePeriods divides the report of several clusters as each of them is.
func (m *MetricsResult) mergePeriods() {
	for i, p := range m.Clusters[0].Periods {
		var reports []*cost.Report
		for _, one := range m.Clusters {
			reports = append(reports, one.Periods[i].Report)
		}
		p.Report = cost.Merge(reports)
		m.Periods = append(m.Periods, p)
	}
	if len(m.Periods) > 0 {
		m.Divided = cost.Divide(m.Report, m.Periods, m.Request.Top)
	}
}
