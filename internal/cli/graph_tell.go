package cli

import (
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

// tellStack says on stderr what the answer has no place for.
func (o *graphOptions) tellStack(r *app.GraphResult) {
	g, stack, problems := r.Graph, r.Stack, r.Problems
	o.tellProblems(stack, problems)
	if !o.human() || o.problems {
		return
	}
	list := func(label string, ids []graph.ID) {
		var names []string
		for _, id := range ids {
			names = append(names, safe(g.Ref(id).String()))
		}
		if len(names) > 0 {
			fmt.Fprintf(o.env.ErrOut, "%s by: %s\n", label, strings.Join(names, ", "))
		}
	}
	if !o.up {
		list("owned", stack.OwnersOutside())
		list("managed", stack.Managers())
	}
	for _, id := range stack.Roots() {
		if r := g.Ref(id); r.Group == "" && r.Kind == "Namespace" {
			fmt.Fprintf(o.env.ErrOut, "hint: a namespace is not a stack; show what is in it: kubectl sysop graph deployments -n %s\n", safe(r.Name))
		}
	}
	if o.env.Talk {
		o.tellSize(stack, problems)
	}
}

// tellSize says how many objects are shown, and what is not.
func (o *graphOptions) tellSize(stack *graph.Stack, problems []graph.Problem) {
	rim := 0
	for _, id := range stack.Members() {
		if stack.Boundary(id) {
			rim++
		}
	}
	fmt.Fprintf(o.env.ErrOut, "%d objects", len(stack.Members())-rim)
	if rim > 0 && !o.boundary {
		fmt.Fprintf(o.env.ErrOut, ", %d more at the boundary (--show-boundary)", rim)
	}
	if notes := len(problems) - count(problems, serious); notes > 0 {
		fmt.Fprintf(o.env.ErrOut, ", %s (--problems)", plural(notes, "note"))
	}
	fmt.Fprintln(o.env.ErrOut)
}
