package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// UnknownUsage is why the usage of pods is unknown; empty if it is known, or a note gives the
// reason.
func (l *StacksResult) UnknownUsage() string {
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(l.Unmeasured)) {
		if l.Unmeasured[reason] == l.Total.Pods && slices.ContainsFunc(l.Reading.Notes, func(n metrics.Note) bool { return strings.HasPrefix(n.Message, reason) }) {
			return ""
		}
		parts = append(parts, fmt.Sprintf("%s (%d)", reason, l.Unmeasured[reason]))
	}
	return strings.Join(parts, ", ")
}

// MonthlyCost is the sum of the listed stacks, as their rounded costs add up, and what volumes cost
// that no claim has: no stack pays for them. The latter is empty for none.
func (l *StacksResult) MonthlyCost() (total, unclaimed string, priced bool) {
	month := cost.Round(l.Report, cost.ColumnMonth, 2)
	if month == nil || !l.Total.Priced() {
		return "", "", false
	}
	sum := l.Total.Cost.Sub(l.Total.Cost)
	for i := range l.Rows {
		if row := l.Rows[i].Row; row != nil {
			sum = sum.Add(month[row])
		}
	}
	for _, row := range l.Report.Rows {
		if amount, found := month[row]; found && row.Level == cost.LevelRest && row.Name == cost.UnclaimedVolumes {
			unclaimed = amount.StringFixed(2)
			break
		}
	}
	return sum.StringFixed(2), unclaimed, true
}
