// Package layout places the cards of a graph: a tidy forest, its trees packed to the shape of a
// window. ui/src/layout.ts is the same in TypeScript, and testdata/ holds both to equal
// coordinates. All numbers are integers, so that no rounding can part them.
//
// In a tree every depth is a column, as wide as its widest card. Siblings stand one below the
// other in their order, as close as their subtrees allow (the outlines are compared, as Reingold
// and Tilford do), and a parent stands at the middle of its children. The work is proportional to the
// number of cards, and none of it recurses: a chain of any depth has room.
package layout

import "slices"

// Node is a card of a tree.
type Node struct {
	Width, Height int
	Children      []*Node
}

// Box is where a card is: its left upper corner.
type Box struct{ X, Y int }

// Options are the distances between cards, and the shape that is filled.
type Options struct {
	// Across is between a card and its children, Between between siblings, Apart between trees.
	Across, Between, Apart int
	// Aspect is width by height of the window, in hundredths: 160 for 16:10.
	Aspect int
}

// Result is a layout: the boxes in preorder of the roots, and how large all is.
type Result struct {
	Boxes         []Box
	Width, Height int
}

// Layout lays out a forest. Larger trees come first; among those of a height the order is kept.
func Layout(roots []*Node, o Options) Result {
	f := newForest(roots)
	var trees []tree
	for at := 0; at < len(f.nodes); at += f.size[at] {
		trees = append(trees, f.place(at, o))
	}
	p := pack(trees, o)
	p.Boxes = make([]Box, len(f.nodes))
	for k, t := range trees {
		for at := t.at; at < t.at+f.size[t.at]; at++ {
			p.Boxes[at] = Box{X: f.box[at].X + trees[k].x, Y: f.box[at].Y + trees[k].y}
		}
	}
	return p
}

// forest is all cards by their number in preorder.
type forest struct {
	nodes  []*Node
	parent []int
	depth  []int
	// size is the number of cards of a subtree.
	size []int
	box  []Box
	// steps counts comparisons of outlines, for a test of how the work grows.
	steps int
}

func newForest(roots []*Node) *forest {
	type open struct {
		node   *Node
		parent int
	}
	f := &forest{}
	var todo []open
	push := func(nodes []*Node, parent int) {
		for _, n := range slices.Backward(nodes) {
			todo = append(todo, open{n, parent})
		}
	}
	push(roots, -1)
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		at, depth := len(f.nodes), 0
		if next.parent >= 0 {
			depth = f.depth[next.parent] + 1
		}
		f.nodes, f.parent, f.depth, f.size = append(f.nodes, next.node), append(f.parent, next.parent), append(f.depth, depth), append(f.size, 1)
		push(next.node.Children, at)
	}
	for at := len(f.nodes) - 1; at > 0; at-- {
		if f.parent[at] >= 0 {
			f.size[f.parent[at]] += f.size[at]
		}
	}
	f.box = make([]Box, len(f.nodes))
	return f
}

// outline is the upper and the lower border of a subtree, a number for each depth, the deepest
// first: so a parent is added at the end. shift is to be added to all of them.
type outline struct {
	top, bottom []int
	shift       int
}

// place lays out the tree whose root is at, with its left upper corner at 0, 0.
func (f *forest) place(at int, o Options) tree {
	t := tree{at: at}
	end := at + f.size[at]
	t.width = f.columns(at, end, o)
	// Until all is known, Y is that of a card below the upper border of its parent.
	outlines := make([]*outline, end-at)
	for v := end - 1; v >= at; v-- {
		outlines[v-at] = f.join(v, at, outlines, o)
	}
	all := outlines[0]
	least, most := 0, 0
	for i := range all.top {
		least, most = min(least, all.top[i]+all.shift), max(most, all.bottom[i]+all.shift)
	}
	t.height = most - least
	f.box[at].Y = -least
	for v := at + 1; v < end; v++ {
		f.box[v].Y += f.box[f.parent[v]].Y
	}
	return t
}

// columns gives every card of a tree its X, and returns the width of all.
func (f *forest) columns(at, end int, o Options) int {
	var widest []int
	for v := at; v < end; v++ {
		if f.depth[v] == len(widest) {
			widest = append(widest, 0)
		}
		widest[f.depth[v]] = max(widest[f.depth[v]], f.nodes[v].Width)
	}
	columnX := make([]int, len(widest)+1)
	for d, w := range widest {
		columnX[d+1] = columnX[d] + w + o.Across
	}
	for v := at; v < end; v++ {
		f.box[v].X = columnX[f.depth[v]]
	}
	return columnX[len(widest)] - o.Across
}

// join puts the children of v below each other and v beside them; their outlines become its own.
func (f *forest) join(v, root int, outlines []*outline, o Options) *outline {
	height := f.nodes[v].Height
	first := v + 1
	if f.size[v] == 1 {
		return &outline{top: []int{0}, bottom: []int{height}}
	}
	var sum *outline
	last := first
	for c := first; c < v+f.size[v]; c += f.size[c] {
		next := outlines[c-root]
		outlines[c-root] = nil
		if sum == nil {
			sum = next
		} else {
			f.box[c].Y = f.clearance(sum, next, o.Between)
			next.shift += f.box[c].Y
			sum = merge(sum, next)
		}
		last = c
	}
	// The first child is at 0: the parent is where the middle of first and last is.
	up := (f.box[last].Y+f.nodes[last].Height)>>1 - height>>1
	for c := first; c < v+f.size[v]; c += f.size[c] {
		f.box[c].Y -= up
	}
	sum.shift -= up
	sum.top, sum.bottom = append(sum.top, -sum.shift), append(sum.bottom, height-sum.shift)
	return sum
}

// clearance returns how far down next has to go to be clear of what is above it.
func (f *forest) clearance(above, next *outline, between int) int {
	a, n := len(above.bottom), len(next.top)
	down := above.bottom[a-1] + above.shift - next.top[n-1] - next.shift
	for i := 2; i <= min(a, n); i++ {
		f.steps++
		down = max(down, above.bottom[a-i]+above.shift-next.top[n-i]-next.shift)
	}
	return down + between
}

// merge makes one outline of two that stand one above the other. The numbers of the deeper one are
// kept, so that it takes no longer than the shallower one is deep.
func merge(above, next *outline) *outline {
	deep, flat := above, next
	if len(next.top) > len(above.top) {
		deep, flat = next, above
	}
	d, n := len(deep.top), len(flat.top)
	to, from, shift := deep.bottom, flat.bottom, flat.shift-deep.shift
	if deep == next {
		to, from = deep.top, flat.top
	}
	for i := 1; i <= n; i++ {
		to[d-i] = from[n-i] + shift
	}
	return deep
}
