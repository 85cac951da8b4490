package graph

import (
	"maps"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// OwnerPath returns the owners above a node, the topmost first; none where nobody
// owns it. Of several owners it goes by the one that controls the node, or else by
// the first. It ends below an owner that is missing, a boundary (a static pod is
// owned by its Node), or on the path already.
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

// controller returns the owner that an owner reference says controls the node.
func (g *Graph) controller(id ID) (ID, bool) {
	for _, i := range g.into[g.in[id]:g.in[id+1]] {
		if e := &g.edges[i]; e.flags&controller != 0 && g.rules[e.rule].Via == relation.Owner {
			return e.from, true
		}
	}
	return 0, false
}

// TopOwners returns the roots of the stacks that hold some nodes: of the topmost owners
// of these (or the nodes themselves), those that are exposed, and those that the stack
// of no other one holds. Of several that hold each other it is the first. Each of the
// topmost owners is in the stack of one of the apexes at least.
func (g *Graph) TopOwners(of []ID, o StackOptions) []ID {
	set := map[ID]bool{}
	for _, id := range of {
		if path := g.OwnerPath(id, o); len(path) > 0 {
			id = path[0]
		}
		set[id] = true
	}
	return g.apexes(slices.Sorted(maps.Keys(set)), o, func(s *Stack, id ID) bool { return s.IsOwnPart(id) })
}

// apexes returns those of some tops, in order, that are exposed, and those that the
// stack of no other one hides.
func (g *Graph) apexes(tops []ID, o StackOptions, hides func(s *Stack, id ID) bool) []ID {
	apexes := slices.DeleteFunc(slices.Clone(tops), func(id ID) bool { return !g.exposed(id, o) })
	o.PartOf = g.PartOf(apexes, o)
	holds := make(map[ID][]ID, len(tops)) // of each top, the others in its stack
	for _, top := range tops {
		s := g.Stack([]ID{top}, o)
		for _, id := range s.members {
			if _, is := slices.BinarySearch(tops, id); is && id != top && hides(s, id) {
				holds[top] = append(holds[top], id)
			}
		}
	}
	left, found := tops, apexes
	// What holds need not hold what that holds: a stack is not followed beyond what it
	// only looks at. So what no apex holds is looked at again.
	for len(left) > 0 {
		covered := map[ID]bool{}
		for _, id := range found {
			covered[id] = true
			for _, in := range holds[id] {
				covered[in] = true
			}
		}
		left = slices.DeleteFunc(slices.Clone(left), func(id ID) bool { return covered[id] })
		if len(left) > 0 {
			found = unheld(left, holds)
			apexes = append(apexes, found...)
		}
	}
	slices.Sort(apexes)
	return slices.Compact(apexes)
}

// exposed says whether something leads requests from outside (an Ingress, a route) to
// what a node owns: it has users of its own, whoever else needs it.
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

// PartOf maps to each root what is a part of it alone, whoever else needs it: what it
// owns, at any depth, and what serves nothing else. Of two roots, one above the other,
// the nearer one counts.
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
	// A Service is a part of what is behind it, and a route of what the Service is.
	const hops = 3
	for range hops {
		for id := range g.fronting(part, o) {
			if root, alone := g.servesOnly(id, part, o); alone {
				part[id] = root
			}
		}
	}
	return part
}

// fronting returns what serves some nodes and is not among them.
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

// servesOnly returns the one root whose parts are all that a node serves.
func (g *Graph) servesOnly(id ID, part map[ID]ID, o StackOptions) (ID, bool) {
	root, found := ID(0), false
	for i := g.out[id]; i < g.out[id+1]; i++ {
		e := &g.edges[i]
		if g.relation(e) != relation.Serves || !o.follows(g, e) {
			continue
		}
		of, in := part[e.to]
		if !in || found && of != root {
			return 0, false
		}
		root, found = of, true
	}
	return root, found
}

// unheld returns those of some tops that no other of them holds, unless it is held
// itself by what it holds and comes later; the first where all are held in a ring.
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

// IsOwnPart says whether the node is a part of the stack itself: a member that is not a
// boundary, not only looked at, not only a maker, and not apart.
func (s *Stack) IsOwnPart(id ID) bool {
	if root, apart := s.opts.PartOf[id]; apart && !s.isRoot(root) {
		return false
	}
	return s.Has(id) && !s.leaves[id] && !s.provenance[id] && !s.Boundary(id)
}
