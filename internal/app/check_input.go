package app

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// CollectFacts makes the next session keep the facts that the rules read.
func (c *Input) CollectFacts() *check.Collector {
	facts := check.NewCollector()
	c.wholly = check.Whole()
	c.Extract = append(c.Extract, func(*Session) inventory.Extractor { return keep(facts) })
	return facts
}

// Catalogued names the operator that the catalog has for a kind.
func (s *Session) Catalogued(gk schema.GroupKind) (string, bool) {
	r, ok := s.Kinds.Kind(gk)
	if !ok {
		return "", false
	}
	entry, _, ok := catalog.KindOf(r)
	return entry.Name, ok
}

// Composes returns what an operator creates for an object of a kind, by the catalog.
func (s *Session) Composes(gk schema.GroupKind) ([]string, bool) {
	r, ok := s.Kinds.Kind(gk)
	if !ok {
		return nil, false
	}
	_, kind, ok := catalog.KindOf(r)
	return kind.Composes, ok && kind.Composes != nil
}

// CheckWorld makes the world of the objects of an inventory.
func (s *Session) CheckWorld(g *graph.Graph, facts *check.Collector, kinds *object.Kinds, inv *inventory.Inventory) *check.ClusterState {
	w := check.NewWorld(g, facts, kinds, func(gk schema.GroupKind, namespace string) bool {
		return kinds.NotServed(gk) || inv.Covered(gk, namespace)
	})
	w.FindOperators = operator.Find
	w.Catalogued = s.Catalogued
	return w
}

// keep makes a collector take the objects that it needs.
func keep(facts *check.Collector) inventory.Extractor {
	return func(o object.Object) func(*inventory.Inventory, inventory.ID) {
		facts.Add(o)
		return nil
	}
}
