package cli

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
func (m *metricsResult) price() {
	m.place.Weights = m.weights()
	options := m.q.options
	options.Alone = m.asked
	m.ledger = cost.Allocate(m.reading, m.place, m.q.book, options)
	m.reading.Notes = append(m.reading.Notes, m.ledger.Notes...)
	if !m.isClusterWide() {
		m.ledger.Charges = slices.DeleteFunc(m.ledger.Charges, m.isForOthers)
		m.drop()
	}
}

// isForOthers says whether a charge is for others than are asked about: of stacks that are
// asked about, what others pay of what is idle; of a namespace, what is idle elsewhere
// and what is not in it.
func (m *metricsResult) isForOthers(c cost.Charge) bool {
	switch {
	case c.Stack != object.Ref{}:
		return false
	case m.asked:
		return true
	case c.Kind == cost.Idle:
		return c.Namespace != m.session.namespace
	case c.Kind == cost.Used, c.Kind == cost.Unmounted, c.Kind == cost.Unclaimed:
		return !m.keeps(c.Item)
	}
	return false
}

// weights are those that the roots of stacks ask for.
func (m *metricsResult) weights() map[object.Ref]decimal.Decimal {
	out := map[object.Ref]decimal.Decimal{}
	for _, s := range m.stacks {
		for _, id := range s.Roots {
			text, ok := m.graph.Annotation(id, weightNote)
			if !ok {
				continue
			}
			w, err := decimal.NewFromString(text)
			if err != nil || w.IsNegative() {
				m.reading.Notes = append(m.reading.Notes, metrics.Note{Subject: s.Ref.String(), Reason: "Weight", Message: fmt.Sprintf("annotation %s: %q is not a weight (expected a number, 0 or more): taken as 1", weightNote, text)})
				continue
			}
			out[s.Ref] = w
		}
	}
	m.q.rows.weights(m.stacks, out, m.session, m.graph)
	return out
}

// roll makes the report that is asked for.
func (m *metricsResult) roll(ctx context.Context) error {
	value, err := m.values(ctx)
	if err != nil {
		return err
	}
	m.report = cost.NewReport(m.reading, m.place, m.ledger, cost.Grouping{
		By: m.q.by, Key: m.q.key, Value: value, Containers: m.q.containers,
		Custom: func(r object.Ref) bool { k, ok := m.session.kinds.Kind(r.GroupKind()); return ok && k.Custom },
	})
	if m.q.sortBy != "" {
		if err := cost.Sort(m.report, m.q.sortBy); err != nil {
			return err
		}
	}
	if m.q.top > 0 {
		m.report = cost.Limit(m.report, m.q.top, 0)
	}
	return nil
}
