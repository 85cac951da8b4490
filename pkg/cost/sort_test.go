package cost

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func TestSort(t *testing.T) {
	half := dec("0.5")
	rows := func() []*Row {
		ref := func(name string) object.Ref { return object.Ref{Kind: "Shop", Name: name} }
		return []*Row{
			{Level: LevelRest, Name: restOverhead, Cost: dec("99")},
			{Level: LevelStack, Ref: ref("c"), Cost: dec("2"), Pods: 1, Used: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("1")})},
			{Level: LevelRest, Name: restIdle, Cost: dec("1")},
			{Level: LevelStack, Ref: ref("a"), Cost: dec("10"), Pods: 9, Used: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.Memory: dec("7")}), Claimed: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.Storage: dec("1")})},
			{Level: LevelStack, Ref: ref("d"), Cost: dec("2"), Pods: 1, Used: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("3"), metrics.Sent: dec("1")})},
			{Level: LevelStack, Ref: ref("b"), Cost: dec("3"), Pods: 2, Efficiency: &half, Counters: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.Received: dec("2")})},
		}
	}
	for by, want := range map[string]string{
		"cost": "a b c d idle overhead", "name": "a b c d idle overhead", "pods": "a b c d idle overhead",
		"cpu": "d c a b idle overhead", "memory": "a b c d idle overhead", "storage": "a b c d idle overhead",
		"network": "b d a c idle overhead", "efficiency": "b a c d idle overhead",
	} {
		r := &Report{Rows: rows()}
		if err := Sort(r, by); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, row := range r.Rows {
			got = append(got, shortName(row))
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("by %s: %s, want %s", by, text, want)
		}
	}
	err := Sort(&Report{}, "price")
	if err == nil || !strings.Contains(err.Error(), `"price"`) || !strings.Contains(err.Error(), "efficiency") {
		t.Errorf("by price: %v", err)
	}
}

// A limit leaves the same sums, at most top rows and depth levels, and the report as it
// was.
func TestLimit(t *testing.T) {
	eachWorld(t, func(t *testing.T, rng *rand.Rand, _ world, _ Grouping, r *Report) {
		if err := Sort(r, "cost"); err != nil {
			t.Fatal(err)
		}
		before := fullText(r.Rows)
		top, depth := rng.IntN(4), rng.IntN(4)
		small := Limit(r, top, depth)
		if fullText(r.Rows) != before {
			t.Error("the report is not what it was")
		}
		if top == 0 && depth == 0 && fullText(small.Rows) != before {
			t.Error("without limits it is another report")
		}
		walk(&small.Total, small.Rows, func(above *Row, rows []*Row) {
			checkSum(t, above, rows)
			counted := 0
			for _, row := range rows {
				if restRank(above, row) == 0 && !strings.HasSuffix(row.Name, " more") {
					counted++
				}
			}
			if above == &small.Total && top > 0 && counted > top {
				t.Errorf("%d rows below %s%s, limited to %d", counted, above.Ref, above.Name, top)
			}
		})
		if got := levels(small.Rows); depth > 0 && got > depth {
			t.Errorf("%d levels, limited to %d", got, depth)
		}
	})
}

func levels(rows []*Row) int {
	deepest := 0
	for _, row := range rows {
		deepest = max(deepest, 1+levels(row.Children))
	}
	return deepest
}

// What is left out is one row, with each pod once.
func TestLimitCountsPodsOnce(t *testing.T) {
	stacks := []object.Ref{{Kind: "Shop", Name: "a"}, {Kind: "Shop", Name: "b"}, {Kind: "Shop", Name: "c"}}
	shared := metrics.Pod{Ref: object.Ref{Kind: "Pod", Name: "db"}, Used: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("1")})}
	own := metrics.Pod{Ref: object.Ref{Kind: "Pod", Name: "c"}, Unmeasured: "no sample yet"}
	p := &metrics.Attribution{Stacks: stacks, Of: map[object.Ref]metrics.Path{shared.Ref: {Stacks: stacks}, own.Ref: {Stacks: stacks[2:]}}}
	r := NewReport(&metrics.UsageReport{Pods: []metrics.Pod{shared, own}}, p, &Ledger{}, Grouping{})
	small := Limit(r, 1, 1)
	if len(small.Rows) != 2 {
		t.Fatalf("%d rows", len(small.Rows))
	}
	more := small.Rows[1]
	third := r.Rows[1].Used.Value(metrics.CPU)
	if more.Level != LevelRest || more.Name != "2 more" || more.Pods != 2 || more.Measured != 1 || !more.Used.Value(metrics.CPU).Equal(third.Add(third)) {
		t.Errorf("%+v", more)
	}
	if len(small.Rows[0].Children) != 0 {
		t.Errorf("below the first: %v", small.Rows[0].Children)
	}
	var sum decimal.Decimal
	for _, row := range small.Rows {
		sum = sum.Add(row.Used.Value(metrics.CPU))
	}
	if !sum.Equal(dec("1")) {
		t.Errorf("the rows use %s", sum)
	}
}
