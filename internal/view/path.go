package view

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Path returns the answer of the path command.
func Path(g *graph.Graph, from, to graph.ID, steps []graph.Step, found bool) Output {
	doc := PathDocument{Head: HeadOf("Path"), From: g.Ref(from).String(), To: g.Ref(to).String(), Found: found, Gaps: g.Gaps()}
	var ids []graph.ID
	if found {
		ids = append(ids, from)
	}
	net := &Diagram{}
	for _, s := range steps {
		e := edgeDocument(g, s.Edge)
		doc.Steps = append(doc.Steps, StepDocument{e, s.Against})
		ids = append(ids, reached(s))
		net.Edges = append(net.Edges, DiagramEdge{From: e.From, To: e.To, Label: e.Relation, Dashed: e.Inferred})
	}
	all := []string{}
	for i, id := range ids {
		r, m := g.Ref(id), mark(g.State(id), false)
		all = append(all, r.String())
		net.Nodes = append(net.Nodes, DiagramNode{ID: r.String(), Kind: r.Kind, Name: r.Name, Namespace: r.Namespace, Tone: m.Tone, Note: m.Text, Root: i == 0 || i == len(ids)-1})
	}
	table := pathTable(g, ids, steps)
	return Output{Tree: pathTree(g, ids, steps), Table: table, Wide: table, Diagram: net, Document: doc, Names: all}
}

// reached is the node to which a step leads.
func reached(s graph.Step) graph.ID {
	if s.Against {
		return s.Edge.From
	}
	return s.Edge.To
}

// pathTable has a row for each object, with the step that leads to it from the row above. It
// marks missing objects.
func pathTable(g *graph.Graph, ids []graph.ID, steps []graph.Step) *Table {
	t := &Table{Columns: []Column{
		{Name: "OBJECT", Truncate: Middle, MinWidth: 32},
		{Name: "RELATION"},
		{Name: "VIA", DropOrder: 2},
		{Name: "WHY", DropOrder: 1, Truncate: Middle, MinWidth: LeastWhy},
	}}
	if len(ids) == 0 {
		return t
	}
	n := newNames(g, g.Ref(ids[0]).Namespace, ids)
	for i, id := range ids {
		m := mark(g.State(id), false)
		object := Cell{n.text(id), m.Tone}
		if m.Text != "" {
			object.Text += " " + m.Text
		}
		row := []Cell{object, {}, {}, {}}
		if i > 0 {
			s := steps[i-1]
			row[1], row[2], row[3] = Cell{arrow(s), Plain}, Cell{s.Edge.Via.String(), Faint}, Cell{s.Edge.Why(), Faint}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// pathTree is a branch of a line an object, each under the one from which a step
// leads to it.
func pathTree(g *graph.Graph, ids []graph.ID, steps []graph.Step) *Tree {
	t := &Tree{Columns: []Column{
		{Name: "OBJECT", Truncate: Middle, MinWidth: LeastName},
		{Name: "RELATION", DropOrder: 1},
		{Name: "VIA", DropOrder: 2},
		{Name: "WHY", Truncate: Middle, MinWidth: LeastWhy, OwnLine: true},
	}}
	if len(ids) == 0 {
		return t
	}
	n := newNames(g, g.Ref(ids[0]).Namespace, ids)
	at := &TreeRow{Name: Cell{Text: n.text(ids[0])}, Mark: mark(g.State(ids[0]), false)}
	t.Roots = []*TreeRow{at}
	for i, s := range steps {
		id := ids[i+1]
		next := &TreeRow{Name: Cell{Text: n.text(id)}, Mark: mark(g.State(id), false)}
		next.Cells = []Cell{{Surely(walked(s), s.Edge), Plain}, {s.Edge.Via.String(), Faint}, {s.Edge.Why(), Faint}}
		at.Children = []*TreeRow{next}
		at = next
	}
	return t
}

// walked is the relation as it reads from the line above.
func walked(s graph.Step) string {
	if !s.Against {
		return s.Edge.Relation.String()
	}
	switch s.Edge.Relation {
	case relation.Owns:
		return graph.OwnedBy.String()
	case relation.Needs:
		return graph.NeededBy.String()
	}
	return graph.ServesParent.String()
}

// arrow reads from the row above to this one.
func arrow(s graph.Step) string {
	if s.Against {
		return Surely("←"+s.Edge.Relation.String()+"─", s.Edge)
	}
	return Surely("─"+s.Edge.Relation.String()+"→", s.Edge)
}
