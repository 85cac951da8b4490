package graph

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Impact is what happens to others when an object goes.
type Impact struct {
	// Deleted is what the garbage collector takes along, in order: objects whose
	// every owner goes.
	Deleted []ID
	// Orphaned is what loses an owner and stays, since another one is left.
	Orphaned []ID
	// Direct is who needs the object itself, or something deleted with it.
	Direct []Dependent
	// Through is who suffers in turn: the owners of a dependent, the Services that
	// front it, and who needs those.
	Through []Dependent
}

// Dependent is an object that suffers, and the edge that makes it so.
type Dependent struct {
	ID ID
	// Cause is the object it suffers from, one step nearer to what goes.
	Cause ID
	Edge  Edge
	// Optional says that it was told to do without.
	Optional bool
}

// Impact returns what would go with an object, and who would miss it.
func (g *Graph) Impact(id ID, o StackOptions) Impact {
	var im Impact
	gone := g.collect(id, &im)
	hurt := map[ID]bool{}
	var next []ID
	for _, dead := range append([]ID{id}, im.Deleted...) {
		for _, d := range g.dependents(dead, o) {
			if gone[d.ID] || hurt[d.ID] {
				continue
			}
			hurt[d.ID] = true
			im.Direct = append(im.Direct, d)
			if !d.Optional {
				next = append(next, d.ID)
			}
		}
	}
	for _, dead := range append([]ID{id}, im.Deleted...) {
		im.spread(g, dead, o, gone, hurt, &next)
	}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		for _, d := range g.dependents(at, o) {
			if !gone[d.ID] && !hurt[d.ID] && !d.Optional {
				hurt[d.ID] = true
				im.Through = append(im.Through, d)
				next = append(next, d.ID)
			}
		}
		im.spread(g, at, o, gone, hurt, &next)
	}
	return im
}

// spread passes harm on from an object to its owners, which are no longer what
// they should be, and to what fronts it, if anybody needs that.
func (im *Impact) spread(g *Graph, at ID, o StackOptions, gone, hurt map[ID]bool, next *[]ID) {
	for _, i := range g.into[g.in[at]:g.in[at+1]] {
		e := &g.edges[i]
		if gone[e.from] || hurt[e.from] || !o.keeps(g, e) || IsBoundary(g.Ref(e.from)) || g.State(e.from) == Missing {
			continue
		}
		if r := g.relation(e); r == relation.Needs || (r == relation.Serves && !g.needed(e.from, o)) {
			continue
		}
		hurt[e.from] = true
		im.Through = append(im.Through, Dependent{ID: e.from, Cause: at, Edge: g.edge(*e)})
		*next = append(*next, e.from)
	}
}

func (g *Graph) needed(id ID, o StackOptions) bool {
	for _, i := range g.into[g.in[id]:g.in[id+1]] {
		if e := &g.edges[i]; g.relation(e) == relation.Needs && o.keeps(g, e) {
			return true
		}
	}
	return false
}

// dependents returns who needs a node, each once; optional only where every one
// of its edges says so.
func (g *Graph) dependents(id ID, o StackOptions) []Dependent {
	var out []Dependent
	for _, i := range g.into[g.in[id]:g.in[id+1]] {
		e := &g.edges[i]
		if g.relation(e) != relation.Needs || !o.keeps(g, e) {
			continue
		}
		opt := e.flags&optional != 0
		if n := len(out); n > 0 && out[n-1].ID == e.from {
			if out[n-1].Optional && !opt {
				out[n-1].Optional, out[n-1].Edge = false, g.edge(*e)
			}
			continue
		}
		out = append(out, Dependent{ID: e.from, Cause: id, Edge: g.edge(*e), Optional: opt})
	}
	return out
}

// collect follows owner references as the garbage collector does: an object goes
// when its last owner goes. Only real owner references count, not what we infer.
func (g *Graph) collect(id ID, im *Impact) map[ID]bool {
	gone := map[ID]bool{id: true}
	owned := func(e *edge) bool {
		return g.relation(e) == relation.Owns && g.rules[e.rule].Via == relation.Owner
	}
	lost := map[ID]bool{}
	next := []ID{id}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		for i := g.out[at]; i < g.out[at+1]; i++ {
			e := &g.edges[i]
			if !owned(e) || gone[e.to] {
				continue
			}
			if g.hasOtherOwner(e.to, gone, owned) {
				lost[e.to] = true
				continue
			}
			delete(lost, e.to)
			gone[e.to] = true
			im.Deleted = append(im.Deleted, e.to)
			next = append(next, e.to)
		}
	}
	for id := range lost {
		im.Orphaned = append(im.Orphaned, id)
	}
	slices.Sort(im.Orphaned)
	slices.Sort(im.Deleted)
	return gone
}

func (g *Graph) hasOtherOwner(id ID, gone map[ID]bool, owned func(*edge) bool) bool {
	for _, i := range g.into[g.in[id]:g.in[id+1]] {
		if e := &g.edges[i]; owned(e) && !gone[e.from] && g.State(e.from) != Missing {
			return true
		}
	}
	return false
}
