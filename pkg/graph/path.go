package graph

import (
	"maps"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Step is one edge of a path, with the direction in which it is walked.
type Step struct {
	Edge Edge
	// Against is set if the path walks from Edge.To to Edge.From.
	Against bool
}

// Path returns a shortest chain of edges between two nodes, in either direction. Among chains of
// equal length it prefers the fewest inferred edges, then the most owns, then the most needs; the
// result is the same from both ends. It does not pass through a boundary or a missing object: two
// pods on one node are not related by that. It does pass through a missing object with an owner
// that is to make it. It returns false if there is no chain.
func (g *Graph) Path(from, to ID, o StackOptions) ([]Step, bool) {
	if from == to {
		return nil, true
	}
	// Ties are broken from the smaller ID, so that both directions give the same chain.
	found := g.chain(min(from, to), max(from, to), o)
	if found == nil {
		return nil, false
	}
	steps := make([]Step, len(found))
	for i, at := range found {
		steps[i] = Step{Edge: g.edge(*at.edge), Against: at.against}
	}
	if from > to {
		slices.Reverse(steps)
		for i := range steps {
			steps[i].Against = !steps[i].Against
		}
	}
	return steps, true
}

// reached is the best chain to a node.
type reached struct {
	before  ID
	edge    *edge
	against bool
	cost    uint64
}

// Costs of an edge in addition to its length. Each kind outweighs any number of the next one on a
// path of up to 131,071 edges, within the integers that JavaScript can represent.
const (
	perInferred = 1 << 34
	perUnowned  = 1 << 17
	perServing  = 1
)

// chain searches breadth first from a node, and returns the steps to another one; nil if it is not
// reachable.
func (g *Graph) chain(from, to ID, o StackOptions) []reached {
	seen := map[ID]reached{from: {before: from}}
	for ring := []ID{from}; len(ring) > 0; {
		next := map[ID]reached{}
		for _, id := range ring {
			if id == from || !IsBoundary(g.Ref(id)) && (g.State(id) != Missing || g.awaited(id, o)) {
				g.step(id, seen, next, o)
			}
		}
		maps.Copy(seen, next)
		if _, ok := next[to]; ok {
			return stepsTo(seen, to)
		}
		ring = slices.Sorted(maps.Keys(next))
	}
	return nil
}

// step adds the unseen neighbours of a node to the next level.
func (g *Graph) step(id ID, seen, next map[ID]reached, o StackOptions) {
	for _, near := range g.around(id, o.keeps) {
		if _, ok := seen[near]; ok {
			continue
		}
		r := g.cheapest(id, near, o)
		r.cost += seen[id].cost
		if have, ok := next[near]; !ok || r.cost < have.cost {
			next[near] = r
		}
	}
}

func stepsTo(seen map[ID]reached, to ID) []reached {
	var steps []reached
	for r := seen[to]; r.edge != nil; r = seen[r.before] {
		steps = append(steps, r)
	}
	slices.Reverse(steps)
	return steps
}

// around returns the neighbours of a node in either direction, by the edges that want accepts, in
// order.
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

// cheapest returns the best edge between two neighbours.
func (g *Graph) cheapest(a, b ID, o StackOptions) reached {
	best := reached{before: a}
	for _, against := range []bool{false, true} {
		from, to := a, b
		if against {
			from, to = b, a
		}
		for e := range g.between(from, to) {
			if cost := g.cost(e); o.keeps(g, e) && (best.edge == nil || cost < best.cost) {
				best.edge, best.against, best.cost = e, against, cost
			}
		}
	}
	return best
}

func (g *Graph) cost(e *edge) (cost uint64) {
	if e.flags&inferred != 0 {
		cost = perInferred
	}
	switch g.relation(e) {
	case relation.Needs:
		cost += perUnowned
	case relation.Serves:
		cost += perUnowned + perServing
	}
	return cost
}
