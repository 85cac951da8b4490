package graph

import (
	"cmp"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Ways in which a root reaches a node.
const (
	// member: the node is in the stack.
	member = iota
	// includesServed: it is a root or needed, so that the stack includes what it serves.
	includesServed
	// ascending: it is an owner of what such a node serves; the topmost one becomes a member.
	ascending
	// leaf: the node is in the stack, and is not followed.
	leaf
	// managing: it is a manager that is a root, or is managed by one.
	managing
	// making: it makes what is needed, or a maker needs it.
	making

	ways
)

// rootMark records which roots reached a node in each way, as node + 1. Two are enough to know that
// a node is shared, so no more are passed on, and a walk from any number of roots visits each node
// at most twelve times.
type rootMark [ways][2]ID

// member reports whether the node is in a stack, and whether in those of two roots.
func (m *rootMark) member() (isMember, shared bool) {
	first := cmp.Or(m[member][0], m[leaf][0], m[making][0])
	for _, way := range [...]int{member, leaf, making} {
		for _, root := range m[way] {
			shared = shared || root != 0 && root != first
		}
	}
	return first != 0, shared
}

// marks returns how a member belongs to the stack.
func (m *rootMark) marks(shared bool) marks {
	var out marks
	if shared {
		out |= markShared
	}
	if m[includesServed][0] != 0 {
		out |= markStands
	}
	if m[managing][0] != 0 {
		out |= markManaging
	}
	switch {
	case m[member][0] != 0:
	case m[making][0] != 0:
		out |= markProvenance
	case m[leaf][0] != 0:
		out |= markLeaf
	}
	return out
}

// visited are the marks of all nodes, and the nodes that have some. Walks reuse it: to find a mark
// in a map would be most of what a walk takes.
type visited struct {
	marks []rootMark
	nodes []ID
}

// walker computes the closures of all roots at once. It uses a work list instead of recursion:
// owners can be cyclic and chains long.
type walker struct {
	g    *Graph
	opts StackOptions
	*visited
	todo  []visit
	roots []ID        // in order
	made  map[ID][]ID // the makers of what is needed, as far as visited
}

// as returns the root that a root counts as (StackOptions.SameRoot).
func (w *walker) as(root ID) ID {
	if as, ok := w.opts.SameRoot[root]; ok {
		return as
	}
	return root
}

type visit struct {
	id, root ID
	how      uint8
}

func (w *walker) run() {
	// Roots mark themselves first, so that no other root passes one that is a boundary.
	for _, root := range w.roots {
		as := w.as(root)
		w.add(root, as, member)
		if !w.opts.still {
			w.add(root, as, includesServed)
			w.add(root, as, managing)
		}
		if w.opts.Up && !w.opts.Connected {
			w.fronts(root, as)
		}
	}
	for len(w.todo) > 0 {
		v := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		w.expand(v)
	}
}

func (w *walker) add(id, root ID, way uint8) {
	m := &w.marks[id]
	if *m == (rootMark{}) {
		w.nodes = append(w.nodes, id)
	}
	roots := &m[way]
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
	w.todo = append(w.todo, visit{id, root, way})
}

func (w *walker) expand(v visit) {
	switch {
	case w.elsewhere(v):
	case IsBoundary(w.g.Ref(v.id)) && (!w.isRoot(v.id) || w.as(v.id) != v.root):
	case w.opts.Connected:
		w.around(v)
	case w.opts.Up:
		w.above(v)
	case v.how == member:
		w.members(v)
	case v.how == includesServed:
		w.standFor(v)
	case v.how == ascending:
		w.climb(v)
	case v.how == managing:
		w.manage(v)
	case v.how == making:
		w.provenance(v)
	}
}

func (w *walker) isRoot(id ID) bool { _, ok := slices.BinarySearch(w.roots, id); return ok }

// elsewhere reports whether a node is a part of the stack of another root.
func (w *walker) elsewhere(v visit) bool {
	root, separate := w.opts.PartOf[v.id]
	return separate && w.as(root) != v.root
}

// members follows the closure: what the node owns and needs, and what serves it.
func (w *walker) members(v visit) {
	for i := w.g.out[v.id]; i < w.g.out[v.id+1]; i++ {
		e := &w.g.edges[i]
		if !w.opts.follows(w.g, e) {
			continue
		}
		switch r := w.g.relation(e); {
		case w.g.collects(e):
		case w.g.rules[e.rule].Terminal:
			w.add(e.to, v.root, leaf)
		case w.g.owns(e):
			w.add(e.to, v.root, member)
		case r == relation.Needs:
			w.needs(v, e, member)
			w.add(e.to, v.root, includesServed)
		}
	}
	for _, i := range w.g.into[w.g.in[v.id]:w.g.in[v.id+1]] {
		if e := &w.g.edges[i]; w.g.relation(e) == relation.Serves && w.opts.follows(w.g, e) {
			w.add(e.from, v.root, member)
		}
	}
}

// standFor follows what an object serves: a client of a Service needs its pods, and so the owners
// of those.
func (w *walker) standFor(v visit) {
	for i := w.g.out[v.id]; i < w.g.out[v.id+1]; i++ {
		e := &w.g.edges[i]
		if w.g.relation(e) != relation.Serves || !w.opts.follows(w.g, e) || w.g.State(e.to) == Missing {
			continue
		}
		w.add(e.to, v.root, member)
		w.add(e.to, v.root, includesServed)
		w.add(e.to, v.root, ascending)
	}
}

// manage adds what a root that is a manager manages, and what a shared reader collects.
func (w *walker) manage(v visit) {
	for i := w.g.out[v.id]; i < w.g.out[v.id+1]; i++ {
		switch e := &w.g.edges[i]; {
		case !w.opts.follows(w.g, e):
		case w.g.manages(e):
			w.add(e.to, v.root, member)
			w.add(e.to, v.root, managing)
		case w.g.collects(e):
			w.add(e.to, v.root, leaf)
		}
	}
}

func (w *walker) climb(v visit) {
	above := w.g.climbable(v.id, w.opts)
	if len(above) == 0 {
		w.add(v.id, v.root, member)
	}
	for _, owner := range above {
		w.add(owner, v.root, ascending)
	}
}

func (w *walker) around(v visit) {
	for _, id := range w.g.around(v.id, w.opts.follows) {
		w.add(id, v.root, member)
	}
}

// above follows the closure backwards: the owners of the node, the objects that need it, those that
// it serves, the Services in front of it that others need, and what it makes for others.
func (w *walker) above(v visit) {
	for _, i := range w.g.into[w.g.in[v.id]:w.g.in[v.id+1]] {
		e := &w.g.edges[i]
		if !w.opts.follows(w.g, e) {
			continue
		}
		if w.g.relation(e) != relation.Serves || w.g.needed(e.from, w.opts) {
			w.add(e.from, v.root, member)
		}
	}
	for i := w.g.out[v.id]; i < w.g.out[v.id+1]; i++ {
		if e := &w.g.edges[i]; w.g.relation(e) == relation.Serves && w.opts.follows(w.g, e) {
			w.add(e.to, v.root, member)
		}
	}
	for _, id := range w.madeForOthers(v.id) {
		w.add(id, v.root, member)
	}
}

// fronts adds the Services by which others need a root: those in front of objects that the root
// owns, at any depth, with the owners in between.
func (w *walker) fronts(root, as ID) {
	descendants := w.g.descendants(root, w.opts)
	needed := map[ID]bool{} // by front, which may be in front of all of them
	for t := range descendants {
		for _, i := range w.g.into[w.g.in[t]:w.g.in[t+1]] {
			e := &w.g.edges[i]
			if w.g.relation(e) != relation.Serves || !w.opts.follows(w.g, e) {
				continue
			}
			yes, known := needed[e.from]
			if !known {
				yes = w.g.isNeededByOthers(e.from, descendants, w.opts)
				needed[e.from] = yes
			}
			if yes {
				w.add(e.from, as, member)
				w.between(t, as, descendants)
			}
		}
	}
}

// between adds a descendant of the root, and its owners up to the root.
func (w *walker) between(id, root ID, descendants map[ID]bool) {
	next := []ID{id}
	seen := map[ID]bool{id: true}
	for len(next) > 0 {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		w.add(at, root, member)
		for _, owner := range w.g.ownersOf(at, w.opts) {
			if descendants[owner] && !seen[owner] {
				seen[owner] = true
				next = append(next, owner)
			}
		}
	}
}

// descendants returns a node and all that it owns, at any depth.
func (g *Graph) descendants(id ID, o StackOptions) map[ID]bool {
	descendants := map[ID]bool{id: true}
	next := []ID{id}
	for len(next) > 0 {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		for i := g.out[at]; i < g.out[at+1]; i++ {
			if e := &g.edges[i]; g.owns(e) && o.follows(g, e) && !descendants[e.to] {
				descendants[e.to] = true
				next = append(next, e.to)
			}
		}
	}
	return descendants
}

// needed reports whether any object needs a node.
func (g *Graph) needed(id ID, o StackOptions) bool { return g.isNeededByOthers(id, nil, o) }

// isNeededByOthers reports whether an object outside of these needs a node, or what it serves.
func (g *Graph) isNeededByOthers(id ID, these map[ID]bool, o StackOptions) bool {
	for _, i := range g.into[g.in[id]:g.in[id+1]] {
		if e := &g.edges[i]; g.relation(e) == relation.Needs && !g.rules[e.rule].Terminal && o.follows(g, e) && !these[e.from] {
			return true
		}
	}
	return false
}
