package app

import (
	"context"
	"fmt"
	"slices"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// price makes the ledger.
func (m *MetricsResult) price() {
	m.Attribution.Weights = m.weights()
	m.Options = m.Request.Options
	m.Options.Alone, m.Options.Shared = m.asked, m.shared()
	if !m.Request.ShareByChosen {
		m.Options.Weighted = m.Request.Book.SharedByCost()
	}
	m.Ledger = cost.Allocate(m.Reading, m.Attribution, m.Request.Book.For(m.Input.ClusterName()), m.Options)
	m.Reading.Notes = append(m.Reading.Notes, m.Ledger.Notes...)
	if !m.isClusterWide() {
		m.Ledger.Charges = slices.DeleteFunc(m.Ledger.Charges, m.isForOthers)
		m.drop()
	}
}

// DropCharges lets go of the charges, for an answer that has only the sums of them.
func (m *MetricsResult) DropCharges() {
	if m.Ledger != nil {
		m.Ledger.Charges = nil
	}
	for _, one := range m.Clusters {
		one.DropCharges()
	}
}

// isForOthers reports whether a charge belongs outside the request: for selected stacks, the idle
// cost of others; for a namespace, idle cost elsewhere and what is not in it.
func (m *MetricsResult) isForOthers(c cost.Charge) bool {
	switch {
	case c.Stack != object.Ref{}:
		return false
	case m.asked:
		// What several stacks need has no stack if nothing is shared.
		return m.Options.Sharing != cost.ShareNone || c.Kind != cost.Used || !m.keeps(c.Item)
	case c.Kind == cost.Idle:
		return c.Namespace != m.Session.Namespace
	case c.Kind == cost.Used, c.Kind == cost.Unmounted, c.Kind == cost.Unclaimed:
		return !m.keeps(c.Item)
	}
	return false
}

// weights returns the weights that the roots of stacks declare.
func (m *MetricsResult) weights() map[object.Ref]decimal.Decimal {
	out := map[object.Ref]decimal.Decimal{}
	for _, s := range m.stacks {
		for _, id := range s.Roots {
			text, ok := m.Graph.Annotation(id, WeightAnnotation)
			if !ok {
				continue
			}
			w, err := decimal.NewFromString(text)
			if err != nil || w.IsNegative() {
				m.Reading.Notes = append(m.Reading.Notes, metrics.Note{Subject: s.Ref.String(), Reason: "Weight", Message: fmt.Sprintf("annotation %s: %q is not a weight (expected a number, 0 or more): taken as 1", WeightAnnotation, text)})
				continue
			}
			out[s.Ref] = w
		}
	}
	m.Request.Rows.weights(m.stacks, out, m.Session, m.Graph)
	return out
}

// filter leaves what the filter of the request accepts.
func (m *MetricsResult) filter(ctx context.Context) error {
	if len(m.Request.Filter) == 0 {
		return nil
	}
	g, err := m.grouping(ctx)
	if err != nil {
		return err
	}
	m.Reading, m.Ledger = m.Request.Filter.Select(m.Reading, m.Attribution, m.Ledger, g)
	shown := map[object.Ref]bool{}
	for i := range m.Ledger.Charges {
		shown[m.Ledger.Charges[i].Stack] = true
	}
	for i := range m.Reading.Pods {
		for _, stack := range m.Attribution.Of[m.Reading.Pods[i].Ref].Stacks {
			shown[stack] = true
		}
	}
	placed := *m.Attribution
	placed.Stacks = slices.DeleteFunc(slices.Clone(placed.Stacks), func(stack object.Ref) bool { return !shown[stack] })
	m.Attribution = &placed
	return nil
}

// roll makes the report of the request.
func (m *MetricsResult) roll(ctx context.Context) error {
	g, err := m.grouping(ctx)
	if err != nil {
		return err
	}
	m.Report = cost.NewReport(m.Reading, m.Attribution, m.Ledger, g)
	if err := m.sort(); err != nil {
		return err
	}
	m.limit()
	return nil
}

// sort sorts the report as the request says.
func (m *MetricsResult) sort() error {
	if m.Request.SortBy == "" {
		return nil
	}
	return cost.Sort(m.Report, m.Request.SortBy)
}

// limit leaves as many rows of the report as the request says.
func (m *MetricsResult) limit() {
	if m.Request.Top > 0 {
		m.Report = cost.Limit(m.Report, m.Request.Top, 0)
	}
}
