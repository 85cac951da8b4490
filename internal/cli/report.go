package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Warn tells of something that may make the answer wrong or incomplete.
func (c *common) Warn(text string) { fmt.Fprintf(c.env.ErrOut, "warning: %s\n", safe(text)) }

// Note tells of something that explains the answer.
func (c *common) Note(text string) { fmt.Fprintf(c.env.ErrOut, "note: %s\n", safe(text)) }

// Progress tells what is being done; it is for people alone.
func (c *common) Progress(text string) {
	if c.env.Talk {
		fmt.Fprintln(c.env.ErrOut, safe(text))
	}
}

// Timings prints what each stage took.
func (c *common) Timings(text string) { fmt.Fprint(c.env.ErrOut, text) }

// Gaps says what could not be read. Many of one reason become one line.
func (c *common) Gaps(gaps []object.Gap) {
	byReason := map[string][]object.Gap{}
	var reasons []string
	for _, g := range gaps {
		if byReason[g.Reason] == nil {
			reasons = append(reasons, g.Reason)
		}
		byReason[g.Reason] = append(byReason[g.Reason], g)
	}
	const maxShown, shown = 4, 6
	for _, reason := range reasons {
		list := byReason[reason]
		if len(list) <= maxShown {
			for _, g := range list {
				fmt.Fprintf(c.env.ErrOut, "warning: not read: %s%s (%s): %s\n", safe(g.Resource), inNamespace(g.Namespace), safe(reason), safe(g.Message))
			}
			continue
		}
		var names []string
		for _, g := range list {
			names = append(names, safe(g.Resource)+inNamespace(g.Namespace))
		}
		more := ""
		if len(names) > shown {
			names, more = names[:shown], fmt.Sprintf(" and %d more (all of them: %s)", len(names)-shown, cmp.Or(c.allGaps, "-o json"))
		}
		fmt.Fprintf(c.env.ErrOut, "warning: not read (%s): %d resources: %s%s\n", safe(reason), len(list), strings.Join(names, ", "), more)
	}
}

func inNamespace(ns string) string {
	if ns == "" {
		return ""
	}
	return " in " + safe(ns)
}

// safe makes text of the cluster harmless for a terminal.
func safe(s string) string { return render.Escape(s) }
