package cli

import (
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// diagnoses says whether the output or the exit code needs all problems of the stack.
func (o *graphOptions) diagnoses() bool {
	return o.human() || o.output == "json" || o.output == "yaml" || o.problems || o.exitCode
}

func serious(p graph.Problem) bool { return p.Severity <= graph.Warning }

func count[T any](list []T, want func(T) bool) int {
	n := 0
	for _, x := range list {
		if want(x) {
			n++
		}
	}
	return n
}

// tellProblems reports problems beside an answer that does not contain them. With graph formats and
// lists of names it reports wrong owners alone.
func (o *graphOptions) tellProblems(stack *graph.Stack, problems []graph.Problem) {
	if o.problems {
		if len(problems) == 0 {
			fmt.Fprintln(o.env.ErrOut, "no problems found")
		}
		g := stack.Graph()
		if n := count(stack.Members(), func(id graph.ID) bool { return g.State(id) == graph.Unread }); n > 0 {
			fmt.Fprintf(o.env.ErrOut, "%d objects of the stack could not be read\n", n)
		}
		return
	}
	if !o.human() {
		problems = stack.Problems()
	}
	const most = 10
	groups := grouped(problems)
	for i, group := range groups {
		if i == most {
			more := 0
			for _, remaining := range groups[most:] {
				more += len(remaining)
			}
			fmt.Fprintf(o.env.ErrOut, "and %d more: --problems, or -o json\n", more)
			break
		}
		p, suffix := group[0], ""
		if n := len(group) - 1; n > 0 {
			suffix = fmt.Sprintf("; the same for %d more", n)
		}
		fmt.Fprintf(o.env.ErrOut, "%s: %s: %s (%s%s)\n", p.Severity, safe(p.Object.String()), safe(p.Message), safe(p.Reason), suffix)
	}
}

// grouped groups the problems that many objects have with the same other object, such as forty
// Deployments that need a missing Secret. A problem without another object stays alone.
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
		if serious(p) {
			if k.related.Kind != "" && members[k] > maxShown {
				at[k] = len(groups)
			}
			groups = append(groups, []graph.Problem{p})
		}
	}
	return groups
}
