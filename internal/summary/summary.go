// Package summary has the lines that stand beside an answer, on standard error: what was counted,
// and what the answer has no place for. Its lines hold text of the cluster as it is; who prints
// them escapes it.
package summary

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Gaps says what could not be read. Many of one reason become one line; all is where the reader
// finds each of them (default: -o json).
func Gaps(gaps []object.Gap, all string) (lines []string) {
	const maxShown, shown = 4, 6
	byReason := map[string][]object.Gap{}
	var reasons []string
	for _, g := range gaps {
		if byReason[g.Reason] == nil {
			reasons = append(reasons, g.Reason)
		}
		byReason[g.Reason] = append(byReason[g.Reason], g)
	}
	for _, reason := range reasons {
		list := byReason[reason]
		var names []string
		for _, g := range list {
			names = append(names, g.Resource+in(g.Namespace))
			if len(list) <= maxShown {
				lines = append(lines, fmt.Sprintf("warning: not read: %s%s (%s): %s", g.Resource, in(g.Namespace), reason, g.Message))
			}
		}
		if len(list) <= maxShown {
			continue
		}
		more := ""
		if len(names) > shown {
			names, more = names[:shown], fmt.Sprintf(" and %d more (all of them: %s)", len(names)-shown, cmp.Or(all, "-o json"))
		}
		lines = append(lines, fmt.Sprintf("warning: not read (%s): %d resources: %s%s", reason, len(list), strings.Join(names, ", "), more))
	}
	return lines
}

func in(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in " + namespace
}

// statuses counts stacks by their health, the worst first.
func statuses(each []health.Status) string {
	counts := map[health.Status]int{}
	for _, s := range each {
		counts[s]++
	}
	var parts []string
	for _, s := range health.Statuses() {
		if n := counts[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	return object.Count(len(each), "stack") + ": " + strings.Join(parts, ", ")
}

func count[T any](list []T, want func(T) bool) int {
	n := 0
	for _, x := range list {
		if want(x) {
			n++
		}
	}
	return n
}
