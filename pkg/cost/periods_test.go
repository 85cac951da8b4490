package cost

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// TestDivideAddsUp divides random reports by periods that have other things, at other costs: what
// every row costs over the periods is what it costs over the window, by what is paid for.
func TestDivideAddsUp(t *testing.T) {
	begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 4))
		keys := [][]Key{{{By: ByStack}}, {{By: ByNamespace}}, {{By: ByNode}, {By: ByNamespace}}}[seed%3]
		report := func() *Report {
			w := randomWorld(rng)
			return NewReport(w.reading, w.placement, w.ledger, Grouping{Keys: keys})
		}
		whole := report()
		var periods []Period
		for i := range 1 + rng.IntN(4) {
			periods = append(periods, Period{Name: fmt.Sprint(i), From: begin.AddDate(0, 0, i), To: begin.AddDate(0, 0, i+1), Report: report()})
		}
		if seed%5 == 0 { // the same thing in each
			for i := range periods {
				periods[i].Report = whole
			}
		}
		divided := Divide(whole, periods, 0)
		if len(divided.Rows) != len(periods) || !divided.Total.Cost.Equal(whole.Total.Cost) {
			t.Fatalf("seed %d: %d rows, total %s of %s", seed, len(divided.Rows), divided.Total.Cost, whole.Total.Cost)
		}
		want, got := costsBelow(whole.Rows), map[periodKey]metrics.Amounts{}
		var sum decimal.Decimal
		for _, row := range divided.Rows {
			sum = sum.Add(row.Cost)
			for key, costs := range costsBelow(row.Children) {
				got[key] = addTo(got[key], costs, nil)
			}
			checkSums(t, seed, row)
		}
		if !sum.Equal(whole.Total.Cost) {
			t.Errorf("seed %d: the periods cost %s, the window %s", seed, sum, whole.Total.Cost)
		}
		for key, costs := range want {
			for part, c := range costs.All() {
				if !got[key].Value(part).Equal(c) {
					t.Errorf("seed %d: %v: %s costs %s over the periods, %s over the window", seed, key, part, got[key].Value(part), c)
				}
			}
		}
	}
}

// costsBelow are the costs of leaves, by what they are of.
func costsBelow(rows []*Row) map[periodKey]metrics.Amounts {
	all := map[periodKey]metrics.Amounts{}
	var walk func(row *Row, groups string)
	walk = func(row *Row, groups string) {
		key, groups := keyOf(row, groups)
		if isLeaf(row) {
			all[key] = addTo(all[key], row.Costs, nil)
			return
		}
		for _, child := range row.Children {
			walk(child, groups)
		}
	}
	for _, row := range rows {
		walk(row, "")
	}
	return all
}

func checkSums(t *testing.T, seed uint64, row *Row) {
	t.Helper()
	if isLeaf(row) {
		return
	}
	var sum decimal.Decimal
	for _, child := range row.Children {
		sum = sum.Add(child.Cost)
		checkSums(t, seed, child)
	}
	if !sum.Equal(row.Cost) {
		t.Errorf("seed %d: %s %s costs %s, what is below it %s", seed, row.Level, row.Name, row.Cost, sum)
	}
}

// TestDivideByWhatWasPaid divides a row by what it cost in each period, and by hours where it cost
// nothing in any.
func TestDivideByWhatWasPaid(t *testing.T) {
	begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	pod := object.Ref{Kind: "Pod", Namespace: "a", Name: "p"}
	of := func(cost string) *Report {
		c := decimal.RequireFromString(cost)
		row := &Row{Level: LevelPod, Ref: pod, Pods: 1, Cost: c, Costs: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{"cpu": c})}
		return &Report{Rows: []*Row{row}, Total: Row{Cost: c, Pods: 1}, Hours: decimal.NewFromInt(48)}
	}
	for _, c := range []struct{ whole, first, second, want string }{
		{"3", "1", "2", "1 2"},
		{"3.000000000001", "1", "2", "1 2.000000000001"}, // rounding
		{"6", "1", "2", "2 4"},
		{"1", "1", "2", "0.333333333333333333 0.666666666666666667"},
		{"3", "0", "0", "1 2"}, // the second is twice as long
		{"0", "1", "2", "0 0"},
	} {
		got := Divide(of(c.whole), []Period{
			{Name: "first", From: begin, To: begin.Add(16 * time.Hour), Report: of(c.first)},
			{Name: "second", From: begin.Add(16 * time.Hour), To: begin.Add(48 * time.Hour), Report: of(c.second)},
		}, 0)
		if text := got.Rows[0].Cost.String() + " " + got.Rows[1].Cost.String(); text != c.want {
			t.Errorf("%s of %s and %s: %s, want %s", c.whole, c.first, c.second, text, c.want)
		}
	}
}

// TestDivideClusters divides the merged report of two clusters: one day has a namespace of one
// cluster alone, and its costs stay on that day.
func TestDivideClusters(t *testing.T) {
	begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	report := func(cluster string, costs int64) *Report {
		r := &Report{Currency: "EUR", Hours: decimal.NewFromInt(24), Keys: []Key{{By: ByNamespace}}}
		if costs == 0 {
			return r
		}
		paid := metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{"cpu": decimal.NewFromInt(costs)})
		pod := &Row{Level: LevelPod, Ref: object.Ref{Kind: "Pod", Namespace: "shop", Name: "web-0"}, Cluster: cluster, Pods: 1, Cost: paid.Value("cpu"), Costs: paid}
		group := &Row{Level: LevelGroup, Name: "shop", Key: ByNamespace, Cluster: cluster, Pods: 1, Cost: paid.Value("cpu"), Costs: paid, Children: []*Row{pod}}
		r.Rows, r.Total = []*Row{group}, Row{Pods: 1, Cost: paid.Value("cpu"), Costs: paid}
		return r
	}
	periods := []Period{
		{Name: "1", From: begin, To: begin.AddDate(0, 0, 1), Report: Merge([]*Report{report("eu", 1), report("us", 0)})},
		{Name: "2", From: begin.AddDate(0, 0, 1), To: begin.AddDate(0, 0, 2), Report: Merge([]*Report{report("eu", 0), report("us", 5)})},
	}
	divided := Divide(Merge([]*Report{report("eu", 1), report("us", 5)}), periods, 0)
	for i, want := range []int64{1, 5} {
		if row := divided.Rows[i]; !row.Cost.Equal(decimal.NewFromInt(want)) || row.Children[0].Pods != 1 {
			t.Errorf("day %s has %d pods of %s, want 1 of %d", row.Name, row.Children[0].Pods, row.Cost, want)
		}
	}
}

// TestDivideTop keeps the most expensive rows of the window in every period, also in one where
// others cost more.
func TestDivideTop(t *testing.T) {
	begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	report := func(costs ...int64) *Report {
		r := &Report{Hours: decimal.NewFromInt(24), Keys: []Key{{By: ByNamespace}}}
		for i, name := range []string{"a", "b", "c", "d"} {
			if c := decimal.NewFromInt(costs[i]); !c.IsZero() {
				paid := metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{"cpu": c})
				pod := &Row{Level: LevelPod, Ref: object.Ref{Kind: "Pod", Namespace: name, Name: "p"}, Pods: 1, Cost: c, Costs: paid}
				r.Rows = append(r.Rows, &Row{Level: LevelGroup, Name: name, Key: ByNamespace, Pods: 1, Cost: c, Costs: paid, Children: []*Row{pod}})
				r.Total.Cost = r.Total.Cost.Add(c)
			}
		}
		return r
	}
	periods := []Period{
		{Name: "1", From: begin, To: begin.AddDate(0, 0, 1), Report: report(9, 1, 2, 0)},
		{Name: "2", From: begin.AddDate(0, 0, 1), To: begin.AddDate(0, 0, 2), Report: report(0, 4, 2, 1)},
		{Name: "3", From: begin.AddDate(0, 0, 2), To: begin.AddDate(0, 0, 3), Report: report(0, 0, 0, 1)},
	}
	var got []string
	for _, day := range Divide(report(9, 5, 4, 2), periods, 2).Rows {
		text := day.Name + ":"
		for _, row := range day.Children {
			text += " " + row.Name + "=" + row.Cost.String()
		}
		got = append(got, text)
	}
	if text, want := strings.Join(got, "; "), "1: a=9 b=1 2 more=2; 2: b=4 2 more=3; 3: 2 more=1"; text != want {
		t.Errorf("%s, want %s", text, want)
	}
}
