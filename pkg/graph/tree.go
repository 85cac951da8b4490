package graph

import (
	"cmp"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// How says why a node hangs where it does in a Forest.
type How uint8

// The places of a node.
const (
	Root How = iota
	Owned
	Needed
	// Serving: the node serves the one above it.
	Serving
	// Behind: the node above stands for this one, as a Service does for a workload.
	Behind
	// OwnedBy and NeededBy: the node is above the other one, where that is asked
	// for.
	OwnedBy
	NeededBy
)

func (h How) String() string {
	return [...]string{Root: "", Owned: "owns", Needed: "needs", Serving: "served by", Behind: "stands for", OwnedBy: "owned by", NeededBy: "needed by"}[h]
}

// Branch is a node of a stack in its place in the tree that is shown.
type Branch struct {
	ID  ID
	How How
	// Edge is the evidence for the place: the first edge between the node and the
	// one above. It is zero for a root and where How is Behind.
	Edge Edge
	// Again says that the node has its place in another root's tree: it is only
	// mentioned here.
	Again    bool
	Children []*Branch
}

// Forest lays the stack out as a tree a root, each node in exactly one place:
// under its owner where that is in the stack, else as near to a root as it can
// be. What a tree needs of another's is mentioned there again.
func (s *Stack) Forest() []*Branch {
	f := forest{s: s, place: make(map[ID]*Branch, len(s.members)), tree: make(map[ID]ID, len(s.members))}
	roots := make([]*Branch, 0, len(s.roots))
	for _, id := range s.roots {
		roots = append(roots, f.put(nil, id, Root, Edge{}))
	}
	f.grow(true)
	// What is left hangs in a cycle of owners, or under an owner that nothing leads
	// to: then any edge will do.
	for !f.complete() {
		before := len(f.place)
		f.regrow()
		if len(f.place) == before {
			break
		}
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
	tree  map[ID]ID // the root above a node
	order []ID      // as placed, nearest to the roots first
	next  int
}

func (f *forest) complete() bool { return len(f.place) == len(f.s.members) }

func (f *forest) put(above *Branch, id ID, how How, e Edge) *Branch {
	b := &Branch{ID: id, How: how, Edge: e}
	f.place[id] = b
	f.order = append(f.order, id)
	f.tree[id] = id
	if above != nil {
		above.Children = append(above.Children, b)
		f.tree[id] = f.tree[above.ID]
	}
	return b
}

// grow places nodes breadth first. Where strict, a node that has an owner in the
// stack waits for that owner.
func (f *forest) grow(strict bool) {
	for ; f.next < len(f.order); f.next++ {
		f.children(f.order[f.next], strict)
	}
}

func (f *forest) regrow() {
	for _, id := range slices.Clone(f.order) {
		if before := len(f.order); f.children(id, false) && len(f.order) > before {
			f.grow(true)
			return
		}
	}
}

// children places what hangs under a node, and says whether there was any.
func (f *forest) children(id ID, strict bool) bool {
	g, above := f.s.g, f.place[id]
	before := len(f.order)
	if f.s.Boundary(id) {
		return false
	}
	try := func(to ID, how How, e *edge) {
		if f.place[to] != nil || !f.s.Has(to) {
			return
		}
		if strict && how != Owned && f.hasOwner(to) {
			return
		}
		evidence := Edge{}
		if e != nil {
			evidence = g.edge(*e)
		}
		f.put(above, to, how, evidence)
	}
	// Edges of a node are ordered by relation: owned first, then needed.
	for i := g.out[id]; i < g.out[id+1]; i++ {
		e := &g.edges[i]
		switch r := g.relation(e); {
		case !f.s.opts.keeps(g, e):
		case r == relation.Owns:
			try(e.to, Owned, e)
		case r == relation.Needs:
			try(e.to, Needed, e)
		}
	}
	for _, i := range g.into[g.in[id]:g.in[id+1]] {
		if e := &g.edges[i]; g.relation(e) == relation.Serves && f.s.opts.keeps(g, e) {
			try(e.from, Serving, e)
		}
	}
	f.behind(id, try)
	if f.s.opts.Up || f.s.opts.Connected {
		f.backwards(id, try)
	}
	return len(f.order) > before
}

// behind places what a node stands for: the topmost owners of what it serves, or
// the served thing itself where nobody owns it.
func (f *forest) behind(id ID, try func(ID, How, *edge)) {
	g := f.s.g
	for i := g.out[id]; i < g.out[id+1]; i++ {
		e := &g.edges[i]
		if g.relation(e) != relation.Serves || !f.s.opts.keeps(g, e) {
			continue
		}
		for _, top := range g.topmost(e.to, f.s.opts) {
			try(top, Behind, nil)
		}
		try(e.to, Behind, e)
	}
}

// backwards places, for the other readings of a stack, who is above a node.
func (f *forest) backwards(id ID, try func(ID, How, *edge)) {
	g := f.s.g
	for _, i := range g.into[g.in[id]:g.in[id+1]] {
		if e := &g.edges[i]; f.s.opts.keeps(g, e) {
			try(e.from, aboveBy(g.relation(e)), e)
		}
	}
}

func aboveBy(r relation.Relation) How {
	switch r {
	case relation.Owns:
		return OwnedBy
	case relation.Needs:
		return NeededBy
	}
	return Serving
}

func (f *forest) hasOwner(id ID) bool {
	for _, owner := range f.s.g.ownersOf(id, f.s.opts) {
		if f.s.Has(owner) && !f.s.Boundary(owner) {
			return true
		}
	}
	return false
}

// mention adds to each tree what it needs of another one, once, as near to its
// root as it is needed.
func (f *forest) mention() {
	if len(f.s.roots) < 2 {
		return
	}
	type once struct{ tree, to ID }
	said := map[once]bool{}
	g := f.s.g
	for _, id := range slices.Clone(f.order) {
		if f.s.Boundary(id) {
			continue
		}
		for i := g.out[id]; i < g.out[id+1]; i++ {
			e := &g.edges[i]
			key := once{f.tree[id], e.to}
			if g.relation(e) != relation.Needs || !f.s.opts.keeps(g, e) || f.s.Boundary(e.to) || !f.s.Has(e.to) || f.tree[e.to] == f.tree[id] || said[key] {
				continue
			}
			said[key] = true
			above := f.place[id]
			above.Children = append(above.Children, &Branch{ID: e.to, How: Needed, Edge: g.edge(*e), Again: true})
		}
	}
}

// compareBranches orders siblings: owned, needed, serving; then by kind and name.
func (s *Stack) compareBranches(a, b *Branch) int {
	x, y := s.g.Ref(a.ID), s.g.Ref(b.ID)
	return cmp.Or(cmp.Compare(a.How, b.How), cmp.Compare(x.Kind, y.Kind), cmp.Compare(a.ID, b.ID))
}
