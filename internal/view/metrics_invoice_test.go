package view

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// TestInvoiceOfClusters has lines of two clusters below two keys, a group that is named idle, and
// nothing that is split.
func TestInvoiceOfClusters(t *testing.T) {
	row := func(level cost.Level, name, cluster string, children ...*cost.Row) *cost.Row {
		r := &cost.Row{Level: level, Name: name, Cluster: cluster, Children: children, Costs: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{"cpu": decimal.NewFromInt(20)})}
		r.Cost = r.Costs.Value("cpu")
		return r
	}
	rows := func() []*cost.Row {
		inner := row(cost.LevelGroup, "web", "", row(cost.LevelWorkload, "api", "us"))
		return []*cost.Row{row(cost.LevelGroup, "idle", "", inner), row(cost.LevelRest, "idle", ""), row(cost.LevelRest, "shared", "")}
	}
	total := cost.Row{Cost: decimal.NewFromInt(60), Costs: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{"cpu": decimal.NewFromInt(60)})}
	report := &cost.Report{Keys: []cost.Key{{By: cost.ByNamespace}, {By: cost.ByNode}}, Rows: rows(), Total: total}
	divided := &cost.Report{Total: total}
	for _, day := range []string{"1", "2"} {
		divided.Rows = append(divided.Rows, row(cost.LevelPeriod, day, "", rows()...))
	}
	hour := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	inv := Metrics(report, MetricsOptions{
		Reading: &metrics.UsageReport{From: hour, To: hour.Add(time.Hour), Hours: decimal.NewFromInt(1)}, Sharing: cost.ShareNone, SharedAmong: "cluster",
		Shape: UIShape, Periods: make([]cost.Period, 2), Divided: divided,
	}).Invoice
	if lines := inv.Groups[0].Lines; len(lines) != 2 || lines[1].Name != "us: api" {
		t.Errorf("the lines are %+v", lines)
	}
	if got := inv.Groups[2].Meaning; got != "what several stacks need" {
		t.Errorf("shared is %s", got)
	}
	if c := inv.Chart; c.Idle != 2 || !c.Periods[0].Costs[2].Equal(decimal.NewFromInt(20)) {
		t.Errorf("idle is %d of %v, at %v", c.Idle, c.Names, c.Periods[0].Costs)
	}
	want := Pair{"Shared parts", "not split: rows of their own"}
	found := false
	for _, fact := range inv.Facts {
		found = found || fact == want
	}
	if !found {
		t.Errorf("the facts are %v", inv.Facts)
	}
}
