package view

import "github.com/kubectl-sysop/kubectl-sysop/pkg/graph"

// Problems returns what is wrong with a stack as an answer of its own. namespace
// is that of the user, as in StackOptions.
func Problems(s *graph.Stack, problems []graph.Problem, namespace string) Output {
	doc := ProblemsDocument{Head: Head{APIVersion, "Problems"}, Roots: refs(s.Graph(), s.Roots()), Problems: problemDocuments(problems), Gaps: none(s.Graph().Gaps())}
	a := Output{Document: doc, Names: []string{}, Tree: &Tree{}, Table: &Table{}, Wide: &Table{}}
	a.Tree.Columns = []Column{{Name: "SEVERITY", MinWidth: len("SEVERITY")}, {Name: "OBJECT", Truncate: Middle, MinWidth: leastName}, {Name: "REASON", DropOrder: 1}, {Name: "MESSAGE", OwnLine: true}}
	a.Table.Columns = []Column{{Name: "SEVERITY"}, {Name: "OBJECT", Truncate: Middle, MinWidth: leastName}, {Name: "REASON", DropOrder: 1}, {Name: "MESSAGE", Truncate: End, MinWidth: leastWhy}}
	a.Wide.Columns = []Column{{Name: "SEVERITY"}, {Name: "OBJECT"}, {Name: "REASON"}, {Name: "RELATED"}, {Name: "FIELD"}, {Name: "MESSAGE"}}
	n := newNames(s.Graph(), namespace, s.Members())
	named := map[string]bool{}
	for i, p := range doc.Problems {
		severity := Cell{p.Severity, toneOf(problems[i].Severity)}
		object := Cell{p.Object, Plain}
		if id, ok := s.Graph().Find(problems[i].Object); ok {
			object.Text = n.text(id)
		}
		reason, message := Cell{p.Reason, Plain}, Cell{p.Message, Plain}
		a.Tree.Roots = append(a.Tree.Roots, &TreeRow{Name: severity, Cells: []Cell{object, reason, message}})
		a.Table.Rows = append(a.Table.Rows, []Cell{severity, object, reason, message})
		a.Wide.Rows = append(a.Wide.Rows, []Cell{severity, {p.Object, Plain}, reason, {p.Related, Plain}, {p.Field, Plain}, message})
		if !named[p.Object] {
			named[p.Object] = true
			a.Names = append(a.Names, p.Object)
		}
	}
	return a
}

func problemDocuments(problems []graph.Problem) []ProblemDocument {
	out := make([]ProblemDocument, 0, len(problems))
	for _, p := range problems {
		d := ProblemDocument{Object: p.Object.String(), Severity: p.Severity.String(), Reason: p.Reason, Message: p.Message, Field: p.Field}
		if p.Related.Kind != "" {
			d.Related = p.Related.String()
		}
		out = append(out, d)
	}
	return out
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
