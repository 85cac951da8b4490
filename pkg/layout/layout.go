// Package layout places the cards of a graph: a tidy forest, its trees packed to the shape of a
// window. ui/src/layout.ts is the same in TypeScript, and testdata/ holds both to equal
// coordinates. All numbers are integers, so that no rounding can part them.
package layout

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

// Placed is a layout: the boxes in preorder of the roots, and how large all is.
type Placed struct {
	Boxes         []Box
	Width, Height int
}
