package view

import (
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// StackOptions say what of a stack is shown.
type StackOptions struct {
	// Depth is how many levels below a root the tree has; 0 is all of them.
	Depth int
	// Kinds shows only these (and, in the tree, what leads to them).
	Kinds func(object.Ref) bool
	// Boundary shows the boundaries of the stack, for people; a document always does.
	Boundary bool
	// Why adds the evidence to the tree.
	Why bool
	// Namespace is that of the user: objects of others are shown with theirs.
	Namespace string
	// Problems are those of the stack, for a document (graph.Stack.Diagnose).
	Problems []graph.Problem
	// Shape is the one that is wanted, since each takes time on a large stack; 0 is
	// all of them.
	Shape Shape
}

// Stack returns the answer of the graph command.
func Stack(s *graph.Stack, o StackOptions) Output {
	v := stackView{s: s, g: s.Graph(), o: o, names: newNames(s.Graph(), o.Namespace, s.Members()), roots: map[graph.ID]bool{}}
	for _, id := range s.Roots() {
		v.roots[id] = true
	}
	for _, id := range s.Members() {
		if v.wants(id) || v.roots[id] { // A document names its roots, so it holds them.
			v.all = append(v.all, id)
		}
		if v.wants(id) && (o.Boundary || !s.Boundary(id)) {
			v.shown = append(v.shown, id)
		}
	}
	return v.answer()
}

func (v *stackView) answer() Output {
	var a Output
	if v.o.Shape.has(TreeShape) {
		a.Tree = v.tree()
	}
	if v.o.Shape.has(TableShape) {
		a.Table = v.table()
	}
	if v.o.Shape.has(NamesShape) {
		a.Names = v.ids()
	}
	if !v.o.Shape.has(WideShape) && !v.o.Shape.has(DiagramShape) && !v.o.Shape.has(DocumentShape) {
		return a
	}
	doc := v.document()
	if v.o.Shape.has(DocumentShape) {
		a.Document = doc
	}
	if v.o.Shape.has(WideShape) {
		a.Wide = v.wide(doc.Edges)
	}
	if v.o.Shape.has(DiagramShape) {
		a.Diagram = v.net(doc.Edges)
	}
	return a
}

func (v *stackView) ids() []string {
	ids := make([]string, 0, len(v.shown))
	for _, id := range v.shown {
		ids = append(ids, v.g.Ref(id).String())
	}
	return ids
}

type stackView struct {
	s     *graph.Stack
	g     *graph.Graph
	o     StackOptions
	names names
	roots map[graph.ID]bool
	all   []graph.ID // with boundaries
	shown []graph.ID // without, unless o.Boundary
}

func (v *stackView) wants(id graph.ID) bool { return v.o.Kinds == nil || v.o.Kinds(v.g.Ref(id)) }

func (v *stackView) document() GraphDocument {
	doc := GraphDocument{Head: HeadOf("Graph")}
	for _, id := range v.s.Roots() {
		doc.Roots = append(doc.Roots, v.g.Ref(id).String())
	}
	ids := make(map[graph.ID]string, len(v.all)) // Edges share the texts.
	doc.Nodes = make([]NodeDocument, 0, len(v.all))
	for _, id := range v.all {
		n := nodeDocument(v.g, id)
		n.Boundary, n.Shared, n.Provenance = v.s.Boundary(id), v.s.Shared(id), v.s.Provenance(id)
		doc.Nodes = append(doc.Nodes, n)
		ids[id] = n.ID
	}
	edges := v.s.Edges()
	doc.Edges = make([]EdgeDocument, 0, len(edges))
	for _, e := range edges {
		if from, to := ids[e.From], ids[e.To]; from != "" && to != "" {
			doc.Edges = append(doc.Edges, edgeBetween(e, from, to))
		}
	}
	for _, id := range slices.Concat(v.s.OwnersOutside(), v.s.Managers()) {
		doc.Context = append(doc.Context, nodeDocument(v.g, id))
	}
	doc.Problems = v.o.Problems
	doc.Gaps = v.g.Gaps()
	return doc
}

func (v *stackView) table() *Table {
	c := ColumnsOf[graph.ID]{
		{Column: Column{Name: "NAMESPACE", DropOrder: 1, Truncate: Middle, MinWidth: 12}, Value: AsText(func(id graph.ID) string { return v.g.Ref(id).Namespace })},
		{Column: Column{Name: "OBJECT", Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(id graph.ID) string {
			r := v.g.Ref(id)
			return object.Ref{Group: r.Group, Kind: r.Kind, Name: r.Name}.String()
		})},
		{Column: Column{Name: "STATE"}, Value: func(id graph.ID) Cell {
			state := v.g.State(id)
			return Cell{state.String(), mark(state, false).Tone}
		}},
		{Column: Column{Name: "SHARED", DropOrder: 2}, Value: AsText(func(id graph.ID) string { return yes(v.s.Shared(id)) })},
		{Column: Column{Name: "BOUNDARY", DropOrder: 3}, Value: AsText(func(id graph.ID) string { return yes(v.s.Boundary(id)) })},
	}
	if !v.o.Boundary {
		c = c.withoutNamed("BOUNDARY")
	}
	return c.Table(v.shown)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

// wide has a row for every edge.
func (v *stackView) wide(edges []EdgeDocument) *Table {
	return ColumnsOf[EdgeDocument]{
		{Column: Column{Name: "FROM"}, Value: AsText(func(e EdgeDocument) string { return e.From })},
		{Column: Column{Name: "RELATION"}, Value: AsText(func(e EdgeDocument) string { return e.Relation })},
		{Column: Column{Name: "TO"}, Value: AsText(func(e EdgeDocument) string { return e.To })},
		{Column: Column{Name: "VIA"}, Value: AsText(func(e EdgeDocument) string { return e.Via })},
		{Column: Column{Name: "RULE"}, Value: AsText(func(e EdgeDocument) string { return e.Rule })},
		{Column: Column{Name: "NOTE"}, Value: AsText(note)},
		{Column: Column{Name: "WHY"}, Value: AsText(func(e EdgeDocument) string { return e.Why })},
	}.wideTable(v.visible(edges))
}

func note(e EdgeDocument) string {
	var words []string
	if e.Optional {
		words = append(words, "optional")
	}
	if e.Inferred {
		words = append(words, "inferred")
	}
	return strings.Join(words, ",")
}

// visible are the edges between nodes that people are shown.
func (v *stackView) visible(edges []EdgeDocument) []EdgeDocument {
	in := make(map[string]bool, len(v.shown))
	for _, id := range v.shown {
		in[v.g.Ref(id).String()] = true
	}
	return slices.DeleteFunc(slices.Clone(edges), func(e EdgeDocument) bool { return !in[e.From] || !in[e.To] })
}

func (v *stackView) net(edges []EdgeDocument) *Diagram {
	n := &Diagram{}
	for _, id := range v.shown {
		r := v.g.Ref(id)
		mark := mark(v.g.State(id), v.s.Shared(id))
		n.Nodes = append(n.Nodes, DiagramNode{
			ID: r.String(), Kind: r.Kind, Name: r.Name, Namespace: r.Namespace, Tone: mark.Tone, Note: mark.Text,
			Root: v.roots[id], Boundary: v.s.Boundary(id),
		})
	}
	type pair struct{ from, to, relation string }
	seen := map[pair]bool{}
	for _, e := range v.visible(edges) {
		key := pair{e.From, e.To, e.Relation}
		if seen[key] {
			continue
		}
		seen[key] = true
		n.Edges = append(n.Edges, DiagramEdge{From: e.From, To: e.To, Label: e.Relation, Dashed: e.Inferred})
	}
	return n
}
