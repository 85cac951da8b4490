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

// Apexes returns the roots of the stacks that hold some nodes: of the topmost owners
// of these (or the nodes themselves), those that the stack of no other one holds. Of
// several that hold each other it is the first. Each of the topmost owners is in the
// stack of one of the apexes at least.
func (g *Graph) Apexes(of []ID, o StackOptions) []ID {
	tops := map[ID]bool{}
	for _, id := range of {
		if path := g.OwnerPath(id, o); len(path) > 0 {
			id = path[0]
		}
		tops[id] = true
	}
	holds := make(map[ID][]ID, len(tops)) // of each top, the others in its stack
	for top := range tops {
		s := g.Stack([]ID{top}, o)
		for _, id := range s.members {
			if id != top && tops[id] && s.Holds(id) {
				holds[top] = append(holds[top], id)
			}
		}
	}
	var apexes []ID
	// What holds need not hold what that holds: a stack is not followed beyond what it
	// only looks at. So what no apex holds is looked at again.
	for left := slices.Sorted(maps.Keys(tops)); len(left) > 0; {
		found := unheld(left, holds)
		apexes = append(apexes, found...)
		covered := map[ID]bool{}
		for _, id := range found {
			covered[id] = true
			for _, in := range holds[id] {
				covered[in] = true
			}
		}
		left = slices.DeleteFunc(left, func(id ID) bool { return covered[id] })
	}
	slices.Sort(apexes)
	return apexes
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

// Holds says whether the node is a part of the stack itself: a member that is not a
// boundary, and not only looked at.
func (s *Stack) Holds(id ID) bool { return s.Has(id) && !s.leaves[id] && !s.Boundary(id) }
