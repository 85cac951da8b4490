package rules

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// served tells what the cluster does not know of a kind that a relation reads.
func (l *linter) served(c checked, s *declare.Spec, kind string) {
	gk := declare.GroupKind(kind)
	definition, known := l.defs.Kind(gk)
	switch _, served := l.Session.Kinds.Kind(gk); {
	case l.Session.Kinds.NotServed(gk):
		return // it is reported already
	case !served:
		l.add("info", c.origin, s.Line, s.Column, "unknown kind %s%s: it is not checked", kind, app.NearKinds(gk, l.Session.Kinds))
	case (!known || len(definition.Versions()) == 0) && len(s.Paths()) > 0:
		l.add("info", c.origin, s.Line, s.Column, "the schema of %s is unknown: its paths are not checked", kind)
	}
	if l.placeless(s, gk) {
		l.add("warning", c.origin, s.Line, s.Column, "%s is cluster-scoped and %s does not name the namespace of the %s: expected namespace: PATH", kind, s.Path(), strings.Join(namedBy(s), ", "))
	}
}

func namedBy(s *declare.Spec) []string {
	_, named := s.Reader()
	return named
}

// placeless says whether a cluster-scoped object names a namespaced one by its name alone, which
// identifies no object.
func (l *linter) placeless(s *declare.Spec, gk schema.GroupKind) bool {
	r, served := l.Session.Kinds.Kind(gk)
	if !served || r.Namespaced || s.Namespace != "" || s.Format != "" {
		return false
	}
	for _, kind := range namedBy(s) {
		if k, served := l.Session.Kinds.Kind(declare.GroupKind(kind)); !served || !k.Namespaced {
			return false
		}
	}
	switch {
	case s.Name != "", s.Label != "" && s.Value == "":
		return true
	case s.Field == "":
		return false
	}
	definition, known := l.defs.Kind(gk)
	if !known || len(definition.Versions()) == 0 {
		return false
	}
	p, err := field.Parse(s.Field + ".namespace")
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(definition.Versions(), func(v string) bool {
		return slices.ContainsFunc(definition.Shapes(v), func(s field.Shape) bool { return p.Check(s) == nil })
	})
}

// compositions compares what operators say that they create with what the
// instances own.
func (l *linter) compositions(checks []checked) {
	for _, c := range checks {
		for _, gk := range slices.SortedFunc(maps.Keys(c.composed), object.CompareKinds) {
			l.composition(c, gk, c.composed[gk])
		}
	}
}

func (l *linter) composition(c checked, gk schema.GroupKind, declared []schema.GroupKind) {
	instances, owned := observed(l.Graph, gk)
	if instances == 0 {
		return
	}
	for _, kind := range slices.SortedFunc(maps.Keys(owned), object.CompareKinds) {
		if !slices.Contains(declared, kind) {
			l.add("warning", c.origin, 0, 0, "%s owns %s here (%s), which its composition does not name", gk, declare.Spell(kind), owned[kind])
		}
	}
	for _, kind := range declared {
		if _, ok := owned[kind]; ok {
			continue
		}
		if k, served := l.Session.Kinds.Kind(kind); !served || !l.Session.Inventory.Covered(kind, l.Session.Namespace) && k.Listable {
			continue
		}
		l.add("info", c.origin, 0, 0, "%s: its composition names %s, and none of its %d instances here owns one", gk, declare.Spell(kind), instances)
	}
}

// observed returns how many instances of a kind there are, and the kinds that
// they own by owner references, with an example of each.
func observed(g *graph.Graph, gk schema.GroupKind) (int, map[schema.GroupKind]object.Ref) {
	instances, owned := 0, map[schema.GroupKind]object.Ref{}
	for id := range g.OfKind(gk) {
		if g.State(id) != graph.Present {
			continue
		}
		instances++
		for e := range g.Out(id) {
			if e.Relation != relation.Owns || e.Via != relation.Owner {
				continue
			}
			ref := g.Ref(e.To)
			if _, ok := owned[ref.GroupKind()]; !ok && g.State(e.To) == graph.Present {
				owned[ref.GroupKind()] = ref
			}
		}
	}
	return instances, owned
}
