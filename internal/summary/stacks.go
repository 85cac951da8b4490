package summary

import (
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Health counts the stacks of an answer.
func Health(h *app.HealthResult) string {
	if len(h.Stacks) == 0 {
		return "no stacks found"
	}
	var each []health.Status
	for _, s := range h.Stacks {
		each = append(each, s.Health.Status)
	}
	return statuses(each)
}

// Stacks says what a list of stacks has no place for; for people, it also counts them.
func Stacks(l *app.StacksResult, people bool) (lines []string) {
	for _, n := range l.Reading.Notes {
		lines = append(lines, Note(n))
	}
	if reason := l.UnknownUsage(); reason != "" {
		lines = append(lines, fmt.Sprintf("usage measured for %d of %s: %s", l.Total.Measured, object.Count(l.Total.Pods, "pod"), reason))
	}
	if people {
		lines = append(lines, stacksLine(l)+unlisted(l))
	}
	return lines
}

// stacksLine is the list in a line.
func stacksLine(l *app.StacksResult) string {
	if len(l.Rows) == 0 {
		return "no stacks found"
	}
	var each []health.Status
	for i := range l.Rows {
		each = append(each, l.Rows[i].Status())
	}
	text := statuses(each) + "; " + object.Count(l.Total.Pods, "pod")
	if total, unclaimed, priced := l.MonthlyCost(); priced {
		text += fmt.Sprintf("; %s %s a month", l.Report.Currency, total)
		if unclaimed != "" {
			text += fmt.Sprintf(", and %s for unclaimed volumes", unclaimed)
		}
	}
	return text
}

// unlisted is what there is besides the stacks that are listed.
func unlisted(l *app.StacksResult) string {
	var rest []string
	if l.Hidden > 0 {
		rest = append(rest, object.Count(l.Hidden, "stack")+" of the cluster system")
	}
	if l.Rest > 0 {
		text := object.Count(l.Rest, "object") + " in no stack"
		if l.Troubled > 0 {
			text += fmt.Sprintf(", %d of them unhealthy", l.Troubled)
		}
		rest = append(rest, text)
	}
	if len(rest) == 0 {
		return ""
	}
	text := "; also " + strings.Join(rest, " and ")
	if !l.List.All {
		text += " (--all lists them)"
	}
	return text
}
