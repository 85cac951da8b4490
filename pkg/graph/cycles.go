package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/graph/topo"
)

// Cycles returns the sets of nodes that reach each other over the edges that keep accepts, each set
// in order, the sets by their first node.
func (g *Graph) Cycles(keep func(Edge) bool) [][]ID {
	return g.cycles(func(e *edge) bool { return keep(g.edge(*e)) })
}

// cycles removes nodes without incoming edges, in linear time, and runs Tarjan's algorithm of gonum
// on the small rest.
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
	remaining := len(g.rows) - len(peel)
	for len(peel) > 0 {
		id := peel[len(peel)-1]
		peel = peel[:len(peel)-1]
		for _, e := range g.edges[g.out[id]:g.out[id+1]] {
			if keep(&e) {
				if degree[e.to]--; degree[e.to] == 0 {
					peel = append(peel, e.to)
					remaining--
				}
			}
		}
	}
	if remaining == 0 {
		return nil
	}
	return g.components(degree, keep)
}

// components returns the strongly connected components of the remaining nodes.
func (g *Graph) components(degree []int32, keep func(*edge) bool) [][]ID {
	rest := remainder{}
	for i := range g.edges {
		if e := &g.edges[i]; degree[e.from] > 0 && degree[e.to] > 0 && keep(e) {
			rest.add(e.from, e.to)
		}
	}
	var sets [][]ID
	for _, nodes := range topo.TarjanSCC(rest) {
		if len(nodes) == 1 {
			continue
		}
		set := make([]ID, 0, len(nodes))
		for _, n := range nodes {
			set = append(set, ID(n.ID()))
		}
		slices.Sort(set)
		sets = append(sets, set)
	}
	slices.SortFunc(sets, func(a, b []ID) int { return cmp.Compare(a[0], b[0]) })
	return sets
}

// ownerCycles reports owners that own each other: the garbage collector never deletes any of them.
func (g *Graph) ownerCycles() []Problem {
	var out []Problem
	for _, set := range g.cycles(g.reference) {
		var names []string
		for _, id := range set[:min(len(set), 5)] {
			names = append(names, g.Ref(id).String())
		}
		if hidden := len(set) - len(names); hidden > 0 {
			names = append(names, fmt.Sprintf("and %d more", hidden))
		}
		out = append(out, Problem{Object: g.Ref(set[0]), Reason: OwnerCycle, Severity: Warning, Related: g.Ref(set[1]), Message: "owners in a cycle: " + strings.Join(names, ", ")})
	}
	return out
}
