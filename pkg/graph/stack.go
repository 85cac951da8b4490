package graph

import (
	"maps"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// StackOptions narrow or widen a stack.
type StackOptions struct {
	// NoInferred leaves out edges that are guesses.
	NoInferred bool
	// Relations are those that are followed and kept; none means all.
	Relations []relation.Relation
	// Connected takes in everything that is reached in either direction, up to a
	// boundary, instead of what belongs to the roots.
	Connected bool
	// Up goes the other way: who owns, needs or is served by the roots.
	Up bool
}

// Stack is the set of nodes that belong to its roots.
type Stack struct {
	g     *Graph
	opts  StackOptions
	roots []ID
	// members in order, and by how many of the roots' stacks each is held.
	members []ID
	held    map[ID]int
	solid   map[ID]bool // members, and roots that are boundaries: they were followed
}

// Stack returns the stack of the roots. It never fails: a root alone is a stack.
func (g *Graph) Stack(roots []ID, o StackOptions) *Stack {
	s := &Stack{g: g, opts: o, held: map[ID]int{}, solid: map[ID]bool{}}
	s.roots = slices.Compact(slices.Sorted(slices.Values(roots)))
	w := walker{g: g, opts: o, roots: map[ID]bool{}, seen: map[ID]uint8{}}
	for _, root := range s.roots {
		w.run(root)
		for id := range w.seen {
			s.held[id]++
		}
		clear(w.seen)
		clear(w.roots)
	}
	s.members = make([]ID, 0, len(s.held))
	for id := range s.held {
		s.members = append(s.members, id)
		s.solid[id] = !IsBoundary(g.Ref(id)) || slices.Contains(s.roots, id)
	}
	slices.Sort(s.members)
	return s
}

// Union returns the nodes of the stacks of all roots together, in order. Where
// nobody asks who shares what, one walk does for any number of roots.
func (g *Graph) Union(roots []ID, o StackOptions) []ID {
	w := walker{g: g, opts: o, roots: map[ID]bool{}, seen: map[ID]uint8{}}
	w.run(roots...)
	return slices.Sorted(maps.Keys(w.seen))
}

// Graph returns the graph that the stack is of.
func (s *Stack) Graph() *Graph { return s.g }

// Roots returns the roots, in order.
func (s *Stack) Roots() []ID { return s.roots }

// Members returns every node of the stack, boundaries included, in order.
func (s *Stack) Members() []ID { return s.members }

// Has says whether the node belongs to the stack.
func (s *Stack) Has(id ID) bool { return s.held[id] > 0 }

// Boundary says whether the stack stands on the node and was not followed
// beyond it. A root is never a boundary.
func (s *Stack) Boundary(id ID) bool { return s.Has(id) && !s.solid[id] }

// Shared says whether the node is in the stack of more than one root.
func (s *Stack) Shared(id ID) bool { return s.held[id] > 1 }

// Edges returns the edges between members that the options keep, by source.
func (s *Stack) Edges() []Edge {
	var out []Edge
	for _, id := range s.members {
		for i := s.g.out[id]; i < s.g.out[id+1]; i++ {
			if e := &s.g.edges[i]; s.Has(e.to) && s.opts.keeps(s.g, e) {
				out = append(out, s.g.edge(*e))
			}
		}
	}
	return out
}

// Owners returns the owners above the roots, nearest first: context, which does
// not belong to the stack.
func (s *Stack) Owners() []ID {
	var above []ID
	next := slices.Clone(s.roots)
	for len(next) > 0 {
		id := next[0]
		next = next[1:]
		for _, owner := range s.g.ownersOf(id, s.opts) {
			if !s.Has(owner) && !slices.Contains(above, owner) {
				above = append(above, owner)
				next = append(next, owner)
			}
		}
	}
	return above
}

// Wanted returns what could make the stack larger or truer if it were read: who
// is unread in it, and what its members may name if it exists. A reader reads
// that and builds again, until nothing is wanted.
func (s *Stack) Wanted() []object.Ref {
	var out []object.Ref
	for _, id := range s.members {
		if s.g.State(id) == Unread {
			out = append(out, s.g.Ref(id))
		}
		if !s.opts.NoInferred {
			out = append(out, s.g.candidates[id]...)
		}
	}
	for _, id := range s.Owners() {
		if s.g.State(id) == Unread {
			out = append(out, s.g.Ref(id))
		}
	}
	return out
}

// Namespaces returns where the stack's own objects and what they need live. What
// merely serves it from elsewhere (a RoleBinding), and data that leads to nothing
// else, does not count: its namespace need not be read.
func (s *Stack) Namespaces() []string {
	var out []string
	for _, id := range s.members {
		r := s.g.Ref(id)
		if r.Namespace == "" || s.Boundary(id) || s.g.State(id) != Present || slices.Contains(out, r.Namespace) {
			continue
		}
		if slices.Contains(s.roots, id) || s.wanted(id) && !isData(r) {
			out = append(out, r.Namespace)
		}
	}
	slices.Sort(out)
	return out
}

// wanted says whether a member is owned or needed by another.
func (s *Stack) wanted(id ID) bool {
	for _, i := range s.g.into[s.g.in[id]:s.g.in[id+1]] {
		e := &s.g.edges[i]
		if r := s.g.relation(e); r != relation.Serves && s.Has(e.from) && s.opts.keeps(s.g, e) {
			return true
		}
	}
	return false
}

// isData tells what is looked up and leads nowhere.
func isData(r object.Ref) bool {
	switch r.Group {
	case "":
		return r.Kind == "Secret" || r.Kind == "ConfigMap" || r.Kind == "ServiceAccount"
	case "rbac.authorization.k8s.io":
		return r.Kind == "Role"
	}
	return false
}

func (o StackOptions) keeps(g *Graph, e *edge) bool {
	if o.NoInferred && e.flags&inferred != 0 {
		return false
	}
	return len(o.Relations) == 0 || slices.Contains(o.Relations, g.relation(e))
}

// How a node came in: as a member, or as one that is asked for or needed, which
// then stands for what it serves.
const (
	member uint8 = 1 << iota
	standing
)

// walker computes the closure of one root. It keeps a visited set and a list of
// what is to do, and never recurses: owners can be cyclic and chains long.
type walker struct {
	g     *Graph
	opts  StackOptions
	roots map[ID]bool
	seen  map[ID]uint8
	todo  []visit
}

type visit struct {
	id  ID
	how uint8
}

func (w *walker) run(roots ...ID) {
	for _, root := range roots {
		w.roots[root] = true
		w.add(root, member|standing)
	}
	for len(w.todo) > 0 {
		v := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		w.expand(v)
	}
}

func (w *walker) add(id ID, how uint8) {
	if news := how &^ w.seen[id]; news != 0 {
		w.seen[id] |= how
		w.todo = append(w.todo, visit{id, news})
	}
}

func (w *walker) expand(v visit) {
	if !w.roots[v.id] && IsBoundary(w.g.Ref(v.id)) {
		return
	}
	switch {
	case w.opts.Connected:
		w.around(v.id)
		return
	case w.opts.Up:
		w.above(v.id)
		return
	}
	if v.how&member != 0 {
		w.members(v.id)
	}
	if v.how&standing != 0 {
		w.standFor(v.id)
	}
}

// members follows the closure: what it owns and needs, and who serves it.
func (w *walker) members(id ID) {
	for i := w.g.out[id]; i < w.g.out[id+1]; i++ {
		e := &w.g.edges[i]
		if !w.opts.keeps(w.g, e) {
			continue
		}
		switch w.g.relation(e) {
		case relation.Owns:
			w.add(e.to, member)
		case relation.Needs:
			w.add(e.to, member|standing)
		}
	}
	for _, i := range w.g.into[w.g.in[id]:w.g.in[id+1]] {
		if e := &w.g.edges[i]; w.g.relation(e) == relation.Serves && w.opts.keeps(w.g, e) {
			w.add(e.from, member)
		}
	}
}

// standFor follows what an object serves, forward: who needs a Service needs the
// pods behind it, and that which made them.
func (w *walker) standFor(id ID) {
	for i := w.g.out[id]; i < w.g.out[id+1]; i++ {
		e := &w.g.edges[i]
		if w.g.relation(e) != relation.Serves || !w.opts.keeps(w.g, e) || w.g.State(e.to) == Missing {
			continue
		}
		w.add(e.to, member|standing)
		for _, top := range w.g.topmost(e.to, w.opts) {
			w.add(top, member)
		}
	}
}

func (w *walker) around(id ID) {
	for i := w.g.out[id]; i < w.g.out[id+1]; i++ {
		if e := &w.g.edges[i]; w.opts.keeps(w.g, e) {
			w.add(e.to, member)
		}
	}
	for _, i := range w.g.into[w.g.in[id]:w.g.in[id+1]] {
		if e := &w.g.edges[i]; w.opts.keeps(w.g, e) {
			w.add(e.from, member)
		}
	}
}

// above follows the closure backwards: who owns it, who needs it, whom it serves.
func (w *walker) above(id ID) {
	for _, i := range w.g.into[w.g.in[id]:w.g.in[id+1]] {
		if e := &w.g.edges[i]; w.g.relation(e) != relation.Serves && w.opts.keeps(w.g, e) {
			w.add(e.from, member)
		}
	}
	for i := w.g.out[id]; i < w.g.out[id+1]; i++ {
		if e := &w.g.edges[i]; w.g.relation(e) == relation.Serves && w.opts.keeps(w.g, e) {
			w.add(e.to, member)
		}
	}
}

// ownersOf returns the direct owners of a node, each once.
func (g *Graph) ownersOf(id ID, o StackOptions) []ID {
	var owners []ID
	for _, i := range g.into[g.in[id]:g.in[id+1]] {
		if e := &g.edges[i]; g.relation(e) == relation.Owns && o.keeps(g, e) && !slices.Contains(owners, e.from) {
			owners = append(owners, e.from)
		}
	}
	return owners
}

// topmost returns the last owners above a node that are not boundaries (a static
// pod is owned by its Node); none where nobody owns it.
func (g *Graph) topmost(id ID, o StackOptions) []ID {
	seen := map[ID]bool{id: true}
	next := []ID{id}
	var tops []ID
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		above := slices.DeleteFunc(g.ownersOf(at, o), func(x ID) bool { return IsBoundary(g.Ref(x)) || g.State(x) == Missing })
		if len(above) == 0 && at != id {
			tops = append(tops, at)
		}
		for _, x := range above {
			if !seen[x] {
				seen[x] = true
				next = append(next, x)
			}
		}
	}
	return tops
}
