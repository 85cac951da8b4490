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
	options := m.Request.Options
	options.Alone = m.asked
	m.Ledger = cost.Allocate(m.Reading, m.Attribution, m.Request.Book, options)
	m.Reading.Notes = append(m.Reading.Notes, m.Ledger.Notes...)
	if !m.isClusterWide() {
		m.Ledger.Charges = slices.DeleteFunc(m.Ledger.Charges, m.isForOthers)
		m.drop()
	}
}

// isForOthers reports whether a charge belongs outside the request: for selected stacks, the idle
// cost of others; for a namespace, idle cost elsewhere and what is not in it.
func (m *MetricsResult) isForOthers(c cost.Charge) bool {
	switch {
	case c.Stack != object.Ref{}:
		return false
	case m.asked:
		return true
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

// roll makes the report of the request.
func (m *MetricsResult) roll(ctx context.Context) error {
	value, err := m.values(ctx)
	if err != nil {
		return err
	}
	m.Report = cost.NewReport(m.Reading, m.Attribution, m.Ledger, cost.Grouping{
		By: m.Request.By, Key: m.Request.Key, Value: value, OfNamespace: m.labelOf(), Containers: m.Request.Containers,
		Custom: func(r object.Ref) bool { k, ok := m.Session.Kinds.Kind(r.GroupKind()); return ok && k.Custom },
	})
	if m.Request.SortBy != "" {
		if err := cost.Sort(m.Report, m.Request.SortBy); err != nil {
			return err
		}
	}
	if m.Request.Top > 0 {
		m.Report = cost.Limit(m.Report, m.Request.Top, 0)
	}
	return nil
}
