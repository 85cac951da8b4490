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
	// Direct is who needs the object itself, or something deleted with it; last, who
	// was told to do without.
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
	im := impact{g: g, opts: o, gone: map[ID]bool{id: true}, hurt: map[ID]bool{}, fronts: map[ID]bool{}}
	dead := append([]ID{id}, im.collect(id)...)
	for _, at := range dead {
		im.Direct = append(im.Direct, im.pass(at)...)
	}
	for _, at := range dead {
		im.spread(at)
	}
	for next := 0; next < len(im.ill); next++ {
		at := im.ill[next]
		im.Through = append(im.Through, im.pass(at)...)
		im.spread(at)
	}
	// Who was told to do without comes last: it may suffer by another way.
	for _, at := range dead {
		for _, d := range g.dependents(at, o) {
			if !im.gone[d.ID] && !im.hurt[d.ID] {
				im.hurt[d.ID] = true
				im.Direct = append(im.Direct, d)
			}
		}
	}
	return im.Impact
}

// impact follows harm.
type impact struct {
	Impact
	g      *Graph
	opts   StackOptions
	gone   map[ID]bool
	hurt   map[ID]bool
	ill    []ID        // what is hurt, in the order in which it passes that on
	fronts map[ID]bool // whether somebody needs what serves others, as far as known
}

// pass passes harm on from an object to those who cannot do without it.
func (im *impact) pass(at ID) []Dependent {
	var out []Dependent
	for _, d := range im.g.dependents(at, im.opts) {
		if !d.Optional && im.harm(d.ID) {
			out = append(out, d)
		}
	}
	return out
}

// spread passes harm on from an object to its owners, which are no longer what
// they should be, and to what fronts it, if anybody needs that.
func (im *impact) spread(at ID) {
	g := im.g
	for _, i := range g.into[g.in[at]:g.in[at+1]] {
		e := &g.edges[i]
		if !im.opts.follows(g, e) || g.manages(e) || IsBoundary(g.Ref(e.from)) || g.State(e.from) == Missing {
			continue
		}
		if r := g.relation(e); r == relation.Needs || (r == relation.Serves && !im.needed(e.from)) {
			continue
		}
		if im.harm(e.from) {
			im.Through = append(im.Through, Dependent{ID: e.from, Cause: at, Edge: g.edge(*e)})
		}
	}
}

// harm says whether the harm is news.
func (im *impact) harm(id ID) bool {
	if im.gone[id] || im.hurt[id] {
		return false
	}
	im.hurt[id] = true
	im.ill = append(im.ill, id)
	return true
}

func (im *impact) needed(id ID) bool {
	needed, known := im.fronts[id]
	if !known {
		g := im.g
		needed = g.needed(id, im.opts)
		im.fronts[id] = needed
	}
	return needed
}

// dependents returns who needs a node, each once; optional only where every one
// of its edges says so.
func (g *Graph) dependents(id ID, o StackOptions) []Dependent {
	var out []Dependent
	for _, i := range g.into[g.in[id]:g.in[id+1]] {
		e := &g.edges[i]
		if g.relation(e) != relation.Needs || !o.follows(g, e) || g.State(e.from) == Missing {
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
func (im *impact) collect(id ID) []ID {
	left := map[ID]int{} // owners that are left, of those that lost one
	next := []ID{id}
	for at := 0; at < len(next); at++ {
		for _, child := range im.g.children(next[at]) {
			if im.gone[child] {
				continue
			}
			if _, met := left[child]; !met {
				left[child] = im.g.liveOwners(child)
			}
			if im.g.State(next[at]) != Missing {
				left[child]--
			}
			if left[child] > 0 {
				continue
			}
			im.gone[child] = true
			next = append(next, child)
		}
	}
	for child := range left {
		if !im.gone[child] {
			im.Orphaned = append(im.Orphaned, child)
		}
	}
	im.Deleted = next[1:]
	slices.Sort(im.Orphaned)
	slices.Sort(im.Deleted)
	return im.Deleted
}

// children returns what names a node as its owner, each once.
func (g *Graph) children(id ID) []ID {
	var out []ID
	for i := g.out[id]; i < g.out[id+1]; i++ {
		if e := &g.edges[i]; g.reference(e) && (len(out) == 0 || out[len(out)-1] != e.to) {
			out = append(out, e.to)
		}
	}
	return out
}

// liveOwners counts the owners that a node names, without those that are gone.
func (g *Graph) liveOwners(id ID) int {
	n, last := 0, ID(-1)
	for _, i := range g.into[g.in[id]:g.in[id+1]] {
		e := &g.edges[i]
		if g.reference(e) && e.from != last && g.State(e.from) != Missing {
			n++
			last = e.from
		}
	}
	return n
}

// reference says that an edge is an owner reference, and no guess.
func (g *Graph) reference(e *edge) bool {
	return g.relation(e) == relation.Owns && g.rules[e.rule].Via == relation.Owner
}
