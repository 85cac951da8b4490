package graph

import "slices"

// Divide maps nodes to the group of roots whose exclusive part they are, as PartOf does for single
// roots: what the roots of the group own, at any depth, what serves nothing else, and what a root
// that is a manager manages. A group is identified by its first root, so that the result can be the
// PartOf of stacks whose SameRoot maps each root to the first of its group.
//
// Of two roots, one above the other, the nearer one wins. A node that two groups own, or that is a
// root of both, is a part of none. also maps further nodes to a group: they count if they have no
// owner.
func (g *Graph) Divide(groups [][]ID, extra map[ID]ID, o StackOptions) map[ID]ID {
	d := division{g: g, o: o, part: map[ID]ID{}, roots: map[ID]ID{}, both: map[ID]bool{}}
	for _, group := range groups {
		for _, root := range group {
			if owner, taken := d.roots[root]; taken && owner != group[0] {
				d.both[root] = true
			}
			d.roots[root] = group[0]
		}
	}
	for _, group := range groups {
		d.walk(group)
	}
	for id, owner := range extra {
		if _, taken := d.part[id]; !taken {
			d.part[id] = owner
		}
	}
	for id := range d.both {
		delete(d.part, id)
	}
	d.fronts()
	return d.part
}

type division struct {
	g     *Graph
	o     StackOptions
	part  map[ID]ID
	roots map[ID]ID
	both  map[ID]bool // of two groups
}

// walk adds what a group owns.
func (d *division) walk(group []ID) {
	seen, managing := map[ID]bool{}, map[ID]bool{}
	var next []ID
	for _, root := range group {
		managing[root] = true
		next = append(next, root)
	}
	for len(next) > 0 {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[at] {
			continue
		}
		seen[at] = true
		if owner, taken := d.part[at]; taken && owner != group[0] {
			d.both[at] = true
		}
		if d.both[at] && slices.Contains(group, at) {
			continue // a root of two groups: what it owns is shared too
		}
		d.part[at] = group[0]
		next = d.appendOwned(at, managing, next)
	}
}

// appendOwned appends what a node owns and, for a manager, what it manages.
func (d *division) appendOwned(at ID, managing map[ID]bool, next []ID) []ID {
	g := d.g
	for i := g.out[at]; i < g.out[at+1]; i++ {
		e := &g.edges[i]
		if _, root := d.roots[e.to]; root || !d.o.follows(g, e) || IsBoundary(g.Ref(e.to)) {
			continue
		}
		switch {
		case g.owns(e):
			next = append(next, e.to)
		case g.manages(e) && managing[at]:
			managing[e.to] = true
			next = append(next, e.to)
		}
	}
	return next
}

// fronts adds what serves a group and nothing else: a Service is a part of what it serves, and a
// route a part of what the Service is.
func (d *division) fronts() {
	const hops = 3
	for range hops {
		for id := range d.g.fronting(d.part, d.o) {
			if _, root := d.roots[id]; root || d.both[id] {
				continue
			}
			if owner, exclusive := d.g.servesOnly(id, d.part, d.o); exclusive {
				d.part[id] = owner
			}
		}
	}
}
