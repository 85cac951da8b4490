package graph

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// StackOptions restrict or extend a stack.
type StackOptions struct {
	// NoInferred omits inferred edges.
	NoInferred bool
	// Relations are those that are followed and returned; none means all.
	Relations []relation.Relation
	// Connected includes everything reachable in either direction, up to a boundary, instead of
	// what belongs to the roots.
	Connected bool
	// Up reverses the direction: what owns the roots, needs them (or a Service in front of them) or
	// is served by them.
	Up bool
	// SameRoot maps roots that count as one, such as the objects of one release, to one of them:
	// members that only they have in common are not shared. A root without an entry counts for
	// itself.
	SameRoot map[ID]ID
	// PartOf maps nodes to their root (Graph.PartOf): another stack that needs them has them as
	// members, and ends there.
	PartOf map[ID]ID
	// still is set if a root does not include what it serves or manages: the stack is then the same
	// for every question.
	still bool
}

// Stack is the set of nodes that belong to its roots.
type Stack struct {
	g     *Graph
	opts  StackOptions
	roots []ID
	// members are in order; marks tell how each belongs to the stack.
	members []ID
	marks   []marks
	// made counts the members with markProvenance.
	made int
}

// marks are a set of ways in which a member belongs to a stack.
type marks uint8

const (
	// markShared: it is in the stack of more than one root.
	markShared marks = 1 << iota
	// markStands: its stack includes what it serves.
	markStands
	// markManaging: it is a root that is a manager, or what such a root manages.
	markManaging
	// markLeaf: it belongs to the stack, and is not followed.
	markLeaf
	// markProvenance: it is a maker, or needed by one, and in the stack for no other reason.
	markProvenance
)

// Stack returns the stack of the roots. It never fails: a root alone is a stack. Time and memory
// grow with the stack, independent of the number of roots. Walks share 48 bytes for each node of the
// graph.
func (g *Graph) Stack(roots []ID, o StackOptions) *Stack {
	s := &Stack{g: g, opts: o, roots: slices.Compact(slices.Sorted(slices.Values(roots)))}
	seen, _ := g.seen.Get().(*visited)
	if seen == nil {
		seen = &visited{marks: make([]rootMark, g.Len())}
	}
	w := walker{g: g, opts: o, visited: seen, roots: s.roots, made: map[ID][]ID{}}
	w.run()
	slices.Sort(seen.nodes)
	n := 0
	for _, id := range seen.nodes {
		if isMember, _ := seen.marks[id].member(); isMember {
			n++
		}
	}
	s.members, s.marks = make([]ID, 0, n), make([]marks, 0, n)
	for _, id := range seen.nodes {
		m := &seen.marks[id]
		if isMember, shared := m.member(); isMember {
			s.members, s.marks = append(s.members, id), append(s.marks, m.marks(shared))
		}
		*m = rootMark{}
	}
	for _, m := range s.marks {
		if m&markProvenance != 0 {
			s.made++
		}
	}
	seen.nodes = seen.nodes[:0]
	g.seen.Put(seen)
	return s
}

// marked reports whether the node is a member with a mark.
func (s *Stack) marked(id ID, m marks) bool {
	i, ok := slices.BinarySearch(s.members, id)
	return ok && s.marks[i]&m != 0
}

// Union returns the nodes of the stacks of all roots together, in order.
func (g *Graph) Union(roots []ID, o StackOptions) []ID { return g.Stack(roots, o).members }

// Graph returns the graph of the stack.
func (s *Stack) Graph() *Graph { return s.g }

// Roots returns the roots, in order.
func (s *Stack) Roots() []ID { return s.roots }

// Members returns every node of the stack, boundaries included, in order.
func (s *Stack) Members() []ID { return s.members }

// Has reports whether the node belongs to the stack.
func (s *Stack) Has(id ID) bool { _, ok := slices.BinarySearch(s.members, id); return ok }

// Boundary reports whether the stack ends at the node. A root is never a boundary.
func (s *Stack) Boundary(id ID) bool { return s.Has(id) && IsBoundary(s.g.Ref(id)) && !s.isRoot(id) }

func (s *Stack) isRoot(id ID) bool { _, ok := slices.BinarySearch(s.roots, id); return ok }

// Shared reports whether the node is in the stack of more than one root.
func (s *Stack) Shared(id ID) bool { return s.marked(id, markShared) }

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

// OwnersOutside returns the owners above the roots, at any height, that do not belong to the stack,
// nearest first, as context.
func (s *Stack) OwnersOutside() []ID {
	above := slices.Clone(s.roots)
	seen := map[ID]bool{}
	for next := 0; next < len(above); next++ {
		for _, owner := range s.g.ownersOf(above[next], s.opts) {
			if !seen[owner] {
				seen[owner] = true
				above = append(above, owner)
			}
		}
	}
	return slices.DeleteFunc(above[len(s.roots):], s.Has)
}

// Managers returns the managers of the roots and of their owners that are not roots, as context
// like OwnersOutside.
func (s *Stack) Managers() []ID {
	var out []ID
	for _, id := range slices.Concat(s.roots, s.OwnersOutside()) {
		for _, m := range s.g.managersOf(id, s.opts) {
			if !s.Has(m) && !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	return out
}

// Wanted returns the objects that could extend or correct the stack if they were read: its unread
// members, and the candidates for their ifPresent links. A reader reads them and builds again until
// nothing is wanted.
func (s *Stack) Wanted() []object.Ref {
	var out []object.Ref
	for _, id := range s.members {
		if s.g.State(id) == Unread {
			out = append(out, s.g.Ref(id))
		}
		for _, c := range s.g.candidates[id] {
			if !c.inferred || !s.opts.NoInferred {
				out = append(out, c.ref)
			}
		}
	}
	for _, id := range s.OwnersOutside() {
		if s.g.State(id) == Unread {
			out = append(out, s.g.Ref(id))
		}
	}
	slices.SortFunc(out, object.Compare)
	return slices.Compact(out)
}

// WantedKinds returns kinds of which all objects in all namespaces could correct the stack:
// ReferenceGrants if a member refers to another namespace, and kinds that a member selects in all
// namespaces or, if they become leaves, in another one.
func (s *Stack) WantedKinds() []schema.GroupKind {
	var out []schema.GroupKind
	if slices.ContainsFunc(s.members, func(id ID) bool { return s.g.ungranted[id] }) {
		out = append(out, relation.ReferenceGrant)
	}
	for _, a := range s.unreadAreas() {
		if s.everywhere(a) && !slices.Contains(out, a.kind) {
			out = append(out, a.kind)
		}
	}
	return out
}

// Namespaces returns the namespaces of the stack's own objects and of what they need, and those
// that they refer to by name. What merely serves the stack from elsewhere (a RoleBinding), makers,
// and data without references do not count: their namespace need not be read.
func (s *Stack) Namespaces() []string {
	out := map[string]bool{}
	for _, a := range s.unreadAreas() {
		if !s.everywhere(a) {
			out[a.namespace] = true
		}
	}
	for _, id := range s.members {
		r := s.g.Ref(id)
		if r.Namespace == "" || out[r.Namespace] || s.Boundary(id) || s.marked(id, markProvenance) || !s.g.WasRead(id) {
			continue
		}
		if s.isRoot(id) || s.wanted(id) && !isData(r) {
			out[r.Namespace] = true
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// wanted reports whether another member owns or needs the member, or serves it and includes it.
func (s *Stack) wanted(id ID) bool {
	for _, i := range s.g.into[s.g.in[id]:s.g.in[id+1]] {
		e := &s.g.edges[i]
		if r := s.g.relation(e); r == relation.Serves && !s.marked(e.from, markStands) || !s.Has(e.from) || !s.opts.follows(s.g, e) || s.g.rules[e.rule].Terminal {
			continue
		}
		if !s.g.manages(e) || s.marked(e.from, markManaging) {
			return true
		}
	}
	return false
}

// isData reports whether an object only holds data and refers to nothing.
func isData(r object.Ref) bool {
	switch r.Group {
	case "":
		return r.Kind == "Secret" || r.Kind == "ConfigMap" || r.Kind == "ServiceAccount"
	case "rbac.authorization.k8s.io":
		return r.Kind == "Role"
	case relation.ReferenceGrant.Group:
		return r.Kind == relation.ReferenceGrant.Kind
	}
	return false
}

// follows reports whether an edge that the options include makes one of its ends part of the stack
// of the other.
func (o StackOptions) follows(g *Graph, e *edge) bool {
	return !g.rules[e.rule].Peer && o.keeps(g, e)
}

func (o StackOptions) keeps(g *Graph, e *edge) bool {
	if o.NoInferred && e.flags&inferred != 0 {
		return false
	}
	return len(o.Relations) == 0 || slices.Contains(o.Relations, g.relation(e))
}
