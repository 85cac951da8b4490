package graph

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// selections are the selectors of evidence, by number. Every workload has one and few are queried,
// so labels are stored as symbols: 8 bytes each, where a map takes hundreds.
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

// copy returns a snapshot that may be read while more is added.
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

// said is a link of an object that makes no edge: evidence, or a selector that is evaluated again.
type said struct {
	row  inventory.ID
	link link
}

// query returns the inventory query for the targets of a selector.
func query(s *relation.Selector) inventory.Query {
	q := inventory.Query{Labels: s.Labels, Expressions: s.Expressions, Annotation: s.Annotation, Match: s.Match, Key: s.Key}
	if s.Name != nil {
		q.Name = s.Name.Match
	}
	return q
}

// maxPeers limits the objects that a selector of a Peer rule may match. A selector with more
// matches makes no edges, so that their number grows with the objects that have such selectors, and
// not with their product.
const maxPeers = 1000

func (r *resolver) selected(from inventory.ID, l *link) {
	t, found, rule := r.selectors[l.target], len(r.edges), &r.rules.Rules()[l.rule]
	r.elsewhere(from, l, t)
	targets := r.selectTargets(from, t)
	if rule.Peer && len(targets) > maxPeers {
		return
	}
	for _, to := range targets {
		r.add(from, to, l)
	}
	if rule.Relation != relation.Serves || rule.Peer || l.flags&backward != 0 {
		return
	}
	if len(r.edges) == found {
		r.emptySelectors = append(r.emptySelectors, said{from, *l})
	}
	if t.Kind == podKind {
		r.fronts = append(r.fronts, said{from, *l})
	}
}

// selectTargets returns what a selector of an object matches.
func (r *resolver) selectTargets(from inventory.ID, t relation.Target) []inventory.ID {
	q := query(t.Selector)
	if t.Namespaces == nil {
		return r.withoutExcepted(from, t, r.index.Select(t.Kind, t.Namespace, t.AllNamespaces, q))
	}
	var all []inventory.ID
	in := inventory.Query{Labels: t.Namespaces.Labels, Expressions: t.Namespaces.Expressions}
	for _, ns := range r.index.Select(namespaceKind, "", true, in) {
		all = append(all, r.index.Select(t.Kind, r.inv.Ref(ns).Name, false, q)...)
	}
	return r.withoutExcepted(from, t, all)
}

// withoutExcepted removes the targets that Except matches.
func (r *resolver) withoutExcepted(from inventory.ID, t relation.Target, found []inventory.ID) []inventory.ID {
	if t.Except == nil || len(found) == 0 {
		return found
	}
	excluded := map[inventory.ID]bool{}
	for _, id := range r.index.Select(t.Kind, r.inv.Ref(from).Namespace, false, query(t.Except)) {
		excluded[id] = true
	}
	// The slice belongs to the index.
	return slices.DeleteFunc(slices.Clone(found), func(id inventory.ID) bool { return excluded[id] })
}

var namespaceKind = schema.GroupKind{Kind: "Namespace"}
