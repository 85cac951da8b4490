package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// tellStacks says on stderr what the list has no place for.
func (o *stacksOptions) tellStacks(l *stacksResult) {
	if o.output == "name" {
		return
	}
	for _, n := range l.reading.Notes {
		o.tellNote(n)
	}
	if why := unknownUsage(l); why != "" {
		fmt.Fprintf(o.env.ErrOut, "usage measured for %d of %s: %s\n", l.total.Measured, plural(l.total.Pods, "pod"), safe(why))
	}
	if o.human() {
		fmt.Fprintln(o.env.ErrOut, stacksSummary(l))
	}
}

// stacksSummary is the list in a line.
func stacksSummary(l *stacksResult) string {
	if len(l.rows) == 0 {
		return "no stacks found" + summarizeUnlisted(l)
	}
	counts := map[health.Status]int{}
	for i := range l.rows {
		counts[l.rows[i].Status()]++
	}
	var parts []string
	for _, s := range health.Statuses() {
		if n := counts[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	text := fmt.Sprintf("%s: %s", plural(len(l.rows), "stack"), strings.Join(parts, ", "))
	text += "; " + plural(l.total.Pods, "pod")
	if month := cost.Round(l.report, cost.ColumnMonth, 2); month != nil && l.total.Priced() {
		text += fmt.Sprintf("; %s %s a month%s", l.report.Currency, inMonth(l, month), unclaimedVolumes(l, month))
	}
	return text + summarizeUnlisted(l)
}

// unknownUsage is why the usage of pods is not known; empty where it is, and where a note says
// that already.
func unknownUsage(l *stacksResult) string {
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(l.unmeasured)) {
		if l.unmeasured[why] == l.total.Pods && slices.ContainsFunc(l.reading.Notes, func(n metrics.Note) bool { return strings.HasPrefix(n.Message, why) }) {
			return ""
		}
		parts = append(parts, fmt.Sprintf("%s (%d)", why, l.unmeasured[why]))
	}
	return strings.Join(parts, ", ")
}

// inMonth is the sum of what is shown.
func inMonth(l *stacksResult, shown cost.Money) string {
	sum := l.total.Cost.Sub(l.total.Cost)
	for i := range l.rows {
		if row := l.rows[i].Row; row != nil {
			sum = sum.Add(shown[row])
		}
	}
	return sum.StringFixed(2)
}

// summarizeUnlisted is what there is besides the stacks that are listed.
func summarizeUnlisted(l *stacksResult) string {
	text, ways := "", []string{}
	if l.hidden > 0 {
		ways = append(ways, plural(l.hidden, "stack")+" of the cluster system")
	}
	if l.rest > 0 {
		left := plural(l.rest, "object") + " in no stack"
		if l.troubled > 0 {
			left += fmt.Sprintf(", %d of them unhealthy", l.troubled)
		}
		ways = append(ways, left)
	}
	if len(ways) > 0 {
		text = "; also " + strings.Join(ways, " and ")
		if !l.list.all {
			text += " (--all lists them)"
		}
	}
	return text
}

// unclaimedVolumes is what volumes cost that no claim has: no stack pays for them.
func unclaimedVolumes(l *stacksResult, month cost.Money) string {
	for _, row := range l.report.Rows {
		if sum, priced := month[row]; priced && row.Level == cost.LevelRest && row.Name == cost.UnclaimedVolumes {
			return fmt.Sprintf(", and %s for unclaimed volumes", sum.StringFixed(2))
		}
	}
	return ""
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
