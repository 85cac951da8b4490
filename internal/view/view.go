// Package view turns results into trees, tables, diagrams of nodes and edges, and
// documents for machines; package render writes them. It knows no colour, no escape code and no
// markup; text from the cluster is handed on as it is, for a format to escape.
package view

import "github.com/kubectl-sysop/kubectl-sysop/internal/uistate"

// Output is what a command has to show, in the shapes that it has. A format
// takes the shape that it is made for.
type Output struct {
	Tree     *Tree
	Table    *Table
	Wide     *Table
	Diagram  *Diagram
	Page     *Page
	Document any
	Names    []string
	// CSV is for spreadsheets; Focus is a FOCUS file for FinOps tools.
	CSV   *CSVTable
	Focus *CSVTable
	// Families are for Prometheus.
	Families []Family
	// Findings are for tools that collect what checkers find.
	Findings *Findings
	// UIState is for drawings, and for the page.
	UIState *uistate.State
	// Invoice is a page for those who pay.
	Invoice *Invoice
}

// Shape is one of the forms that an answer may have.
type Shape uint8

// The shapes.
const (
	TreeShape Shape = iota + 1
	TableShape
	WideShape
	DiagramShape
	DocumentShape
	NamesShape
	PageShape
	CSVShape
	FocusShape
	FamiliesShape
	FindingsShape
	UIShape
)

// has says whether an answer of the shape s, or of any where s is 0, holds another shape.
func (s Shape) has(other Shape) bool { return s == 0 || s == other }

// Tone says what a piece of text means, so that a format may show it by colour
// besides the word.
type Tone uint8

// The tones, from the mildest to the one that matters most.
const (
	Plain Tone = iota
	Faint
	Good
	Warn
	Bad
)

// Cell is a piece of text.
type Cell struct {
	Text string
	Tone Tone
}

// Cut says where the text of a column may be cut.
type Cut uint8

// The cuts.
const (
	// Whole text is never cut: the column goes instead.
	Whole Cut = iota
	// Middle leaves head and tail, for names and field paths: siblings differ at
	// their ends.
	Middle
	// End leaves the head, for messages.
	End
)

// Column is the head of a column. Where there is no room for all, text is cut
// down to Least; then those of the highest Drop go first; 0 stays.
type Column struct {
	Name      string
	DropOrder int
	Truncate  Cut
	// MinWidth is the width below which cut text says nothing. In the first column of
	// a tree it is that of the name alone.
	MinWidth int
	// Right aligns numbers.
	Right bool
	// OwnLine moves the cells of a tree to lines of their own, each under its line,
	// where there is no room beside.
	OwnLine bool
	// Wrap breaks text that stands under its line at blanks, where it is too long for one.
	Wrap bool
}

// Tree is a forest with columns. The first column is the name of a line.
type Tree struct {
	Columns []Column
	Roots   []*TreeRow
}

// TreeRow is a line of a tree.
type TreeRow struct {
	// Name is cut in its middle where there is no room.
	Name Cell
	// Mark follows the name and is never cut: missing, shared.
	Mark     Cell
	Cells    []Cell
	Children []*TreeRow
	// Hidden is how many lines are left out below.
	Hidden int
}

// Table is rows under columns.
type Table struct {
	Columns []Column
	Rows    [][]Cell
}

// Diagram is nodes and edges, for drawing.
type Diagram struct {
	Nodes []DiagramNode
	Edges []DiagramEdge
}

// DiagramNode is a node of a drawing.
type DiagramNode struct {
	ID        string
	Kind      string
	Name      string
	Namespace string
	Tone      Tone
	// Note is a word about it: missing, shared.
	Note     string
	Root     bool
	Boundary bool // a boundary
}

// DiagramEdge is an edge of a drawing, by the IDs of its ends.
type DiagramEdge struct {
	From, To string
	Label    string
	// Dashed is how an inferred edge is drawn.
	Dashed bool
}
