package graph

import (
	"cmp"
	"slices"
	"strings"

	"gonum.org/v1/gonum/graph/topo"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
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

// components runs Tarjan over the nodes that have a degree left.
func (g *Graph) components(degree []int32, keep func(*edge) bool) [][]ID {
	var nodes []ID
	place := map[ID]ID{}
	for i, d := range degree {
		if d > 0 {
			place[ID(i)] = ID(len(nodes))
			nodes = append(nodes, ID(i))
		}
	}
	from := func(id ID) []ID {
		var next []ID
		for _, e := range g.edges[g.out[nodes[id]]:g.out[nodes[id]+1]] {
			if to, ok := place[e.to]; ok && keep(&e) {
				next = append(next, to)
			}
		}
		slices.Sort(next)
		return slices.Compact(next)
	}
	var sets [][]ID
	for _, c := range topo.TarjanSCC(view{n: len(nodes), from: from}) {
		if len(c) < 2 {
			continue
		}
		set := make([]ID, len(c))
		for i, n := range c {
			set[i] = nodes[n.ID()]
		}
		slices.Sort(set)
		sets = append(sets, set)
	}
	slices.SortFunc(sets, func(a, b []ID) int { return cmp.Compare(a[0], b[0]) })
	return sets
}

// ownerCycles reports owners that own each other: the garbage collector waits
// for each of them for ever.
func (g *Graph) ownerCycles() []Problem {
	var out []Problem
	for _, set := range g.cycles(func(e *edge) bool { return g.rules[e.rule].Via == relation.Owner && g.relation(e) == relation.Owns }) {
		names := make([]string, len(set))
		for i, id := range set {
			names[i] = g.Ref(id).String()
		}
		out = append(out, Problem{Object: g.Ref(set[0]), Reason: OwnerCycle, Message: "owners in a cycle: " + strings.Join(names, ", ")})
	}
	return out
}
