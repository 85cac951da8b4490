package graph

import "github.com/kubectl-sysop/kubectl-sysop/pkg/relation"

// How a root came to a node.
const (
	// member: the node is in the stack.
	member = iota
	// standing: it is asked for or needed, so that it stands for what it serves.
	standing
	// climbing: it is above something that a standing node serves; the last one
	// above becomes a member.
	climbing
)

// mark tells which roots came to a node in each way, as node + 1. Two of them are
// enough to know whether it is shared; no more are passed on. So a walk from any
// number of roots visits each node at most six times.
type mark [3][2]ID

// member says whether the node is in a stack, and whether in those of two roots.
func (m *mark) member() (is, shared bool) {
	roots := m[member]
	return roots[0] != 0, roots[1] != 0
}

// walker computes the closures of roots, all at once. It keeps a list of what is
// to do, and never recurses: owners can be cyclic and chains long.
type walker struct {
	g    *Graph
	opts StackOptions
	seen map[ID]mark
	todo []visit
}

type visit struct {
	id, root ID
	how      uint8
}

func (w *walker) run(roots []ID) {
	// A root knows itself first: if it is a boundary, no other root passes it.
	for _, root := range roots {
		w.add(root, root, member)
		w.add(root, root, standing)
	}
	for len(w.todo) > 0 {
		v := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		w.expand(v)
	}
}

func (w *walker) add(id, root ID, how uint8) {
	m := w.seen[id]
	roots := &m[how]
	switch {
	case roots[0] == root+1 || roots[1] == root+1:
		return
	case roots[0] == 0:
		roots[0] = root + 1
	case roots[1] == 0:
		roots[1] = root + 1
	default:
		return
	}
	w.seen[id] = m
	w.todo = append(w.todo, visit{id, root, how})
}

func (w *walker) expand(v visit) {
	switch {
	case v.id != v.root && IsBoundary(w.g.Ref(v.id)):
	case w.opts.Connected:
		w.around(v)
	case w.opts.Up:
		w.above(v)
	case v.how == member:
		w.members(v)
	case v.how == standing:
		w.standFor(v)
	case v.how == climbing:
		w.climb(v)
	}
}

// members follows the closure: what it owns and needs, and who serves it.
func (w *walker) members(v visit) {
	for i := w.g.out[v.id]; i < w.g.out[v.id+1]; i++ {
		e := &w.g.edges[i]
		if !w.opts.keeps(w.g, e) {
			continue
		}
		switch w.g.relation(e) {
		case relation.Owns:
			w.add(e.to, v.root, member)
		case relation.Needs:
			w.add(e.to, v.root, member)
			w.add(e.to, v.root, standing)
		}
	}
	for _, i := range w.g.into[w.g.in[v.id]:w.g.in[v.id+1]] {
		if e := &w.g.edges[i]; w.g.relation(e) == relation.Serves && w.opts.keeps(w.g, e) {
			w.add(e.from, v.root, member)
		}
	}
}

// standFor follows what an object serves, forward: who needs a Service needs the
// pods behind it, and that which made them.
func (w *walker) standFor(v visit) {
	for i := w.g.out[v.id]; i < w.g.out[v.id+1]; i++ {
		e := &w.g.edges[i]
		if w.g.relation(e) != relation.Serves || !w.opts.keeps(w.g, e) || w.g.State(e.to) == Missing {
			continue
		}
		w.add(e.to, v.root, member)
		w.add(e.to, v.root, standing)
		w.add(e.to, v.root, climbing)
	}
}

func (w *walker) climb(v visit) {
	above := w.g.climbable(v.id, w.opts)
	if len(above) == 0 {
		w.add(v.id, v.root, member)
	}
	for _, owner := range above {
		w.add(owner, v.root, climbing)
	}
}

func (w *walker) around(v visit) {
	for _, id := range w.g.around(v.id, w.opts) {
		w.add(id, v.root, member)
	}
}

// above follows the closure backwards: who owns it, who needs it, whom it serves.
func (w *walker) above(v visit) {
	for _, i := range w.g.into[w.g.in[v.id]:w.g.in[v.id+1]] {
		if e := &w.g.edges[i]; w.g.relation(e) != relation.Serves && w.opts.keeps(w.g, e) {
			w.add(e.from, v.root, member)
		}
	}
	for i := w.g.out[v.id]; i < w.g.out[v.id+1]; i++ {
		if e := &w.g.edges[i]; w.g.relation(e) == relation.Serves && w.opts.keeps(w.g, e) {
			w.add(e.to, v.root, member)
		}
	}
}
