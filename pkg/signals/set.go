package signals

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Set is the signals that are known: those of a catalogue, and the built-in ones.
type Set struct {
	exact    map[string][]Signal // by Kind.group
	patterns []Signal            // the closest first
	hasScale func(schema.GroupKind) bool
}

var _ Finder = (*Set)(nil)

// NewSet returns the signals of custom kinds (catalog.Signals) and the built-in ones.
// hasScale reports whether a kind has the scale subresource; if it is nil, no signal uses that.
func NewSet(custom []Signal, hasScale func(schema.GroupKind) bool) *Set {
	s := &Set{exact: map[string][]Signal{}, hasScale: hasScale}
	for _, one := range slices.Concat(custom, BuiltIn()) {
		if strings.HasPrefix(one.Kind, "*") {
			s.patterns = append(s.patterns, one)
			continue
		}
		s.exact[one.Kind] = append(s.exact[one.Kind], one)
	}
	slices.SortStableFunc(s.patterns, func(x, y Signal) int {
		return cmp.Or(cmp.Compare(strings.Count(x.Kind, "*"), strings.Count(y.Kind, "*")), cmp.Compare(len(y.Kind), len(x.Kind)))
	})
	// * means more than *.*.group does, though it has one star less.
	slices.SortStableFunc(s.patterns, func(x, y Signal) int { return boolCompare(x.Kind == "*", y.Kind == "*") })
	return s
}

func boolCompare(x, y bool) int {
	switch {
	case x == y:
		return 0
	case y:
		return -1
	}
	return 1
}

// Of returns the signal of a preset: that of the kind itself before that of a pattern. A
// preset is never taken for another one.
func (s *Set) Of(gvk schema.GroupVersionKind, preset string) (Signal, bool) {
	for _, one := range s.All(gvk) {
		if one.Preset == preset && !one.Other {
			return one, true
		}
	}
	return Signal{}, false
}

// All returns every signal that means objects of a kind, in a version or where that is
// empty in any: those of the kind itself first. Of one preset the first one is meant.
func (s *Set) All(gvk schema.GroupVersionKind) []Signal {
	var all []Signal
	for _, one := range s.exact[gvk.GroupKind().String()] {
		if one.in(gvk.Version) {
			all = append(all, one)
		}
	}
	for _, one := range s.patterns {
		if !one.in(gvk.Version) || !one.AppliesTo(gvk.GroupKind()) || one.Scale && !s.scales(gvk.GroupKind()) {
			continue
		}
		all = append(all, one)
	}
	return all
}

func (s *Set) scales(gk schema.GroupKind) bool { return s.hasScale != nil && s.hasScale(gk) }

func (s Signal) in(version string) bool {
	return version == "" || len(s.Versions) == 0 || slices.Contains(s.Versions, version)
}

// AppliesTo reports whether a kind is that of the signal, or matches its pattern. It ignores
// categories.
func (s Signal) AppliesTo(gk schema.GroupKind) bool {
	return meansKind(s.Kind, gk) && !s.excepts(gk)
}

// MeansCategories says whether a custom kind of some categories is one of those that the
// signal means besides its pattern.
func (s Signal) MeansCategories(gk schema.GroupKind, categories []string) bool {
	return !s.excepts(gk) && slices.ContainsFunc(s.Categories, func(c string) bool { return slices.Contains(categories, c) })
}

func (s Signal) excepts(gk schema.GroupKind) bool {
	return slices.ContainsFunc(s.Except, func(no string) bool { return no == gk.Kind || meansKind(no, gk) })
}

func meansKind(pattern string, gk schema.GroupKind) bool {
	if pattern == "*" || pattern == gk.String() {
		return true
	}
	if suffix, ok := strings.CutPrefix(pattern, "*.*."); ok {
		return strings.HasSuffix(gk.Group, "."+suffix)
	}
	group, ok := strings.CutPrefix(pattern, "*.")
	return ok && gk.Group == group
}
