package graph

import (
	"cmp"
	"slices"
)

// connect sorts the edges by source, and indexes them by target. Edges of one node are ordered by
// relation, target, rule and field, so that the order of arrival has no effect.
func (g *Graph) connect(raw []rawEdge) {
	n := len(g.rows)
	g.out, g.in = make([]uint32, n+1), make([]uint32, n+1)
	for i := range raw {
		g.out[g.number[raw[i].from]+1]++
	}
	for i := range n {
		g.out[i+1] += g.out[i]
	}
	g.edges = make([]edge, len(raw))
	next := slices.Clone(g.out[:n])
	for i := range raw {
		e := &raw[i]
		from := g.number[e.from]
		g.edges[next[from]] = edge{from: from, to: g.number[e.to], field: e.field, value: e.value, rule: e.rule, flags: e.flags}
		next[from]++
	}
	for i := range n {
		slices.SortFunc(g.edges[g.out[i]:g.out[i+1]], g.compareAll)
	}
	g.compact()
	for i := range g.edges {
		g.in[g.edges[i].to+1]++
	}
	for i := range n {
		g.in[i+1] += g.in[i]
	}
	g.into = make([]uint32, len(g.edges))
	copy(next, g.in[:n])
	for i := range g.edges {
		to := g.edges[i].to
		g.into[next[to]] = uint32(i)
		next[to]++
	}
}

// compareEdges orders the edges of a node. Edges that compare equal are duplicates.
func (g *Graph) compareEdges(a, b edge) int {
	if c := cmp.Or(cmp.Compare(g.relation(&a), g.relation(&b)), cmp.Compare(a.to, b.to), cmp.Compare(a.rule, b.rule)); c != 0 {
		return c
	}
	if a.field == b.field {
		return 0
	}
	return cmp.Compare(g.inv.Text(a.field), g.inv.Text(b.field))
}

// compareAll puts the strongest of duplicate edges first, so that compact does not depend on the
// order of arrival.
func (g *Graph) compareAll(a, b edge) int {
	if c := g.compareEdges(a, b); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.flags&(inferred|optional|backward), b.flags&(inferred|optional|backward)), cmp.Compare(g.value(&a), g.value(&b)))
}

// compact drops duplicates of an earlier edge: of an object that two groups serve, or by a second
// rule that reads the same field. A declared edge wins over an inferred one.
func (g *Graph) compact() {
	n := len(g.rows)
	count := uint32(0)
	start := uint32(0)
	for i := range n {
		end := g.out[i+1]
		first := count
		for j := start; j < end; j++ {
			e := g.edges[j]
			if same := g.saidBefore(first, count, &e); same == nil {
				g.edges[count] = e
				count++
			} else if same.flags&inferred != 0 && e.flags&inferred == 0 {
				*same = e
			}
		}
		start = end
		g.out[i] = first
	}
	g.out[n] = count
	g.edges = g.edges[:count]
}

// saidBefore returns the edge between first and end with the same meaning and evidence as e.
func (g *Graph) saidBefore(first, end uint32, e *edge) *edge {
	for k := end; k > first; k-- {
		before := &g.edges[k-1]
		switch {
		case before.to != e.to || g.relation(before) != g.relation(e):
			return nil
		case before.field == e.field && before.flags&backward == e.flags&backward:
			return before
		}
	}
	return nil
}
