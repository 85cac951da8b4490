package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// tellStacks says on stderr what the list has no place for.
func (o *stacksOptions) tellStacks(l *app.StacksResult) {
	if o.output == "name" {
		return
	}
	for _, n := range l.Reading.Notes {
		o.tellNote(n)
	}
	if reason := unknownUsage(l); reason != "" {
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
	if month := cost.Round(l.Report, cost.ColumnMonth, 2); month != nil && l.Total.Priced() {
		text += fmt.Sprintf("; %s %s a month%s", l.Report.Currency, inMonth(l, month), unclaimedVolumes(l, month))
	}
	return text + summarizeUnlisted(l)
}

// unknownUsage is why the usage of pods is unknown; empty if it is known, or a note gives the
// reason.
func unknownUsage(l *app.StacksResult) string {
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(l.Unmeasured)) {
		if l.Unmeasured[reason] == l.Total.Pods && slices.ContainsFunc(l.Reading.Notes, func(n metrics.Note) bool { return strings.HasPrefix(n.Message, reason) }) {
			return ""
		}
		parts = append(parts, fmt.Sprintf("%s (%d)", reason, l.Unmeasured[reason]))
	}
	return strings.Join(parts, ", ")
}

// inMonth is the sum of what is shown.
func inMonth(l *app.StacksResult, shown cost.Money) string {
	sum := l.Total.Cost.Sub(l.Total.Cost)
	for i := range l.Rows {
		if row := l.Rows[i].Row; row != nil {
			sum = sum.Add(shown[row])
		}
	}
	return sum.StringFixed(2)
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

// unclaimedVolumes is what volumes cost that no claim has: no stack pays for them.
func unclaimedVolumes(l *app.StacksResult, month cost.Money) string {
	for _, row := range l.Report.Rows {
		if sum, priced := month[row]; priced && row.Level == cost.LevelRest && row.Name == cost.UnclaimedVolumes {
			return fmt.Sprintf(", and %s for unclaimed volumes", sum.StringFixed(2))
		}
	}
	return ""
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
