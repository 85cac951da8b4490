package app

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
)

// TestOthersOfPeriods has three namespaces on the first day and two on the second: the row of those
// that are left out has one name.
func TestOthersOfPeriods(t *testing.T) {
	report := func(names ...string) *cost.Report {
		r := &cost.Report{Keys: []cost.Key{{By: cost.ByNamespace}}}
		for _, name := range names {
			paid := map[string]decimal.Decimal{"cpu": decimal.NewFromInt(1)}
			r.Rows = append(r.Rows, &cost.Row{Level: cost.LevelGroup, Key: cost.ByNamespace, Name: name, Cost: paid["cpu"], Costs: paid})
		}
		return r
	}
	begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	periods := []cost.Period{
		{Name: "1", From: begin, To: begin.AddDate(0, 0, 1), Report: report("a", "b", "c")},
		{Name: "2", From: begin.AddDate(0, 0, 1), To: begin.AddDate(0, 0, 2), Report: report("a", "b")},
	}
	whole := report("a", "b", "c")
	for i, n := range []int64{2, 2, 1} {
		whole.Rows[i].Cost = decimal.NewFromInt(n)
		whole.Rows[i].Costs = map[string]decimal.Decimal{"cpu": whole.Rows[i].Cost}
	}
	for _, row := range divided(whole, periods, 1).Rows {
		if len(row.Children) != 2 || row.Children[1].Name != "2 more" {
			t.Errorf("day %s has %d rows, the last is %s", row.Name, len(row.Children), row.Children[len(row.Children)-1].Name)
		}
	}
}
