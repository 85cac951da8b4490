package graph

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// selections are the selectors of evidence, by number. Every workload has one and
// few are ever asked for, so labels are kept as symbols: 8 bytes each, where a map
// has hundreds.
type selections struct {
	ends  []uint32 // in pairs, by selection
	pairs []uint32 // key, value, key, value
	more  map[uint32][]metav1.LabelSelectorRequirement
}

func (s *selections) add(inv *inventory.Inventory, sel *relation.Selector) int32 {
	n := uint32(len(s.ends))
	for k, v := range sel.Labels {
		s.pairs = append(s.pairs, inv.Symbol(k), inv.Symbol(v))
	}
	s.ends = append(s.ends, uint32(len(s.pairs)))
	if len(sel.Expressions) > 0 {
		if s.more == nil {
			s.more = map[uint32][]metav1.LabelSelectorRequirement{}
		}
		s.more[n] = sel.Expressions
	}
	return int32(n)
}

// copy returns what may be read while more is added.
func (s *selections) copy() selections {
	return selections{slices.Clip(s.ends), slices.Clip(s.pairs), maps.Clone(s.more)}
}

func (s *selections) selector(inv *inventory.Inventory, n uint32) *relation.Selector {
	start := uint32(0)
	if n > 0 {
		start = s.ends[n-1]
	}
	sel := &relation.Selector{Labels: map[string]string{}, Expressions: s.more[n]}
	for i := start; i < s.ends[n]; i += 2 {
		sel.Labels[inv.Text(s.pairs[i])] = inv.Text(s.pairs[i+1])
	}
	return sel
}

// said is a link of an object that makes no edge: evidence, or a selector that is
// looked at once more.
type said struct {
	row  inventory.ID
	link link
}

// query is what an index is asked for the targets of a selector.
func query(s *relation.Selector) inventory.Query {
	q := inventory.Query{Labels: s.Labels, Expressions: s.Expressions, Annotation: s.Annotation, Match: s.Match, Key: s.Key}
	if s.Name != nil {
		q.Name = s.Name.Match
	}
	return q
}
