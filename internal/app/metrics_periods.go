package app

import (
	"context"
	"fmt"
	"strings"

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
	whole, top := *m.Request, m.Request.Top
	whole.Top = 0
	all := *m
	all.Request = &whole
	if err := all.roll(ctx); err != nil {
		return err
	}
	m.Divided = divided(all.Report, m.Periods, top)
	return nil
}

// divided divides a report, and leaves so many rows of each period; 0 for all.
func divided(whole *cost.Report, periods []cost.Period, top int) *cost.Report {
	out := cost.Divide(whole, periods)
	if top > 0 && len(whole.Rows) > 0 {
		limited := cost.Limit(whole, top, 0).Rows
		name := limited[len(limited)-1].Name // that of the window in each period
		for _, row := range out.Rows {
			row.Children = cost.Limit(&cost.Report{Rows: row.Children, Total: *row}, top, 0).Rows
			if n := len(row.Children); n > 0 && strings.HasSuffix(row.Children[n-1].Name, " more") && row.Children[n-1].Level == cost.LevelRest {
				row.Children[n-1].Name = name
			}
		}
	}
	return out
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
		m.Divided = divided(m.Report, m.Periods, m.Request.Top)
	}
}
