package graph

import (
	"slices"

	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"
)

// Step is one edge of a path, with the direction in which it is walked.
type Step struct {
	Edge Edge
	// Against says that the path walks from Edge.To to Edge.From.
	Against bool
}

// Path returns a shortest chain of edges between two nodes, walked in either
// direction; declared edges are preferred to inferred ones, and edges walked
// forward to those walked against. It does not pass through a boundary or
// through a missing object: that two pods run on one node relates nothing. But it
// does through what is missing and has an owner, who is to make it. It
// returns false where no chain leads from one to the other.
func (g *Graph) Path(from, to ID, o StackOptions) ([]Step, bool) {
	if from == to {
		return nil, true
	}
	around := func(id ID) []ID {
		if id != from && id != to && (IsBoundary(g.Ref(id)) || g.State(id) == Missing && !g.awaited(id, o)) {
			return nil
		}
		return g.around(id, o.keeps)
	}
	v := view{from: around, cost: func(a, b ID) float64 {
		_, _, cost := g.cheapest(a, b, o)
		return cost
	}}
	nodes, _ := path.DijkstraFromTo(simple.Node(from), simple.Node(to), v)
	if len(nodes) == 0 {
		return nil, false
	}
	steps := make([]Step, 0, len(nodes)-1)
	for i := range nodes[1:] {
		e, against, _ := g.cheapest(ID(nodes[i].ID()), ID(nodes[i+1].ID()), o)
		steps = append(steps, Step{Edge: g.edge(*e), Against: against})
	}
	return steps, true
}

// The cost of an edge. Each kind outweighs any number of the next one on a path of
// up to 65,535 edges; sums are whole numbers, so that equal ones are equal.
const (
	perEdge     = 1 << 32
	perInferred = 1 << 16
	perAgainst  = 1
)

// around returns the neighbours of a node in either direction, by the edges that
// want accepts, in order.
func (g *Graph) around(id ID, want func(*Graph, *edge) bool) []ID {
	var near []ID
	for i := g.out[id]; i < g.out[id+1]; i++ {
		if e := &g.edges[i]; want(g, e) {
			near = append(near, e.to)
		}
	}
	for _, i := range g.into[g.in[id]:g.in[id+1]] {
		if e := &g.edges[i]; want(g, e) {
			near = append(near, e.from)
		}
	}
	slices.Sort(near)
	return slices.Compact(near)
}

// cheapest returns the best edge between two neighbours. Being inferred, or
// walked against, weighs less than any detour.
func (g *Graph) cheapest(a, b ID, o StackOptions) (best *edge, against bool, cost float64) {
	for _, back := range []bool{false, true} {
		from, to := a, b
		if back {
			from, to = b, a
		}
		for e := range g.between(from, to) {
			if !o.keeps(g, e) {
				continue
			}
			c := float64(perEdge)
			if e.flags&inferred != 0 {
				c += perInferred
			}
			if back {
				c += perAgainst
			}
			if best == nil || c < cost {
				best, against, cost = e, back, c
			}
		}
	}
	return best, against, cost
}
