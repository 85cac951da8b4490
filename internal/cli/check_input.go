package cli

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// facting has the session that opens next keep what rules look at.
func (c *input) facting() *check.Collector {
	facts := check.NewCollector()
	c.wholly = check.Whole()
	c.extract = append(c.extract, func(*session) inventory.Extractor { return keep(facts) })
	return facts
}

// catalogued names the operator that the catalogue knows of a kind.
func (s *session) catalogued(gk schema.GroupKind) (string, bool) {
	r, ok := s.kinds.Kind(gk)
	if !ok {
		return "", false
	}
	entry, _, ok := catalog.KindOf(r)
	return entry.Name, ok
}

// composes says what the catalogue knows that an operator makes for one of a kind.
func (s *session) composes(gk schema.GroupKind) ([]string, bool) {
	r, ok := s.kinds.Kind(gk)
	if !ok {
		return nil, false
	}
	_, kind, ok := catalog.KindOf(r)
	return kind.Composes, ok && kind.Composes != nil
}

// checkWorld makes the world of what an inventory holds.
func (s *session) checkWorld(g *graph.Graph, facts *check.Collector, kinds *object.Kinds, inv *inventory.Inventory) *check.ClusterState {
	w := check.NewWorld(g, facts, kinds, func(gk schema.GroupKind, namespace string) bool {
		return kinds.NotServed(gk) || inv.Covered(gk, namespace)
	})
	w.Catalogued = s.catalogued
	return w
}

// keep has a collector take what it wants of objects.
func keep(facts *check.Collector) inventory.Extractor {
	return func(o object.Object) func(*inventory.Inventory, inventory.ID) {
		facts.Add(o)
		return nil
	}
}
