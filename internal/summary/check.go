package summary

import (
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Check counts findings, and says what is wrong with waivers. args and selector are what was asked
// about.
func Check(c *app.CheckRun, r *check.Report, args []string, selector string) (lines []string) {
	if len(r.Subjects) == 0 {
		message := "no operators and no stacks found"
		if len(c.Targets.Roots) > 0 {
			message = "there is no " + strings.Join(args, ", ")
			if selector != "" {
				message += " with the labels " + selector
			}
		}
		return []string{"nothing to check: " + message}
	}
	for i := range r.Malformed {
		lines = append(lines, fmt.Sprintf("warning: %s: annotation %s: %s", r.Malformed[i].Object.String(), check.WaiveAnnotation, r.Malformed[i].Why))
	}
	for i := range r.Unused {
		w := &r.Unused[i].Waiver
		lines = append(lines, fmt.Sprintf("warning: %s: the waiver of %s is not used: %s", w.Origin, w.Rule, r.Unused[i].Why))
	}
	var parts []string
	for _, s := range check.Severities() {
		if n := r.Scores.Found[s]; n > 0 {
			parts = append(parts, object.Count(n, s.String()))
		}
	}
	if len(parts) == 0 {
		parts = []string{"no findings"}
	}
	return append(lines, fmt.Sprintf("%s: %s", object.Count(len(r.Subjects), "subject"), strings.Join(parts, ", ")))
}
