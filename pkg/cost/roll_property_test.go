package cost

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// groupings are all ways to group, the values by hand.
func groupings() []Grouping {
	value := func(_ Key, item object.Ref, _ metrics.Path) string { return item.Name[:len(item.Name)%2] }
	return []Grouping{
		{},
		{Keys: []Key{{By: ByStack}}, Containers: true},
		{Keys: []Key{{By: ByResource}}},
		{Keys: []Key{{By: ByNamespace}}},
		{Keys: []Key{{By: ByNode}}, Containers: true},
		{Keys: []Key{{ByLabel, "team"}}, Value: value},
		{Keys: []Key{{By: ByAnnotation}}, Value: value},
		{Keys: []Key{{By: ByCreator}}, Value: value},
		{Keys: []Key{{By: ByCluster}, {By: ByStack}}, Cluster: "eu"},
		{Keys: []Key{{By: ByCluster}}, Cluster: "eu"},
		{Keys: []Key{{By: ByControllerKind}, {By: ByControllerName}, {By: ByPod}}},
		{Keys: []Key{{ByNamespaceLabel, "team"}, {By: ByNamespace}, {By: ByNode}}, Value: value, OfNamespace: func(_ Key, namespace string) string { return namespace[:min(1, len(namespace))] }},
		{Keys: []Key{{By: ByNode}, {By: ByResource}, {By: ByCluster}}, Cluster: "eu", Containers: true},
	}
}

// keysOf are the keys of a grouping, as text.
func keysOf(g Grouping) string { return fmt.Sprint(g.Keys) }

func (g Grouping) has(by string) bool {
	return slices.ContainsFunc(g.Keys, func(k Key) bool { return k.By == by })
}

// eachWorld runs a test on random worlds, grouped in every way.
func eachWorld(t *testing.T, check func(t *testing.T, rng *rand.Rand, w world, g Grouping, r *Report)) {
	t.Helper()
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 4))
		w := randomWorld(rng)
		for _, g := range groupings() {
			t.Run(fmt.Sprintf("%d/%s", seed, keysOf(g)), func(t *testing.T) {
				check(t, rng, w, g, NewReport(w.reading, w.placement, w.ledger, g))
			})
		}
	}
}

func TestRollAddsUp(t *testing.T) {
	eachWorld(t, func(t *testing.T, _ *rand.Rand, w world, _ Grouping, r *Report) {
		if total := w.ledger.Total(); !r.Total.Cost.Equal(total) {
			t.Errorf("total %s, the ledger's is %s", r.Total.Cost, total)
		}
		walk(&r.Total, r.Rows, func(above *Row, rows []*Row) { checkSum(t, above, rows) })
		if t.Failed() {
			t.Log("\n" + fullText(r.Rows))
		}
	})
}

// checkSum compares a row with the sum of the rows below it.
func checkSum(t *testing.T, above *Row, rows []*Row) {
	t.Helper()
	if rows[0].Level == LevelContainer {
		for _, row := range rows {
			if len(row.Costs) > 0 || !row.Cost.IsZero() {
				t.Errorf("container %s costs %s", row.Name, row.Cost)
			}
		}
		return
	}
	var cost decimal.Decimal
	costs, used, claimed := metrics.Amounts{}, metrics.Amounts{}, metrics.Amounts{}
	for _, row := range rows {
		cost = cost.Add(row.Cost)
		for key, c := range row.Costs.All() {
			costs.Add(key, c)
		}
		addAmounts(&used, row.Used)
		addAmounts(&claimed, row.Claimed)
	}
	if !cost.Equal(above.Cost) {
		t.Errorf("%s%s costs %s, what is below it %s", above.Ref, above.Name, above.Cost, cost)
	}
	same := func(what string, a, b metrics.Amounts) {
		if len(a) != len(b) {
			t.Errorf("%s of %s%s: %v, below %v", what, above.Ref, above.Name, a, b)
		}
		for resource, amount := range a.All() {
			if !amount.Equal(b.Value(resource)) {
				t.Errorf("%s of %s%s: %v, below %v", what, above.Ref, above.Name, a, b)
			}
		}
	}
	same("use", above.Used, used)
	same("claim", above.Claimed, claimed)
	var all decimal.Decimal
	for key, c := range above.Costs.All() {
		all = all.Add(c)
		if !c.Equal(costs.Value(key)) {
			t.Errorf("%s of %s%s costs %s, below %s", key, above.Ref, above.Name, c, costs.Value(key))
		}
	}
	if !all.Equal(above.Cost) || len(costs) != len(above.Costs) {
		t.Errorf("%s%s costs %s, by what is paid for %v", above.Ref, above.Name, above.Cost, above.Costs)
	}
}

// Each charge is on one row without rows below it that cost.
func TestRollPlacesEveryChargeOnce(t *testing.T) {
	type place struct{ stack, item object.Ref }
	eachWorld(t, func(t *testing.T, _ *rand.Rand, w world, g Grouping, r *Report) {
		want, got := map[place]decimal.Decimal{}, map[place]decimal.Decimal{}
		for _, c := range w.ledger.Charges {
			var p place
			if len(g.Keys) == 0 || g.has(ByStack) {
				p.stack = c.Stack
			}
			if c.Kind == Used || c.Kind == Unmounted {
				p.item = c.Item
			}
			want[p] = want[p].Add(c.Cost)
		}
		walk(&r.Total, r.Rows, func(_ *Row, rows []*Row) {
			for _, row := range rows {
				if len(row.Children) > 0 && row.Children[0].Level != LevelContainer || row.Level == LevelContainer {
					continue
				}
				p := place{row.Stack, row.Ref}
				for key, cost := range row.Costs.All() {
					p.item = row.Ref
					if key == metrics.Resource(Idle) || key == metrics.Resource(Shared) || key == metrics.Resource(Overhead) {
						p.item = object.Ref{}
					}
					got[p] = got[p].Add(cost)
				}
			}
		})
		for p, cost := range want {
			if !got[p].Equal(cost) {
				t.Errorf("%v: %s on the rows, %s in the ledger", p, got[p], cost)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d things cost on the rows, %d in the ledger", len(got), len(want))
		}
	})
}

// Each thing has one row in a stack, and in a report by anything else but nodes, where
// a name that was used again may be on two.
func TestRollShowsThingsOnce(t *testing.T) {
	type place struct{ stack, item object.Ref }
	eachWorld(t, func(t *testing.T, _ *rand.Rand, _ world, g Grouping, r *Report) {
		seen := map[place]bool{}
		walk(&r.Total, r.Rows, func(_ *Row, rows []*Row) {
			for _, row := range rows {
				// A claim may be unmounted and with a pod of nobody's at once.
				if row.Level != LevelPod || g.has(ByNode) || row.Stack == (object.Ref{}) && isClaim(row.Ref) {
					continue
				}
				if seen[place{row.Stack, row.Ref}] {
					t.Errorf("%s is twice below %s", row.Ref, row.Stack)
				}
				seen[place{row.Stack, row.Ref}] = true
			}
		})
	})
}

// However things are shared, the total is what was read.
func TestRollKeepsAmounts(t *testing.T) {
	eachWorld(t, func(t *testing.T, _ *rand.Rand, w world, _ Grouping, r *Report) {
		used, requested, counters := metrics.Amounts{}, metrics.Amounts{}, metrics.Amounts{}
		var claimed decimal.Decimal
		measured := 0
		for _, pod := range w.reading.Pods {
			if pod.Unmeasured == "" {
				measured++
			}
			for resource, amount := range pod.Used.All() {
				if !pod.HostNetwork || resource != metrics.Received && resource != metrics.Sent {
					used.Add(resource, amount)
				}
			}
			addAmounts(&requested, pod.Requested)
			if !pod.HostNetwork {
				addAmounts(&counters, pod.Counters)
			}
		}
		for _, claim := range w.reading.Claims {
			claimed = claimed.Add(claim.Claimed)
			if claim.UsedKnown {
				used.Add(metrics.Storage, claim.Used)
			}
		}
		if r.Total.Pods != len(w.reading.Pods) || r.Total.Measured != measured {
			t.Errorf("%d of %d pods measured, want %d of %d", r.Total.Measured, r.Total.Pods, measured, len(w.reading.Pods))
		}
		for what, pair := range map[string][2]metrics.Amounts{
			"used": {r.Total.Used, used}, "requested": {r.Total.Requested, requested}, "counters": {r.Total.Counters, counters},
		} {
			if fmt.Sprint(pair[0]) != fmt.Sprint(pair[1]) && len(pair[0])+len(pair[1]) > 0 {
				t.Errorf("%s: %v, read %v", what, pair[0], pair[1])
			}
		}
		if !r.Total.Claimed.Value(metrics.Storage).Equal(claimed) {
			t.Errorf("claimed %v, read %s", r.Total.Claimed, claimed)
		}
	})
}

func TestRollDoesNotDependOnOrder(t *testing.T) {
	eachWorld(t, func(t *testing.T, rng *rand.Rand, w world, g Grouping, r *Report) {
		other := w.shuffled(rng)
		again := NewReport(other.reading, other.placement, other.ledger, g)
		compareReports(t, again, r)
	})
}

// compareReports compares everything that two reports say.
func compareReports(t *testing.T, a, b *Report) {
	t.Helper()
	got := strings.Split(fullText(append(a.Rows, &a.Total)), "\n")
	want := strings.Split(fullText(append(b.Rows, &b.Total)), "\n")
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("line %d in another order:\n%s\nand before:\n%s", i, got[min(i, len(got)-1)], want[i])
		}
	}
}

func addAmounts(to *metrics.Amounts, from metrics.Amounts) {
	for resource, amount := range from.All() {
		to.Add(resource, amount)
	}
}
