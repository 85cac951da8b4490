package cli

import (
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// checkShown says how much is shown: of one subject every finding, of many the scores first,
// unless all is asked for.
func checkShown(c *app.CheckRun, all bool) view.CheckOptions {
	return view.CheckOptions{Namespace: c.Home, All: all, Summary: c.Targets.Everything && !all, Version: buildVersion()}
}

// tellCheck sums up on stderr, for people.
func (o *checkOptions) tellCheck(c *app.CheckRun, r *check.Report) {
	if !o.human() {
		return
	}
	if len(r.Subjects) == 0 {
		message := "no operators and no stacks found"
		if len(c.Targets.Roots) > 0 {
			message = "there is no " + strings.Join(o.args, ", ")
			if o.selector != "" {
				message += " with the labels " + o.selector
			}
		}
		fmt.Fprintln(o.env.ErrOut, "nothing to check: "+safe(message))
		return
	}
	for i := range r.Malformed {
		fmt.Fprintf(o.env.ErrOut, "warning: %s: annotation %s: %s\n", safe(r.Malformed[i].Object.String()), check.WaiveAnnotation, safe(r.Malformed[i].Why))
	}
	for i := range r.Unused {
		w := &r.Unused[i].Waiver
		fmt.Fprintf(o.env.ErrOut, "warning: %s: the waiver of %s is not used: %s\n", safe(w.Origin), safe(w.Rule), safe(r.Unused[i].Why))
	}
	var parts []string
	for _, s := range check.Severities() {
		if n := r.Scores.Found[s]; n > 0 {
			parts = append(parts, plural(n, s.String()))
		}
	}
	if len(parts) == 0 {
		parts = []string{"no findings"}
	}
	fmt.Fprintf(o.env.ErrOut, "%s: %s\n", plural(len(r.Subjects), "subject"), strings.Join(parts, ", "))
}
