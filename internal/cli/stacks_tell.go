package cli

import (
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

// tellStacks says on stderr what the list has no place for.
func (o *stacksOptions) tellStacks(l *app.StacksResult) {
	if o.output == "name" {
		return
	}
	for _, n := range l.Reading.Notes {
		o.tellNote(n)
	}
	if reason := l.UnknownUsage(); reason != "" {
		fmt.Fprintf(o.env.ErrOut, "usage measured for %d of %s: %s\n", l.Total.Measured, plural(l.Total.Pods, "pod"), safe(reason))
	}
	if o.human() {
		fmt.Fprintln(o.env.ErrOut, stacksSummary(l))
	}
}

// stacksSummary is the list in a line.
func stacksSummary(l *app.StacksResult) string {
	if len(l.Rows) == 0 {
		return "no stacks found" + summarizeUnlisted(l)
	}
	counts := map[health.Status]int{}
	for i := range l.Rows {
		counts[l.Rows[i].Status()]++
	}
	var parts []string
	for _, s := range health.Statuses() {
		if n := counts[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	text := fmt.Sprintf("%s: %s", plural(len(l.Rows), "stack"), strings.Join(parts, ", "))
	text += "; " + plural(l.Total.Pods, "pod")
	if total, unclaimed, priced := l.MonthlyCost(); priced {
		text += fmt.Sprintf("; %s %s a month", l.Report.Currency, total)
		if unclaimed != "" {
			text += fmt.Sprintf(", and %s for unclaimed volumes", unclaimed)
		}
	}
	return text + summarizeUnlisted(l)
}

// summarizeUnlisted is what there is besides the stacks that are listed.
func summarizeUnlisted(l *app.StacksResult) string {
	text, ways := "", []string{}
	if l.Hidden > 0 {
		ways = append(ways, plural(l.Hidden, "stack")+" of the cluster system")
	}
	if l.Rest > 0 {
		summary := plural(l.Rest, "object") + " in no stack"
		if l.Troubled > 0 {
			summary += fmt.Sprintf(", %d of them unhealthy", l.Troubled)
		}
		ways = append(ways, summary)
	}
	if len(ways) > 0 {
		text = "; also " + strings.Join(ways, " and ")
		if !l.List.All {
			text += " (--all lists them)"
		}
	}
	return text
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
