package graph

import "slices"

// Divide maps nodes to the one of some groups of roots of which they are a part alone,
// whoever else needs them, as Apart does for single roots: what the roots of the group
// own, at any depth, and what serves nothing else; and what a root that is a manager
// keeps. A group goes by the first of its roots, so that the answer can be the Apart of
// stacks whose As maps each root to the first of its group.
//
// Of two roots, one above the other, the nearer one counts. What is owned by two groups,
// or is a root of both, is a part of none. also are nodes that are known to be a part of a
// group in another way: they count where nobody owns them.
func (g *Graph) Divide(groups [][]ID, also map[ID]ID, o StackOptions) map[ID]ID {
	d := division{g: g, o: o, part: map[ID]ID{}, roots: map[ID]ID{}, both: map[ID]bool{}}
	for _, group := range groups {
		for _, root := range group {
			if of, taken := d.roots[root]; taken && of != group[0] {
				d.both[root] = true
			}
			d.roots[root] = group[0]
		}
	}
	for _, group := range groups {
		d.walk(group)
	}
	for id, of := range also {
		if _, taken := d.part[id]; !taken {
			d.part[id] = of
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

// walk takes what a group owns.
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
		if of, taken := d.part[at]; taken && of != group[0] {
			d.both[at] = true
		}
		if d.both[at] && slices.Contains(group, at) {
			continue // A root of two groups: what it owns is nobody's alone either.
		}
		d.part[at] = group[0]
		next = d.appendOwned(at, managing, next)
	}
}

// appendOwned adds what a node owns, and of a manager what it keeps.
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

// fronts takes what serves a group and nothing else: a Service is a part of what is behind
// it, and a route of what the Service is.
func (d *division) fronts() {
	const hops = 3
	for range hops {
		for id := range d.g.fronting(d.part, d.o) {
			if _, root := d.roots[id]; root || d.both[id] {
				continue
			}
			if of, alone := d.g.servesOnly(id, d.part, d.o); alone {
				d.part[id] = of
			}
		}
	}
}
