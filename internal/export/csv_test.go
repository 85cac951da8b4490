package export_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/internal/export"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func dec(s string) decimal.Decimal { return decimal.RequireFromString(s) }

var (
	moodleA = object.Ref{Group: "moodle.example.com", Kind: "Moodle", Namespace: "school-a", Name: "moodle"}
	mysql   = object.Ref{Kind: "Pod", Namespace: "db", Name: "mysql-0"}
)

// schoolReport is a report made by hand: a stack of its own part and a shared one, and
// what is idle. Of web-1 nothing is measured; the pod of the host's network sees the
// traffic of its node.
func schoolReport() *cost.Report {
	half := dec("0.5")
	efficiency := dec("0.4375")
	pod := func(name string, r cost.Row) *cost.Row {
		r.Level, r.Ref, r.Stack = cost.LevelPod, object.Ref{Kind: "Pod", Namespace: "school-a", Name: name}, moodleA
		if r.Of == 0 {
			r.Share, r.Of = dec("1"), 1
		}
		r.Pods = 1
		return &r
	}
	web1 := pod("web-1", cost.Row{
		Requested: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("0.25"), metrics.Memory: dec("268435456"), "nvidia.com/gpu": dec("1")}),
		Limited:   metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{"nvidia.com/gpu": dec("1")}),
		Cost:      dec("0.95900275"), Unmeasured: "no sample yet",
	})
	web10 := pod("web-10", cost.Row{
		Measured: 1, Used: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("0.100000001"), metrics.Memory: dec("134217728"), metrics.Ephemeral: dec("4096")}),
		Requested: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("0.25"), metrics.Memory: dec("268435456")}),
		Counters:  metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.Received: dec("948305362"), metrics.Sent: dec("12542068")}),
		Cost:      dec("0.00900275"), Efficiency: &efficiency,
		Children: []*cost.Row{
			{Level: cost.LevelContainer, Name: "web", Used: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("0.1")})},
			{Level: cost.LevelContainer, Name: "proxy", Used: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("0.000000001")})},
		},
	})
	host := pod("agent", cost.Row{HostNetwork: true, HostTraffic: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.Received: dec("1")}), Measured: 1, Cost: decimal.Zero})
	shared := &cost.Row{
		Level: cost.LevelPod, Ref: mysql, Stack: moodleA, Share: half, Of: 2, Pods: 1, Measured: 1,
		Used: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("0.05"), metrics.Storage: dec("1000")}), Claimed: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.Storage: dec("5368709120")}), Cost: dec("0.0158"),
	}
	workload := &cost.Row{Level: cost.LevelWorkload, Ref: object.Ref{Group: "apps", Kind: "Deployment", Namespace: "school-a", Name: "web"}, Stack: moodleA, Children: []*cost.Row{web1, web10, host}}
	stack := &cost.Row{Level: cost.LevelStack, Ref: moodleA, Stack: moodleA, Pods: 4, Measured: 3, Efficiency: &efficiency, Children: []*cost.Row{workload, shared}}
	idle := &cost.Row{Level: cost.LevelRest, Name: "idle", Cost: dec("0.2"), Children: []*cost.Row{
		{Level: cost.LevelRest, Ref: object.Ref{Kind: "Node", Name: "worker-a"}, Cost: dec("0.2")},
	}}
	for _, row := range append(slices.Clone(workload.Children), shared) {
		stack.Cost = stack.Cost.Add(row.Cost)
	}
	rep := &cost.Report{Currency: "EUR", Hours: dec("1"), Rows: []*cost.Row{stack, idle}}
	rep.Total.Cost = stack.Cost.Add(idle.Cost)
	return rep
}

func schoolReading() *metrics.UsageReport {
	return &metrics.UsageReport{To: time.Date(2026, 11, 15, 10, 41, 7, 250_000_000, time.UTC), Hours: dec("1"), Pods: []metrics.Pod{
		{Ref: object.Ref{Kind: "Pod", Namespace: "school-a", Name: "web-10"}, Node: "worker-a"},
		{Ref: mysql, Node: "worker-a"},
		{Ref: mysql, Node: "worker-b"},
	}}
}

func write(t testing.TB, format string, a view.Output) string {
	t.Helper()
	var out bytes.Buffer
	if err := render.Write(&out, format, a, render.Options{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// cellsOf returns the cells of the row of a name, by column; those that are empty are
// left out.
func cellsOf(t *testing.T, s *view.CSVTable, name string) map[string]string {
	t.Helper()
	for _, row := range s.Rows {
		out := map[string]string{}
		for i, c := range s.Columns {
			if row[i] != "" {
				out[c.Name] = row[i]
			}
		}
		if out["name"] == name {
			return out
		}
	}
	t.Fatalf("no row %s", name)
	return nil
}

func TestMetricsSheetHoldsWhatIsKnown(t *testing.T) {
	s := export.CSV(schoolReport(), map[string]*metrics.UsageReport{"": schoolReading()}, nil)
	for i, row := range s.Rows {
		if len(row) != len(s.Columns) {
			t.Fatalf("row %d has %d cells under %d columns", i, len(row), len(s.Columns))
		}
	}
	moodle := "Moodle.moodle.example.com/school-a/moodle"
	for name, want := range map[string]map[string]string{
		"web-1": {
			"level": "pod", "stack": moodle, "kind": "Pod", "namespace": "school-a", "pods": "1", "pods_measured": "0", "unmeasured": "no sample yet", "hours": "1",
			"share": "1", "share_of": "1", "currency": "EUR", "cost": "0.95900275", "cost_hour": "0.95900275", "cost_month": "700.0720075",
			"cpu_requested_core_hours": "0.25", "memory_requested_byte_hours": "268435456",
			"nvidia.com/gpu_requested_hours": "1", "nvidia.com/gpu_limit_hours": "1",
		},
		"web-10": {
			"level": "pod", "stack": moodle, "kind": "Pod", "namespace": "school-a", "node": "worker-a", "pods": "1", "pods_measured": "1", "hours": "1",
			"share": "1", "share_of": "1", "currency": "EUR", "cost": "0.00900275", "cost_hour": "0.00900275", "cost_month": "6.5720075", "efficiency": "0.4375",
			"cpu_used_core_hours": "0.100000001", "cpu_requested_core_hours": "0.25", "memory_used_byte_hours": "134217728", "memory_requested_byte_hours": "268435456",
			"ephemeral_used_byte_hours": "4096", "network_received_since_start_bytes": "948305362", "network_sent_since_start_bytes": "12542068",
		},
		// A container is no leaf: it has no cost, and no part in the sums.
		"proxy": {"level": "container", "stack": moodle, "kind": "Pod", "namespace": "school-a", "node": "worker-a", "hours": "1", "cpu_used_core_hours": "0.000000001"},
		// Nothing of it was charged: what it costs is not known.
		"agent": {
			"level": "pod", "stack": moodle, "kind": "Pod", "namespace": "school-a", "pods": "1", "pods_measured": "1", "host_network": "true", "hours": "1",
			"share": "1", "share_of": "1", "currency": "EUR", "host_network_received_bytes": "1",
		},
		// It ran on two nodes: which one is not known.
		"mysql-0": {
			"level": "pod", "stack": moodle, "kind": "Pod", "namespace": "db", "pods": "1", "pods_measured": "1", "hours": "1", "share": "0.5", "share_of": "2",
			"currency": "EUR", "cost": "0.0158", "cost_hour": "0.0158", "cost_month": "11.534", "cpu_used_core_hours": "0.05",
			"storage_claimed_byte_hours": "5368709120", "storage_used_byte_hours": "1000",
		},
		"worker-a": {
			"level": "rest", "group": "idle", "kind": "Node", "pods": "0", "pods_measured": "0", "hours": "1", "currency": "EUR", "cost": "0.2", "cost_hour": "0.2", "cost_month": "146",
		},
	} {
		want["name"] = name
		got := cellsOf(t, s, name)
		for column, value := range want {
			if got[column] != value {
				t.Errorf("%s: %s is %q, want %q", name, column, got[column], value)
			}
		}
		for column, value := range got {
			if _, ok := want[column]; !ok {
				t.Errorf("%s: %s is %q, want nothing", name, column, value)
			}
		}
	}
	if text := write(t, "csv", view.Output{CSV: s}); strings.Count(text, "\n") != len(s.Rows)+1 {
		t.Errorf("csv:\n%s", text)
	}
}

// randomReport is of leaves at several depths, with costs that do not divide.
func randomReport(r *rand.Rand, hours decimal.Decimal) *cost.Report {
	rep := &cost.Report{Currency: "USD", Hours: hours}
	var grow func(depth int) *cost.Row
	grow = func(depth int) *cost.Row {
		row := &cost.Row{Level: cost.LevelWorkload, Stack: moodleA, Ref: object.Ref{Kind: "Deployment", Namespace: "a", Name: string(rune('a' + r.IntN(26)))}}
		if depth == 0 || r.IntN(4) == 0 {
			row.Level, row.Ref.Kind = cost.LevelPod, "Pod"
			row.Cost = decimal.New(r.Int64N(1_000_000_000_000), -12)
			if r.IntN(3) > 0 {
				row.Used = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: decimal.New(r.Int64N(1_000_000), -6)})
			}
			return row
		}
		for range 1 + r.IntN(5) {
			below := grow(depth - 1)
			row.Children = append(row.Children, below)
			row.Cost = row.Cost.Add(below.Cost)
		}
		return row
	}
	for range 1 + r.IntN(6) {
		row := grow(3)
		rep.Rows = append(rep.Rows, row)
		rep.Total.Cost = rep.Total.Cost.Add(row.Cost)
	}
	return rep
}

// TestSheetsAddUp has the columns of costs add up to the total, of leaves and of the sums of each depth.
func TestSheetsAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for i := range 500 {
		hours := []decimal.Decimal{dec("1"), dec("7"), dec("168"), dec("0.0833333333333"), dec("336.2502777777")}[i%5]
		rep := randomReport(r, hours)
		s := export.CSV(cost.Limit(rep, 0, i%4), nil, nil)
		sums := map[string]decimal.Decimal{}
		for _, row := range s.Rows {
			for at, c := range s.Columns {
				if strings.HasPrefix(c.Name, "cost") {
					sums[c.Name] = sums[c.Name].Add(dec(row[at]))
				}
			}
		}
		total := rep.Total.Cost
		month := total.Mul(decimal.NewFromInt(cost.HoursPerMonth))
		wantHour, wantMonth := total, month
		if !hours.Equal(dec("1")) {
			wantHour, wantMonth = total.DivRound(hours, 12), month.DivRound(hours, 12)
		}
		if !sums["cost"].Equal(total) || !sums["cost_hour"].Equal(wantHour) || !sums["cost_month"].Equal(wantMonth) {
			t.Fatalf("report %d over %s h to depth %d: the columns add up to %v, want %s, %s, %s", i, hours, i%4, sums, total, wantHour, wantMonth)
		}
	}
}
