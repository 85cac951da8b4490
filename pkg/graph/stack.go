package graph

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

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
	// Up goes the other way: who owns the roots, needs them (or what stands for them)
	// or is served by them.
	Up bool
	// SameRoot maps roots that count as one, such as the objects of one release, to one of
	// them: what only they have in common is not shared. A root that is not in it
	// counts for itself.
	SameRoot map[ID]ID
	// PartOf maps nodes to the root that they are a part of (Graph.Apart): the stack of
	// another one that needs them has them as a member, and does not go beyond them.
	PartOf map[ID]ID
	// still says that a root that serves others does not stand for them, and that a
	// manager is not asked for: the stack is what belongs to it, whoever asks.
	still bool
}

// Stack is the set of nodes that belong to its roots.
type Stack struct {
	g     *Graph
	opts  StackOptions
	roots []ID
	// members in order, and whether each is in the stack of more than one root.
	members []ID
	shared  map[ID]bool
	stands  map[ID]bool // members that stand for what they serve
	// managing are roots, and what they manage: managers that were asked for.
	managing map[ID]bool
	// leaves belong to the stack, and nothing follows from that.
	leaves map[ID]bool
	// provenance are makers, and what they need, that belong to the stack in no other way.
	provenance map[ID]bool
}

// Stack returns the stack of the roots. It never fails: a root alone is a stack.
// Time and memory grow with the stack, whatever the number of roots.
func (g *Graph) Stack(roots []ID, o StackOptions) *Stack {
	s := &Stack{g: g, opts: o, roots: slices.Compact(slices.Sorted(slices.Values(roots)))}
	w := walker{g: g, opts: o, seen: map[ID]rootMark{}, made: map[ID][]ID{}}
	w.run(s.roots)
	s.members = make([]ID, 0, len(w.seen))
	s.shared = make(map[ID]bool, len(w.seen))
	s.stands, s.managing, s.leaves, s.provenance = map[ID]bool{}, map[ID]bool{}, map[ID]bool{}, map[ID]bool{}
	for id, m := range w.seen {
		if is, shared := m.member(); is {
			s.members = append(s.members, id)
			s.shared[id] = shared
		}
		if m[includesServed][0] != 0 {
			s.stands[id] = true
		}
		if m[managing][0] != 0 {
			s.managing[id] = true
		}
		switch {
		case m[member][0] != 0:
		case m[making][0] != 0:
			s.provenance[id] = true
		case m[leaf][0] != 0:
			s.leaves[id] = true
		}
	}
	slices.Sort(s.members)
	return s
}

// Union returns the nodes of the stacks of all roots together, in order.
func (g *Graph) Union(roots []ID, o StackOptions) []ID { return g.Stack(roots, o).members }

// Graph returns the graph that the stack is of.
func (s *Stack) Graph() *Graph { return s.g }

// Roots returns the roots, in order.
func (s *Stack) Roots() []ID { return s.roots }

// Members returns every node of the stack, boundaries included, in order.
func (s *Stack) Members() []ID { return s.members }

// Has says whether the node belongs to the stack.
func (s *Stack) Has(id ID) bool { _, ok := s.shared[id]; return ok }

// Boundary says whether the stack stands on the node and was not followed
// beyond it. A root is never a boundary.
func (s *Stack) Boundary(id ID) bool { return s.Has(id) && IsBoundary(s.g.Ref(id)) && !s.isRoot(id) }

func (s *Stack) isRoot(id ID) bool { _, ok := slices.BinarySearch(s.roots, id); return ok }

// Shared says whether the node is in the stack of more than one root.
func (s *Stack) Shared(id ID) bool { return s.shared[id] }

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

// OwnersOutside returns the owners above the roots, at any height, that do not belong
// to the stack, nearest first: context.
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

// Managers returns who manages the roots and their owners without being asked
// for: context, as OwnersOutside are.
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

// Wanted returns what could make the stack larger or truer if it were read: who
// is unread in it, and what its members may name if it exists. A reader reads
// that and builds again, until nothing is wanted.
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

// WantedKinds returns kinds of which every object, wherever it is, could make the
// stack truer: ReferenceGrants, where a member refers to another namespace, and what
// a member selects in all of them or, as a leaf, in another.
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

// Namespaces returns where the stack's own objects and what they need live, and
// where they look for it by name. What merely serves it from elsewhere (a
// RoleBinding), makers, and data that leads to nothing else, does not count: its namespace
// need not be read.
func (s *Stack) Namespaces() []string {
	out := map[string]bool{}
	for _, a := range s.unreadAreas() {
		if !s.everywhere(a) {
			out[a.namespace] = true
		}
	}
	for _, id := range s.members {
		r := s.g.Ref(id)
		if r.Namespace == "" || out[r.Namespace] || s.Boundary(id) || s.provenance[id] || !s.g.WasRead(id) {
			continue
		}
		if s.isRoot(id) || s.wanted(id) && !isData(r) {
			out[r.Namespace] = true
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// wanted says whether a member is owned or needed by another, or served by one that
// stands for it.
func (s *Stack) wanted(id ID) bool {
	for _, i := range s.g.into[s.g.in[id]:s.g.in[id+1]] {
		e := &s.g.edges[i]
		if r := s.g.relation(e); r == relation.Serves && !s.stands[e.from] || !s.Has(e.from) || !s.opts.follows(s.g, e) || s.g.rules[e.rule].Terminal {
			continue
		}
		if !s.g.manages(e) || s.managing[e.from] {
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
	case relation.ReferenceGrant.Group:
		return r.Kind == relation.ReferenceGrant.Kind
	}
	return false
}

// follows says whether an edge that the options keep makes one of its ends part
// of the stack of the other.
func (o StackOptions) follows(g *Graph, e *edge) bool {
	return !g.rules[e.rule].Peer && o.keeps(g, e)
}

func (o StackOptions) keeps(g *Graph, e *edge) bool {
	if o.NoInferred && e.flags&inferred != 0 {
		return false
	}
	return len(o.Relations) == 0 || slices.Contains(o.Relations, g.relation(e))
}
