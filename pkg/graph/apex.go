package graph

import (
	"maps"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// OwnerPath returns the owners above a node, topmost first, or nothing without an owner. Of several
// owners it follows the one that controls the node, or else the first. It stops below an owner that
// is missing, a boundary (a static pod is owned by its Node), or on the path already.
func (g *Graph) OwnerPath(id ID, o StackOptions) []ID {
	var path []ID
	for at := id; ; {
		above := slices.DeleteFunc(g.climbable(at, o), func(x ID) bool { return x == id || slices.Contains(path, x) })
		if len(above) == 0 {
			slices.Reverse(path)
			return path
		}
		next := above[0]
		if c, ok := g.controller(at); ok && slices.Contains(above, c) {
			next = c
		}
		path = append(path, next)
		at = next
	}
}

// controller returns the owner whose owner reference has controller: true.
func (g *Graph) controller(id ID) (ID, bool) {
	for _, i := range g.into[g.in[id]:g.in[id+1]] {
		if e := &g.edges[i]; e.flags&controller != 0 && g.rules[e.rule].Via == relation.Owner {
			return e.from, true
		}
	}
	return 0, false
}

// TopOwners returns the roots of the stacks that contain some nodes: of their topmost owners (or
// the nodes themselves), those that are exposed, and those that are in the stack of no other. Of
// several that contain each other it returns the first. Each topmost owner is in the stack of at
// least one of the results.
func (g *Graph) TopOwners(ids []ID, o StackOptions) []ID {
	set := map[ID]bool{}
	for _, id := range ids {
		if path := g.OwnerPath(id, o); len(path) > 0 {
			id = path[0]
		}
		set[id] = true
	}
	return g.apexes(slices.Sorted(maps.Keys(set)), o, func(s *Stack, id ID) bool { return s.IsOwnPart(id) })
}

// apexes returns those of some tops, in order, that are exposed, and those that the stack of no
// other one hides.
func (g *Graph) apexes(tops []ID, o StackOptions, hides func(s *Stack, id ID) bool) []ID {
	apexes := slices.DeleteFunc(slices.Clone(tops), func(id ID) bool { return !g.exposed(id, o) })
	o.PartOf = g.PartOf(apexes, o)
	holds := make(map[ID][]ID, len(tops)) // for each top, the tops whose stacks contain it
	for _, top := range tops {
		s := g.Stack([]ID{top}, o)
		for _, id := range s.members {
			if _, isTop := slices.BinarySearch(tops, id); isTop && id != top && hides(s, id) {
				holds[top] = append(holds[top], id)
			}
		}
	}
	remaining, found := tops, apexes
	// Containment is not transitive, since a stack ends at leaves. So tops that no apex contains
	// are examined again.
	for len(remaining) > 0 {
		covered := map[ID]bool{}
		for _, id := range found {
			covered[id] = true
			for _, in := range holds[id] {
				covered[in] = true
			}
		}
		remaining = slices.DeleteFunc(slices.Clone(remaining), func(id ID) bool { return covered[id] })
		if len(remaining) > 0 {
			found = unheld(remaining, holds)
			apexes = append(apexes, found...)
		}
	}
	slices.Sort(apexes)
	return slices.Compact(apexes)
}

// exposed reports whether an object routes requests from outside (an Ingress, a route) to what a
// node owns: it then has users of its own, even if others need it.
func (g *Graph) exposed(top ID, o StackOptions) bool {
	next, seen := slices.Collect(maps.Keys(g.descendants(top, o))), map[ID]bool{}
	for len(next) > 0 {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		for _, i := range g.into[g.in[at]:g.in[at+1]] {
			e := &g.edges[i]
			switch {
			case g.relation(e) != relation.Serves || !o.follows(g, e):
			case g.rules[e.rule].Exposes:
				return true
			case !seen[e.from]:
				seen[e.from] = true
				next = append(next, e.from)
			}
		}
	}
	return false
}

// PartOf maps the exclusive parts of each root to it: what it owns, at any depth, and what serves
// nothing else, even if others need it. Of two roots, one above the other, the nearer one wins.
func (g *Graph) PartOf(roots []ID, o StackOptions) map[ID]ID {
	part, isRoot := map[ID]ID{}, map[ID]bool{}
	for _, root := range roots {
		isRoot[root] = true
	}
	for _, root := range slices.Sorted(slices.Values(roots)) {
		next := []ID{root}
		for len(next) > 0 {
			at := next[len(next)-1]
			next = next[:len(next)-1]
			if _, taken := part[at]; taken {
				continue
			}
			part[at] = root
			for i := g.out[at]; i < g.out[at+1]; i++ {
				if e := &g.edges[i]; g.owns(e) && o.follows(g, e) && !isRoot[e.to] && !IsBoundary(g.Ref(e.to)) {
					next = append(next, e.to)
				}
			}
		}
	}
	// A Service is a part of the pods that it serves, and a route a part of the same root as its
	// Service.
	const hops = 3
	for range hops {
		for id := range g.fronting(part, o) {
			if root, exclusive := g.servesOnly(id, part, o); exclusive {
				part[id] = root
			}
		}
	}
	return part
}

// fronting returns the nodes that serve some nodes and are not among them.
func (g *Graph) fronting(part map[ID]ID, o StackOptions) map[ID]bool {
	out := map[ID]bool{}
	for id := range part {
		for _, from := range g.sources(id, func(e *edge) bool { return g.relation(e) == relation.Serves && o.follows(g, e) }) {
			if _, in := part[from]; !in && !IsBoundary(g.Ref(from)) {
				out[from] = true
			}
		}
	}
	return out
}

// servesOnly returns the root of all that a node serves, if there is exactly one.
func (g *Graph) servesOnly(id ID, part map[ID]ID, o StackOptions) (ID, bool) {
	root, found := ID(0), false
	for i := g.out[id]; i < g.out[id+1]; i++ {
		e := &g.edges[i]
		if g.relation(e) != relation.Serves || !o.follows(g, e) {
			continue
		}
		partRoot, in := part[e.to]
		if !in || found && partRoot != root {
			return 0, false
		}
		root, found = partRoot, true
	}
	return root, found
}

// unheld returns those of some tops that are in the stack of no other, or only in those of later
// tops that are in theirs; the first one if all form a cycle.
func unheld(tops []ID, holds map[ID][]ID) []ID {
	held := map[ID]bool{}
	for _, top := range tops {
		for _, id := range holds[top] {
			if top < id || !slices.Contains(holds[id], top) {
				held[id] = true
			}
		}
	}
	found := slices.DeleteFunc(slices.Clone(tops), func(id ID) bool { return held[id] })
	if len(found) == 0 {
		return tops[:1]
	}
	return found
}

// IsOwnPart reports whether the node is part of this stack alone: a member that is neither a
// boundary, nor a leaf, nor provenance, nor part of another root.
func (s *Stack) IsOwnPart(id ID) bool {
	if root, separate := s.opts.PartOf[id]; separate && !s.isRoot(root) {
		return false
	}
	return s.Has(id) && !s.marked(id, markLeaf) && !s.marked(id, markProvenance) && !s.Boundary(id)
}
