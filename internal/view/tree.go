package view

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// LeastName is how much of a name is left where it is cut: the end of its kind,
// and enough of its tail to tell a pod from its siblings.
const LeastName = 24

// LeastWhy is how much evidence is left where it is cut.
const LeastWhy = 32

// treeView lays the lines of a stack out, in the order in which they are read.
type treeView struct {
	*stackView
	placed map[graph.ID]bool
	behind map[graph.ID]graph.Edge
}

func (v *stackView) tree() *Tree {
	t := &Tree{Columns: []Column{{Name: "OBJECT", Truncate: Middle, MinWidth: LeastName}, {Name: "RELATION", DropOrder: 1}, {Name: "VIA", DropOrder: 2}}}
	if v.o.Why {
		t.Columns = append(t.Columns, Column{Name: "WHY", Truncate: Middle, MinWidth: LeastWhy, OwnLine: true})
	}
	tv := treeView{v, map[graph.ID]bool{}, map[graph.ID]graph.Edge{}}
	for _, b := range v.s.Forest() {
		if l := tv.line(b, b, 0); l != nil {
			t.Roots = append(t.Roots, l)
		}
	}
	return t
}

// line returns the line of a branch, or nil where neither it nor anything below
// is shown.
func (v *treeView) line(b, above *graph.Branch, depth int) *TreeRow {
	e := b.Edge
	if b.How == graph.ServedBelow && e.Relation == 0 {
		e = v.servedBy(above.ID)
	}
	l := &TreeRow{Name: Cell{Text: v.names.text(b.ID)}, Mark: v.mark(b)}
	l.Cells = []Cell{{Surely(b.How.String(), e), Plain}, {e.Via.String(), Faint}}
	if v.o.Why {
		l.Cells = append(l.Cells, Cell{evidenceText(e), Faint})
	}
	for _, branch := range b.Children {
		child := v.line(branch, b, depth+1)
		switch {
		case child == nil:
		case v.o.Depth > 0 && depth >= v.o.Depth:
			l.Hidden += 1 + child.count()
		default:
			l.Children = append(l.Children, child)
		}
	}
	if v.s.Boundary(b.ID) || !v.wants(b.ID) {
		l.Name.Tone = Faint
	}
	mine := v.wants(b.ID) && (v.o.Boundary || !v.s.Boundary(b.ID))
	if !mine && len(l.Children) == 0 && l.Hidden == 0 && b.How != graph.Root {
		return nil
	}
	return l
}

// count is how many lines are below, drawn or not.
func (l *TreeRow) count() int {
	n := l.Hidden
	for _, b := range l.Children {
		n += 1 + b.count()
	}
	return n
}

// mark also says, of what has its place in another root's tree, where that is.
func (v *treeView) mark(b *graph.Branch) Cell {
	m := mark(v.g.State(b.ID), v.s.Shared(b.ID))
	switch {
	case !b.Repeated:
		v.placed[b.ID] = true
		return m
	case m.Text == "":
		m.Tone = Faint
	default:
		m.Text += " "
	}
	if v.placed[b.ID] {
		m.Text += "(see above)"
	} else {
		m.Text += "(see below)"
	}
	return m
}

// servedBy is the evidence for what stands behind a Service: what that serves.
func (v *treeView) servedBy(id graph.ID) graph.Edge {
	if e, ok := v.behind[id]; ok {
		return e
	}
	var found graph.Edge
	for e := range v.g.Out(id) {
		if e.Relation == relation.Serves && v.s.Has(e.To) {
			found = e
			break
		}
	}
	// Whether it is a guess is said of the whole and not of its first pod.
	found.Inferred, found.Optional = false, false
	v.behind[id] = found
	return found
}

func evidenceText(e graph.Edge) string {
	if e.Relation == 0 {
		return ""
	}
	return e.Why()
}
