package view

import (
	"maps"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// TestRowsWithGaps has a pod with a gap and one with a device without a price in a stack of three:
// their rows and that of the stack say so, and no other row.
func TestRowsWithGaps(t *testing.T) {
	stack := object.Ref{Kind: "Shop", Namespace: "x", Name: "s"}
	placed := &metrics.Attribution{Stacks: []object.Ref{stack}, Of: map[object.Ref]metrics.Path{}}
	end := time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
	r := &metrics.UsageReport{From: end.Add(-24 * time.Hour), To: end, Hours: decimal.NewFromInt(24)}
	for name, gap := range map[string]time.Duration{"gone": 65 * time.Minute, "whole": 0} {
		ref := object.Ref{Kind: "Pod", Namespace: "x", Name: name}
		placed.Of[ref] = metrics.Path{Stacks: []object.Ref{stack}}
		r.Pods = append(r.Pods, metrics.Pod{Ref: ref, Gap: gap})
	}
	gpu := object.Ref{Kind: "Pod", Namespace: "x", Name: "gpu"}
	placed.Of[gpu] = metrics.Path{Stacks: []object.Ref{stack}}
	r.Pods = append(r.Pods, metrics.Pod{Ref: gpu, Requested: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{"nvidia.com/gpu": decimal.NewFromInt(24)})})
	r.Notes = []metrics.Note{{Reason: metrics.PodGap, LowersFigures: true}, {Reason: cost.NoPrice, LowersFigures: true}}
	report := cost.NewReport(r, placed, &cost.Ledger{}, cost.Grouping{})
	out := Metrics(report, MetricsOptions{Reading: r, Shape: TreeShape})
	const mark = "(at least: no samples for up to 1h5m)"
	got := map[string]string{}
	var walk func(rows []*TreeRow)
	walk = func(rows []*TreeRow) {
		for _, l := range rows {
			got[l.Name.Text] = l.Mark.Text
			walk(l.Children)
		}
	}
	walk(out.Tree.Roots)
	if want := map[string]string{"Shop/x/s": mark, "Pod/x/gone": mark, "Pod/x/whole": "", "Pod/x/gpu": "(at least: no price for nvidia.com/gpu)"}; !maps.Equal(got, want) {
		t.Errorf("marks are %v, want %v", got, want)
	}
	if total := Metrics(report, MetricsOptions{Reading: r, Shape: UIShape}).Invoice.Total; total.Mark != mark {
		t.Errorf("the total of the invoice is marked %q", total.Mark)
	}
	report.Rows[0].Children[0].Of = 2
	if lines := Metrics(report, MetricsOptions{Reading: r, Shape: UIShape}).Invoice.Groups[0].Lines; lines[0].Share == "" || lines[0].Mark != mark {
		t.Errorf("the line of a shared pod with a gap is %+v", lines[0])
	}
	v := &metricsView{r: report, o: MetricsOptions{Reading: r}}
	if doc := v.document(); doc.Total.GapMinutes != 65 || doc.Rows[0].Rows[0].GapMinutes != 65 || doc.Rows[0].Rows[2].GapMinutes != 0 {
		t.Errorf("the document is %+v", doc)
	}
}

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
