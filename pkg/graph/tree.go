package graph

import (
	"cmp"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Position is the reason for the place of a node in a Forest.
type Position uint8

// The positions of a node.
const (
	Root Position = iota
	Owned
	Needed
	// ServesParent: the node serves the one above it.
	ServesParent
	// ServedBelow: the node above serves this one, as a Service does a workload.
	ServedBelow
	// OwnedBy and NeededBy: the node owns or needs the one above it, in a stack with the option Up.
	OwnedBy
	NeededBy
	// MadeBy: the node makes the one above it, and is in the stack only for that.
	MadeBy
)

func (h Position) String() string {
	return [...]string{Root: "", Owned: "owns", Needed: "needs", ServesParent: "served by", ServedBelow: "serves", OwnedBy: "owned by", NeededBy: "needed by", MadeBy: "made by"}[h]
}

// Branch is a node of a stack at its place in the tree.
type Branch struct {
	ID  ID
	How Position
	// Edge is the evidence for the place: the first edge between the node and the one above. It is
	// zero for a root, and for an owner of what the node above serves.
	Edge Edge
	// Repeated is set if the node has its place in another root's tree and is only listed here.
	Repeated bool
	Children []*Branch
}

// Forest arranges the stack as one tree for each root, with each node in exactly one place: under
// its owner if that is in the stack, else as near to a root as possible. What a tree needs of
// another tree is listed there again.
func (s *Stack) Forest() []*Branch {
	n := len(s.members)
	f := forest{s: s, place: make(map[ID]*Branch, n), tree: make(map[ID]ID, n), owned: make(map[ID]bool, n)}
	roots := make([]*Branch, 0, len(s.roots))
	for _, id := range s.roots {
		roots = append(roots, f.put(nil, id, Root, Edge{}))
	}
	f.fill()
	if s.made > 0 {
		// Makers are placed last, so that nothing the stack itself needs is below one of them.
		f.makers, f.next = true, 0
		f.fill()
	}
	f.mention()
	for _, b := range f.place {
		slices.SortFunc(b.Children, s.compareBranches)
	}
	return roots
}

type forest struct {
	s     *Stack
	place map[ID]*Branch
	tree  map[ID]ID   // the root above a node
	owned map[ID]bool // whether a node has an owner to be placed under; a cache
	order []ID        // as placed, nearest to the roots first
	next  int
	// makers is set while makers are placed; made is the number of placed ones.
	makers bool
	made   int
}

// fill places all nodes.
func (f *forest) fill() {
	f.grow()
	// The rest is in a cycle of owners, or under an owner without edges to it: then any edge will
	// do, nearest to a root first.
	for loose := 0; loose < len(f.order) && !f.complete(); loose++ {
		f.children(f.order[loose], false)
		f.grow()
	}
}

func (f *forest) complete() bool {
	if f.makers {
		return len(f.place) == len(f.s.members)
	}
	return len(f.place)-f.made == len(f.s.members)-f.s.made
}

func (f *forest) put(above *Branch, id ID, position Position, e Edge) *Branch {
	b := &Branch{ID: id, How: position, Edge: e}
	f.place[id] = b
	f.order = append(f.order, id)
	f.tree[id] = id
	if f.s.marked(id, markProvenance) {
		f.made++
	}
	if above != nil {
		above.Children = append(above.Children, b)
		f.tree[id] = f.tree[above.ID]
	}
	return b
}

// grow places nodes breadth first. A node with an owner in the stack waits for that owner.
func (f *forest) grow() {
	for ; f.next < len(f.order); f.next++ {
		f.children(f.order[f.next], true)
	}
}

// children places the nodes below a node.
func (f *forest) children(id ID, strict bool) {
	g, above := f.s.g, f.place[id]
	if f.s.Boundary(id) {
		return
	}
	try := func(to ID, position Position, e *edge) {
		if f.place[to] != nil || !f.s.Has(to) {
			return
		}
		if strict && position != Owned && f.hasOwner(to) {
			return
		}
		evidence := Edge{}
		if e != nil {
			evidence = g.edge(*e)
		}
		f.put(above, to, position, evidence)
	}
	around := f.s.opts.Up || f.s.opts.Connected
	// Edges of a node are ordered by relation: owned first, then needed.
	for i := g.out[id]; i < g.out[id+1]; i++ {
		e := &g.edges[i]
		switch r := g.relation(e); {
		case !f.s.opts.follows(g, e), (g.manages(e) || g.collects(e)) && !f.s.marked(id, markManaging) && !around, f.s.marked(id, markProvenance) && !f.s.rests(e):
		case r == relation.Owns:
			try(e.to, Owned, e)
		case r == relation.Needs:
			try(e.to, Needed, e)
		}
	}
	for _, i := range g.into[g.in[id]:g.in[id+1]] {
		switch e := &g.edges[i]; {
		case f.makers && f.s.madeBy(e):
			try(e.from, MadeBy, e)
		case g.relation(e) == relation.Serves && f.s.opts.follows(g, e) && !f.s.marked(id, markProvenance):
			try(e.from, ServesParent, e)
		}
	}
	if f.s.marked(id, markStands) || around {
		f.behind(id, try)
	}
	if around {
		f.backwards(id, try)
	}
}

// behind places what a node serves: its topmost owners, or the served object itself if it has none.
func (f *forest) behind(id ID, try func(ID, Position, *edge)) {
	g := f.s.g
	var served []ID
	var edges []*edge
	for i := g.out[id]; i < g.out[id+1]; i++ {
		if e := &g.edges[i]; g.relation(e) == relation.Serves && f.s.opts.follows(g, e) {
			served, edges = append(served, e.to), append(edges, e)
		}
	}
	for _, top := range g.topmost(served, f.s.opts) {
		try(top, ServedBelow, nil)
	}
	for _, e := range edges {
		try(e.to, ServedBelow, e)
	}
}

// backwards places the nodes above a node, for the options Up and Connected.
func (f *forest) backwards(id ID, try func(ID, Position, *edge)) {
	g := f.s.g
	for _, i := range g.into[g.in[id]:g.in[id+1]] {
		if e := &g.edges[i]; f.s.opts.keeps(g, e) {
			try(e.from, aboveBy(g.relation(e)), e)
		}
	}
}

func aboveBy(r relation.Relation) Position {
	switch r {
	case relation.Owns:
		return OwnedBy
	case relation.Needs:
		return NeededBy
	}
	return ServesParent
}

func (f *forest) hasOwner(id ID) bool {
	has, known := f.owned[id]
	if !known {
		has = slices.ContainsFunc(f.s.g.ownersOf(id, f.s.opts), func(owner ID) bool {
			return f.s.Has(owner) && !f.s.Boundary(owner) && !f.s.marked(owner, markProvenance)
		})
		f.owned[id] = has
	}
	return has
}

// mention adds to each tree what it needs of another one, once, as near to its root as possible.
func (f *forest) mention() {
	if len(f.s.roots) < 2 {
		return
	}
	type once struct{ tree, to ID }
	mentioned := map[once]bool{}
	g := f.s.g
	again := func(id, to ID, position Position, e *edge) {
		key := once{f.tree[id], to}
		if f.s.Boundary(to) || !f.s.Has(to) || f.tree[to] == f.tree[id] || mentioned[key] {
			return
		}
		mentioned[key] = true
		above := f.place[id]
		above.Children = append(above.Children, &Branch{ID: to, How: position, Edge: g.edge(*e), Repeated: true})
	}
	for _, id := range slices.Clone(f.order) {
		if f.s.Boundary(id) {
			continue
		}
		for i := g.out[id]; i < g.out[id+1]; i++ {
			if e := &g.edges[i]; g.relation(e) == relation.Needs && f.s.opts.follows(g, e) {
				again(id, e.to, Needed, e)
			}
		}
		for _, i := range g.into[g.in[id]:g.in[id+1]] {
			if e := &g.edges[i]; f.s.madeBy(e) {
				again(id, e.from, MadeBy, e)
			}
		}
	}
}

// compareBranches orders siblings: owned, needed, serving; then by kind and name.
func (s *Stack) compareBranches(a, b *Branch) int {
	x, y := s.g.Ref(a.ID), s.g.Ref(b.ID)
	return cmp.Or(cmp.Compare(a.How, b.How), cmp.Compare(x.Kind, y.Kind), cmp.Compare(a.ID, b.ID))
}
