package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Cycles returns the sets of nodes that reach each other over the edges that
// keep accepts, each set in order, the sets by their first node.
func (g *Graph) Cycles(keep func(Edge) bool) [][]ID {
	return g.cycles(func(e *edge) bool { return keep(g.edge(*e)) })
}

// cycles peels off what nothing leads to, in linear time, and leaves the little
// that remains to Tarjan's algorithm.
func (g *Graph) cycles(keep func(*edge) bool) [][]ID {
	degree := make([]int32, len(g.rows))
	for i := range g.edges {
		if keep(&g.edges[i]) {
			degree[g.edges[i].to]++
		}
	}
	var peel []ID
	for i, d := range degree {
		if d == 0 {
			peel = append(peel, ID(i))
		}
	}
	left := len(g.rows) - len(peel)
	for len(peel) > 0 {
		id := peel[len(peel)-1]
		peel = peel[:len(peel)-1]
		for _, e := range g.edges[g.out[id]:g.out[id+1]] {
			if keep(&e) {
				if degree[e.to]--; degree[e.to] == 0 {
					peel = append(peel, e.to)
					left--
				}
			}
		}
	}
	if left == 0 {
		return nil
	}
	return g.components(degree, keep)
}

// components is Tarjan's algorithm over the nodes that have a degree left. It
// keeps its own stack of calls: a cycle may be as long as the cluster is large.
func (g *Graph) components(degree []int32, keep func(*edge) bool) [][]ID {
	t := tarjan{g: g, keep: keep, degree: degree, index: make([]int32, len(degree)), low: make([]int32, len(degree))}
	for i, d := range degree {
		if d > 0 && t.index[i] == 0 {
			t.run(ID(i))
		}
	}
	slices.SortFunc(t.sets, func(a, b []ID) int { return cmp.Compare(a[0], b[0]) })
	return t.sets
}

type tarjan struct {
	g      *Graph
	keep   func(*edge) bool
	degree []int32 // 0 where a node is left out, or has its set
	index  []int32 // from 1, in the order of discovery
	low    []int32
	found  int32
	open   []ID // discovered, and without a set
	calls  []call
	sets   [][]ID
}

// call is a node whose edges are being walked, from next on.
type call struct {
	id   ID
	next uint32
}

func (t *tarjan) run(id ID) {
	t.enter(id)
	for len(t.calls) > 0 {
		c := &t.calls[len(t.calls)-1]
		if c.next == t.g.out[c.id+1] {
			t.leave(c.id)
			continue
		}
		e := &t.g.edges[c.next]
		c.next++
		switch {
		case t.degree[e.to] == 0 || !t.keep(e):
		case t.index[e.to] == 0:
			t.enter(e.to)
		default:
			t.low[c.id] = min(t.low[c.id], t.index[e.to])
		}
	}
}

func (t *tarjan) enter(id ID) {
	t.found++
	t.index[id], t.low[id] = t.found, t.found
	t.open = append(t.open, id)
	t.calls = append(t.calls, call{id, t.g.out[id]})
}

func (t *tarjan) leave(id ID) {
	t.calls = t.calls[:len(t.calls)-1]
	if n := len(t.calls); n > 0 {
		above := t.calls[n-1].id
		t.low[above] = min(t.low[above], t.low[id])
	}
	if t.low[id] != t.index[id] {
		return
	}
	from := len(t.open) - 1
	for t.open[from] != id {
		from--
	}
	set := slices.Sorted(slices.Values(t.open[from:]))
	t.open = t.open[:from]
	for _, member := range set {
		t.degree[member] = 0
	}
	if len(set) > 1 {
		t.sets = append(t.sets, set)
	}
}

// ownerCycles reports owners that own each other: the garbage collector waits
// for each of them for ever.
func (g *Graph) ownerCycles() []Problem {
	var out []Problem
	for _, set := range g.cycles(g.reference) {
		var names []string
		for _, id := range set[:min(len(set), 5)] {
			names = append(names, g.Ref(id).String())
		}
		if more := len(set) - len(names); more > 0 {
			names = append(names, fmt.Sprintf("and %d more", more))
		}
		out = append(out, Problem{Object: g.Ref(set[0]), Reason: OwnerCycle, Severity: Warning, Related: g.Ref(set[1]), Message: "owners in a cycle: " + strings.Join(names, ", ")})
	}
	return out
}
