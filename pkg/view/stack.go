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
	// Boundary shows what the stack stands on, for people; a document always does.
	Boundary bool
	// Why adds the evidence to the tree.
	Why bool
	// Namespace is that of the user: objects of others are shown with theirs.
	Namespace string
}

// Stack returns the answer of the graph command.
func Stack(s *graph.Stack, o StackOptions) Answer {
	v := stackView{s: s, g: s.Graph(), o: o}
	v.groups = v.ambiguous()
	for _, id := range s.Members() {
		if o.Kinds == nil || o.Kinds(v.g.Ref(id)) {
			v.all = append(v.all, id)
			if o.Boundary || !s.Boundary(id) {
				v.shown = append(v.shown, id)
			}
		}
	}
	doc := v.document()
	names := make([]string, 0, len(v.shown))
	for _, id := range v.shown {
		names = append(names, v.g.Ref(id).String())
	}
	return Answer{Tree: v.tree(), Table: v.table(), Wide: v.wide(doc.Edges), Net: v.net(doc.Edges), Document: doc, Names: names}
}

type stackView struct {
	s      *graph.Stack
	g      *graph.Graph
	o      StackOptions
	all    []graph.ID      // with boundaries
	shown  []graph.ID      // without, unless asked for
	groups map[string]bool // kinds that need their group to be told apart
}

// ambiguous returns the kinds that more than one group has in the stack.
func (v *stackView) ambiguous() map[string]bool {
	group := map[string]string{}
	out := map[string]bool{}
	for _, id := range v.s.Members() {
		r := v.g.Ref(id)
		if first, ok := group[r.Kind]; ok && first != r.Group {
			out[r.Kind] = true
		}
		group[r.Kind] = r.Group
	}
	return out
}

func (v *stackView) label(id graph.ID) string {
	r := v.g.Ref(id)
	kind := r.Kind
	if v.groups[kind] && r.Group != "" {
		kind += "." + r.Group
	}
	if r.Namespace != "" && r.Namespace != v.o.Namespace {
		return kind + "/" + r.Namespace + "/" + r.Name
	}
	return kind + "/" + r.Name
}

// mark is the word that follows a name.
func (v *stackView) mark(id graph.ID) Cell {
	switch v.g.State(id) {
	case graph.Missing:
		return Cell{"✖ missing", Bad}
	case graph.Unread:
		return Cell{"? unread", Warn}
	}
	if v.s.Shared(id) {
		return Cell{"⇄ shared", Plain}
	}
	return Cell{}
}

func (v *stackView) document() GraphDocument {
	doc := GraphDocument{Head: Head{APIVersion, "Graph"}, Nodes: []NodeDocument{}, Edges: []EdgeDocument{}, Problems: []ProblemDocument{}}
	for _, id := range v.s.Roots() {
		doc.Roots = append(doc.Roots, v.g.Ref(id).String())
	}
	in := make(map[graph.ID]bool, len(v.all))
	for _, id := range v.all {
		n := nodeDocument(v.g, id)
		n.Boundary, n.Shared = v.s.Boundary(id), v.s.Shared(id)
		doc.Nodes = append(doc.Nodes, n)
		in[id] = true
	}
	for _, e := range v.s.Edges() {
		if in[e.From] && in[e.To] {
			doc.Edges = append(doc.Edges, edgeDocument(v.g, e))
		}
	}
	for _, id := range v.s.Owners() {
		doc.Context = append(doc.Context, nodeDocument(v.g, id))
	}
	for _, p := range v.g.Problems() {
		if id, ok := v.g.Find(p.Object); ok && v.s.Has(id) {
			doc.Problems = append(doc.Problems, ProblemDocument{p.Object.String(), p.Reason, p.Message})
		}
	}
	doc.Gaps = none(v.g.Gaps())
	return doc
}

func (v *stackView) tree() *Tree {
	t := &Tree{Columns: []Column{{Name: "OBJECT"}, {Name: "RELATION", Drop: 1}, {Name: "VIA", Drop: 2}}}
	if v.o.Why {
		t.Columns = append(t.Columns, Column{Name: "WHY", Drop: 3})
	}
	for _, b := range v.s.Forest() {
		if l := v.line(b, 0); l != nil {
			t.Roots = append(t.Roots, l)
		}
	}
	return t
}

// line returns the line of a branch, or nil where neither it nor anything below
// is shown.
func (v *stackView) line(b *graph.Branch, depth int) *Line {
	l := &Line{Name: Cell{Text: v.label(b.ID)}, Mark: v.mark(b.ID)}
	if b.Again {
		l.Mark = Cell{"(see above)", Faint}
	}
	if v.s.Boundary(b.ID) {
		l.Name.Tone = Faint
	}
	l.Cells = []Cell{{v.how(b), Plain}, {b.Edge.Via.String(), Faint}}
	if v.o.Why {
		l.Cells = append(l.Cells, Cell{why(b.Edge), Faint})
	}
	for _, below := range b.Children {
		child := v.line(below, depth+1)
		switch {
		case child == nil:
		case v.o.Depth > 0 && depth >= v.o.Depth:
			l.Hidden += 1 + child.count()
		default:
			l.Below = append(l.Below, child)
		}
	}
	mine := (v.o.Kinds == nil || v.o.Kinds(v.g.Ref(b.ID))) && (v.o.Boundary || !v.s.Boundary(b.ID))
	if !mine && len(l.Below) == 0 && l.Hidden == 0 && b.How != graph.Root {
		return nil
	}
	return l
}

func (l *Line) count() int {
	n := l.Hidden
	for _, b := range l.Below {
		n += 1 + b.count()
	}
	return n
}

// how is the relation as it reads from the line above.
func (v *stackView) how(b *graph.Branch) string {
	how := b.How.String()
	if b.Edge.Optional {
		how += " (optional)"
	}
	if b.Edge.Inferred {
		how += " (inferred)"
	}
	return how
}

func why(e graph.Edge) string {
	if e.Relation == 0 {
		return ""
	}
	return e.Why()
}

func (v *stackView) table() *Table {
	t := &Table{Columns: []Column{{Name: "NAMESPACE"}, {Name: "OBJECT"}, {Name: "STATE"}, {Name: "SHARED"}}}
	if v.o.Boundary {
		t.Columns = append(t.Columns, Column{Name: "BOUNDARY"})
	}
	for _, id := range v.shown {
		r := v.g.Ref(id)
		state := v.g.State(id)
		tone := map[graph.State]Tone{graph.Present: Plain, graph.Missing: Bad, graph.Unread: Warn}[state]
		row := []Cell{{r.Namespace, Plain}, {object.Ref{Group: r.Group, Kind: r.Kind, Name: r.Name}.String(), Plain}, {state.String(), tone}, {yes(v.s.Shared(id)), Plain}}
		if v.o.Boundary {
			row = append(row, Cell{yes(v.s.Boundary(id)), Plain})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

func (v *stackView) wide(edges []EdgeDocument) *Table {
	t := &Table{Columns: []Column{{Name: "FROM"}, {Name: "RELATION"}, {Name: "TO"}, {Name: "VIA"}, {Name: "RULE"}, {Name: "NOTE"}, {Name: "WHY"}}}
	for _, e := range v.visible(edges) {
		t.Rows = append(t.Rows, []Cell{{e.From, Plain}, {e.Relation, Plain}, {e.To, Plain}, {e.Via, Plain}, {e.Rule, Plain}, {note(e), Plain}, {e.Why, Plain}})
	}
	return t
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

func (v *stackView) net(edges []EdgeDocument) *Net {
	n := &Net{}
	for _, id := range v.shown {
		r := v.g.Ref(id)
		mark := v.mark(id)
		n.Nodes = append(n.Nodes, NetNode{
			ID: r.String(), Kind: r.Kind, Name: r.Name, Namespace: r.Namespace, Tone: mark.Tone, Note: mark.Text,
			Root: slices.Contains(v.s.Roots(), id), Rim: v.s.Boundary(id),
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
		n.Edges = append(n.Edges, NetEdge{From: e.From, To: e.To, Label: e.Relation, Dashed: e.Inferred})
	}
	return n
}
