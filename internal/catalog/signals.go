package catalog

import (
	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Signals returns what the entries say of how objects are held: of the kinds that the
// cluster serves, or of all where kinds is nil. Of a pattern that selects kinds by their
// category there is a signal of each of them as well. The signals are shared: their
// contents must not be changed.
func Signals(kinds *object.Kinds) []signals.Signal {
	var all []signals.Signal
	for _, e := range wholes(func(e Entry) bool { return kinds == nil || len(e.Signals) > 0 || e.definesServed(kinds) }) {
		for _, k := range e.Kinds {
			if kinds != nil && !served(k.Kind, kinds) {
				continue
			}
			for _, s := range k.Signals {
				s.Kind, s.Origin = k.Kind, e.Origin()
				all = append(all, s)
			}
		}
		for _, s := range e.Signals {
			s.Origin = e.Origin()
			all = append(all, servedSignals(s, kinds)...)
		}
	}
	return all
}

// servedSignals returns a pattern that applies to a served kind, and a signal of each kind that it
// applies to by its category alone.
func servedSignals(s signals.Signal, kinds *object.Kinds) []signals.Signal {
	if kinds == nil {
		return []signals.Signal{s}
	}
	var all []signals.Signal
	pattern := false
	for _, r := range kinds.All() {
		switch {
		case !r.Custom:
		case s.AppliesTo(r.GroupKind()):
			pattern = true
		case s.MeansCategories(r.GroupKind(), r.Categories):
			one := s
			one.Kind, one.Except, one.Categories = r.GroupKind().String(), nil, nil
			all = append(all, one)
		}
	}
	if pattern {
		all = append(all, s)
	}
	return all
}

// parsePatterns reads the signals of kinds that a pattern matches.
func parsePatterns(n *yaml.Node) ([]signals.Signal, []strict.Problem) {
	all := &strict.Mapping{}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		all.Report(n, "expected a list of patterns of kinds, with the signals of each")
	}
	var found []signals.Signal
	for _, item := range n.Content {
		var pattern signals.Signal
		var some []signals.Signal
		m := &strict.Mapping{}
		m.Fields = append(signals.Fields(m, &some),
			strict.Field{Name: "kind", Required: true, Set: func(n *yaml.Node) {
				if pattern.Kind = m.Text(n); pattern.Kind != "" && !isPattern(pattern.Kind) {
					m.Report(n, "%q is not a pattern: expected *.group, or *.*.group for the groups below it; signals of one kind stand where the kind does", pattern.Kind)
				}
			}},
			strict.Field{Name: "except", Set: func(n *yaml.Node) { pattern.Except = m.Texts(n) }},
			strict.Field{Name: "categories", Set: func(n *yaml.Node) { pattern.Categories = m.Texts(n) }},
		)
		m.Read(item)
		if len(m.Problems) == 0 && len(some) == 0 {
			m.Report(item, "it is empty: expected pause or stop")
		}
		for _, s := range some {
			s.Kind, s.Except, s.Categories = pattern.Kind, pattern.Except, pattern.Categories
			found = append(found, s)
		}
		all.Problems = append(all.Problems, m.Problems...)
	}
	return found, all.Problems
}
