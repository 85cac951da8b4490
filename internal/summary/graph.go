package summary

import (
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// GraphOptions say how the stack of an answer is shown.
type GraphOptions struct {
	// People says that the answer is laid out for people, Terminal that they read it now.
	People, Terminal bool
	// Up, Boundary and ProblemsOnly are the flags of these names.
	Up, Boundary, ProblemsOnly bool
}

// Graph says of a stack what the answer has no place for.
func Graph(r *app.GraphResult, o GraphOptions) []string {
	g, stack := r.Graph, r.Stack
	switch {
	case o.ProblemsOnly:
		return problemsOnly(r)
	case !o.People: // graph formats and lists of names
		return problems(stack.Problems())
	}
	lines := problems(r.Problems)
	list := func(label string, ids []graph.ID) {
		var names []string
		for _, id := range ids {
			names = append(names, g.Ref(id).String())
		}
		if len(names) > 0 {
			lines = append(lines, label+" by: "+strings.Join(names, ", "))
		}
	}
	if !o.Up {
		list("owned", stack.OwnersOutside())
		list("managed", stack.Managers())
	}
	for _, id := range stack.Roots() {
		if ref := g.Ref(id); ref.Group == "" && ref.Kind == "Namespace" {
			lines = append(lines, "hint: a namespace is not a stack; show what is in it: kubectl sysop graph deployments -n "+ref.Name)
		}
	}
	if o.Terminal {
		lines = append(lines, size(r, o))
	}
	return lines
}

// size says how many objects are shown, and what is not.
func size(r *app.GraphResult, o GraphOptions) string {
	members := r.Stack.Members()
	rim := count(members, r.Stack.Boundary)
	text := fmt.Sprintf("%d objects", len(members)-rim)
	if rim > 0 && !o.Boundary {
		text += fmt.Sprintf(", %d more at the boundary (--show-boundary)", rim)
	}
	if notes := count(r.Problems, func(p graph.Problem) bool { return !Serious(p) }); notes > 0 {
		text += fmt.Sprintf(", %s (--problems)", object.Count(notes, "note"))
	}
	return text
}

// Serious says whether a problem is an error or a warning.
func Serious(p graph.Problem) bool { return p.Severity <= graph.Warning }

// problemsOnly says what a list of problems leaves out.
func problemsOnly(r *app.GraphResult) (lines []string) {
	if len(r.Problems) == 0 {
		lines = append(lines, "no problems found")
	}
	if n := count(r.Stack.Members(), func(id graph.ID) bool { return r.Graph.State(id) == graph.Unread }); n > 0 {
		lines = append(lines, fmt.Sprintf("%d objects of the stack could not be read", n))
	}
	return lines
}

// problems reports problems beside an answer that does not contain them.
func problems(all []graph.Problem) (lines []string) {
	const most = 10
	groups := grouped(all)
	for i, group := range groups {
		if i == most {
			more := 0
			for _, remaining := range groups[most:] {
				more += len(remaining)
			}
			return append(lines, fmt.Sprintf("and %d more: --problems, or -o json", more))
		}
		p, suffix := group[0], ""
		if n := len(group) - 1; n > 0 {
			suffix = fmt.Sprintf("; the same for %d more", n)
		}
		lines = append(lines, fmt.Sprintf("%s: %s: %s (%s%s)", p.Severity, p.Object.String(), p.Message, p.Reason, suffix))
	}
	return lines
}

// grouped groups the serious problems that many objects have with the same other object, such as
// forty Deployments that need a missing Secret. A problem without another object stays alone.
func grouped(problems []graph.Problem) [][]graph.Problem {
	type key struct {
		reason   string
		severity graph.Severity
		related  object.Ref
	}
	const maxShown = 3
	members := map[key]int{}
	keyOf := func(p graph.Problem) key { return key{p.Reason, p.Severity, p.Related} }
	for _, p := range problems {
		members[keyOf(p)]++
	}
	var groups [][]graph.Problem
	at := map[key]int{}
	for _, p := range problems {
		k := keyOf(p)
		if i, ok := at[k]; ok {
			groups[i] = append(groups[i], p)
			continue
		}
		if Serious(p) {
			if k.related.Kind != "" && members[k] > maxShown {
				at[k] = len(groups)
			}
			groups = append(groups, []graph.Problem{p})
		}
	}
	return groups
}
