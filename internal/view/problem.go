package view

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

// Problems returns the problems of a stack as an answer of its own. namespace is that of the
// user, as in StackOptions.
func Problems(s *graph.Stack, problems []graph.Problem, namespace string) Output {
	g := s.Graph()
	n := newNames(g, namespace, s.Members())
	rows := make([]*graph.Problem, 0, len(problems))
	names := []string{}
	for i := range problems {
		p := &problems[i]
		rows = append(rows, p)
		if name := p.Object.String(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	c := ColumnsOf[*graph.Problem]{
		{Column: Column{Name: "SEVERITY", MinWidth: len("SEVERITY")}, Value: func(p *graph.Problem) Cell { return Cell{p.Severity.String(), toneOf(p.Severity)} }},
		{Column: Column{Name: "OBJECT", Truncate: Middle, MinWidth: LeastName}, in: tableOnly, Value: AsText(func(p *graph.Problem) string {
			if id, ok := g.Find(p.Object); ok {
				return n.text(id)
			}
			return p.Object.String()
		})},
		{Column: Column{Name: "OBJECT"}, in: wideOnly, Value: AsText(func(p *graph.Problem) string { return p.Object.String() })},
		{Column: Column{Name: "REASON", DropOrder: 1}, Value: AsText(func(p *graph.Problem) string { return p.Reason })},
		{Column: Column{Name: "RELATED"}, in: wideOnly, Value: AsText(func(p *graph.Problem) string { return refID(p.Related) })},
		{Column: Column{Name: "FIELD"}, in: wideOnly, Value: AsText(func(p *graph.Problem) string { return p.Field })},
		{Column: Column{Name: "MESSAGE", OwnLine: true, Truncate: End, MinWidth: LeastWhy}, Value: AsText(func(p *graph.Problem) string { return p.Message })},
	}
	doc := ProblemsDocument{Head: HeadOf("Problems"), Roots: refs(g, s.Roots()), Problems: problems, Gaps: g.Gaps()}
	return Output{Document: doc, Names: names, Tree: c.tree(rows), Table: c.Table(rows), Wide: c.wideTable(rows)}
}

func toneOf(s graph.Severity) Tone {
	switch s {
	case graph.Error:
		return Bad
	case graph.Warning:
		return Warn
	}
	return Faint
}
