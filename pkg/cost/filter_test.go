package cost

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// A filter by the values of a group leaves what the group costs, and as many pods.
func TestFilterIsAGroup(t *testing.T) {
	eachWorld(t, func(t *testing.T, _ *rand.Rand, w world, g Grouping, r *Report) {
		if g.has(ByStack) || len(g.Keys) == 0 {
			return
		}
		for _, way := range r.Lines() {
			row := way[len(way)-1]
			if row.Level != LevelGroup || g.has(ByAnnotation) {
				continue
			}
			if slices.ContainsFunc(way, func(r *Row) bool { return r.Name == noValue }) {
				continue // what has a rest row beside the group has no value either
			}
			var terms []string
			for i, above := range way {
				name := above.Name
				if above.Ref.Kind != "" {
					name = above.Ref.String()
				}
				terms = append(terms, g.Keys[i].String()+"="+name)
			}
			f, err := ParseFilter(strings.Join(terms, ","))
			if err != nil {
				t.Fatal(err)
			}
			reading, ledger := f.Select(w.reading, w.placement, w.ledger, g)
			if got := ledger.Total(); !got.Equal(row.Cost) {
				t.Errorf("%s costs %s, its group %s", terms, got, row.Cost)
			}
			if len(reading.Pods) != row.Pods {
				t.Errorf("%s has %d pods, its group %d", terms, len(reading.Pods), row.Pods)
			}
			again := NewReport(reading, w.placement, ledger, g)
			if !again.Total.Cost.Equal(ledger.Total()) {
				t.Errorf("%s costs %s in a report, %s in the ledger", terms, again.Total.Cost, ledger.Total())
			}
		}
	})
}

// A filter and its contrary are the whole.
func TestFilterAndItsContrary(t *testing.T) {
	eachWorld(t, func(t *testing.T, _ *rand.Rand, w world, g Grouping, r *Report) {
		for _, pair := range [][2]string{
			{"namespace in (ns0, ns2)", "namespace notin (ns0,ns2)"}, {"node=n*", "node!=n*"}, {"label:team=(none)", "label:team!="}, {"label:team in (a,(none))", "label:team notin (a,)"}, {"controllerKind==Cluster", "controllerKind!=Cluster"}, {"label:team=t?", "label:team!=t?"},
		} {
			var cost decimal.Decimal
			pods := 0
			for _, text := range pair {
				f, err := ParseFilter(text)
				if err != nil {
					t.Fatal(err)
				}
				reading, ledger := f.Select(w.reading, w.placement, w.ledger, g)
				part := NewReport(reading, w.placement, ledger, g)
				cost, pods = cost.Add(part.Total.Cost), pods+part.Total.Pods
			}
			if !cost.Equal(r.Total.Cost) || pods != r.Total.Pods {
				t.Errorf("%s: %s of %d pods, in all %s of %d", pair, cost, pods, r.Total.Cost, r.Total.Pods)
			}
		}
	})
}

// Reports of clusters add up, row by row, and what is below a row says where it is.
func TestMergeAddsUp(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 9))
		worlds := []world{randomWorld(rng), randomWorld(rng), randomWorld(rng)}
		for _, g := range groupings() {
			var reports []*Report
			var total decimal.Decimal
			pods := 0
			for i, w := range worlds {
				w.reading.Hours, w.ledger.Hours = worlds[0].reading.Hours, worlds[0].ledger.Hours
				g.Cluster = string(rune('a' + i))
				reports = append(reports, NewReport(w.reading, w.placement, w.ledger, g))
				total, pods = total.Add(w.ledger.Total()), pods+len(w.reading.Pods)
			}
			r := Merge(reports)
			if !r.Total.Cost.Equal(total) || r.Total.Pods != pods {
				t.Fatalf("seed %d by %s: %d pods cost %s, the clusters have %d of %s", seed, keysOf(g), r.Total.Pods, r.Total.Cost, pods, total)
			}
			walk(&r.Total, r.Rows, func(above *Row, rows []*Row) {
				checkSum(t, above, rows)
				for _, row := range rows {
					if row.Cluster == "" && row.Level != LevelGroup && row.Level != LevelRest {
						t.Errorf("%s%s is in no cluster", row.Ref, row.Name)
					}
					if row.Cluster != "" && row.Ref == (object.Ref{}) && row.Level == LevelGroup && !slices.Contains(g.Keys, Key{By: ByCluster}) {
						t.Errorf("the group %s is in the cluster %s alone", row.Name, row.Cluster)
					}
				}
			})
			checkMoney(t, r, Round(r, ColumnCost, 2))
			lines := decimal.Decimal{}
			for _, way := range r.Lines() {
				lines = lines.Add(way[len(way)-1].Cost)
			}
			if !lines.Equal(total) {
				t.Errorf("the lines cost %s, in all %s", lines, total)
			}
			if t.Failed() {
				t.Fatalf("seed %d by %s", seed, keysOf(g))
			}
		}
	}
}

func TestParseFilterErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "is no condition: expected KEY=VALUE",
		"shop":                `"shop" is no condition: expected KEY=VALUE, KEY!=VALUE, KEY in (VALUE,...) or KEY notin (VALUE,...); KEY is one of cluster, namespace,`,
		"namespace=a,":        "is no condition",
		"namespce=shop":       `unknown key "namespce" (did you mean namespace?): expected one of`,
		"stack=a":             "stack is no key of a filter",
		"label:=a":            "expected the key of a label after the colon",
		"annotation:a/b/c=a":  "expected the key of an annotation after the colon",
		"namespace in shop":   "has no list of values",
		"controller=a":        `unknown key "controller"`,
		"label[team]=a":       "expected one of",
		"namespace:x=a":       "unknown key",
		"namespace in (a,b,c": "has no list of values",
		"namespace in ()":     "has no list of values",
		"namespace in (a,b))": "has no list of values",
	} {
		if _, err := ParseFilter(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// What several stacks need is on rows of its own if nothing is shared, and the total stays.
func TestShareNone(t *testing.T) {
	eachRandom(t, func(t *testing.T, _ *rand.Rand, r *metrics.UsageReport, p *metrics.Attribution, f tariff, o Options) {
		o.ShareIdle = false
		want := allocateAt(r, p, f, o).Total()
		o.Sharing = ShareNone
		l := allocateAt(r, p, f, o)
		for i := range l.Charges {
			if l.Charges[i].Kind != Unmounted && l.Charges[i].Kind != Used && l.Charges[i].Kind != Idle && l.Charges[i].Kind != Overhead || l.Charges[i].Of > 1 {
				t.Errorf("%+v is shared", l.Charges[i])
			}
		}
		report := NewReport(r, p, l, Grouping{})
		if !l.Total().Equal(want) || !report.Total.Cost.Equal(want) {
			t.Errorf("%s in the ledger, %s in the report, want %s", l.Total(), report.Total.Cost, want)
		}
		walk(&report.Total, report.Rows, func(above *Row, rows []*Row) { checkSum(t, above, rows) })
		for _, row := range report.Rows {
			if row.Name == restUnattributed {
				walk(row, row.Children, func(_ *Row, rows []*Row) {
					for _, below := range rows {
						if place := p.Of[below.Ref]; below.Level == LevelPod && len(inOrder(place.Stacks)) > 1 {
							t.Errorf("%s of several stacks is unattributed", below.Ref)
						}
					}
				})
			}
		}
	})
}

// Things that a rule shares cost the others what they cost, in every way of sharing.
func TestSharedThings(t *testing.T) {
	shared := 0
	eachRandom(t, func(t *testing.T, rnd *rand.Rand, r *metrics.UsageReport, p *metrics.Attribution, f tariff, o Options) {
		want := allocateAt(r, p, f, Options{ShareOverhead: o.ShareOverhead}).Total()
		things := map[string]bool{}
		for i := range r.Pods {
			things[r.Pods[i].Ref.String()] = rnd.IntN(3) == 0
		}
		o.Shared = func(thing object.Ref) bool { return things[thing.String()] }
		l := allocateAt(r, p, f, o)
		for i := range l.Charges {
			c := &l.Charges[i]
			if c.Kind == Used && things[c.Item.String()] {
				t.Errorf("%s is shared, and charged to %s", c.Item, c.Stack)
			}
			if c.Kind == Shared {
				shared++
			}
		}
		for _, g := range []Grouping{{}, {Keys: []Key{{By: ByNamespace}, {By: ByNode}}}} {
			report := NewReport(r, p, l, g)
			if !l.Total().Equal(want) || !report.Total.Cost.Equal(want) {
				t.Errorf("by %s: %s in the ledger, %s in the report, want %s", keysOf(g), l.Total(), report.Total.Cost, want)
			}
			walk(&report.Total, report.Rows, func(above *Row, rows []*Row) { checkSum(t, above, rows) })
			checkMoney(t, report, Round(report, ColumnCost, 4))
		}
	})
	if shared < 1000 {
		t.Errorf("%d charges of shared things", shared)
	}
}
