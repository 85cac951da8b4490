package cost

import (
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Of a reading and the ledger that is allocated to it, under any options: the report
// adds up to the ledger, each stack pays what the ledger says, what is used is split as
// what is paid, and the order of the lists changes nothing.
func TestRollOfLedger(t *testing.T) {
	seed := 0
	eachRandom(t, func(t *testing.T, rnd *rand.Rand, r *metrics.UsageReport, p *metrics.Attribution, f tariff, o Options) {
		if seed++; seed%4 != 0 {
			return
		}
		l := allocateAt(r, p, f, o)
		paid := map[object.Ref]decimal.Decimal{}
		for i := range l.Charges {
			paid[l.Charges[i].Stack] = paid[l.Charges[i].Stack].Add(l.Charges[i].Cost)
		}
		for _, g := range []Grouping{{Keys: []Key{{By: ByStack}}, Containers: true}, {Keys: []Key{{By: ByNamespace}}}, {Keys: []Key{{By: ByNode}}}, {Keys: []Key{{By: ByResource}}}, {Keys: []Key{{By: ByNamespace}, {By: ByNode}}}} {
			report := NewReport(r, p, l, g)
			if total := l.Total(); !report.Total.Cost.Equal(total) || report.Total.Pods != len(r.Pods) {
				t.Errorf("by %s: %d pods cost %s, in the ledger %d pods %s", keysOf(g), report.Total.Pods, report.Total.Cost, len(r.Pods), total)
			}
			walk(&report.Total, report.Rows, func(above *Row, rows []*Row) { checkSum(t, above, rows) })
			checkMoney(t, report, Round(report, ColumnCost, 2))
			if g.has(ByStack) {
				checkStacks(t, report, paid)
			}
			other, placement := shuffled(rnd, r, p)
			placement.Stacks = p.Stacks
			compareReports(t, NewReport(other, placement, allocateAt(other, placement, f, o), g), report)
		}
	})
}

// checkStacks compares what the rows of stacks cost with what is paid, and the shares
// of pods with their usage.
func checkStacks(t *testing.T, r *Report, paid map[object.Ref]decimal.Decimal) {
	t.Helper()
	shares := map[object.Ref]decimal.Decimal{}
	for _, row := range r.Rows {
		if row.Level == LevelStack && !row.Cost.Equal(paid[row.Ref]) {
			t.Errorf("%s costs %s, in the ledger %s", row.Ref, row.Cost, paid[row.Ref])
		}
	}
	walk(&r.Total, r.Rows, func(_ *Row, rows []*Row) {
		for _, row := range rows {
			if row.Level == LevelPod && row.Of > 1 {
				shares[row.Ref] = shares[row.Ref].Add(row.Share)
			}
		}
	})
	for item, sum := range shares {
		// Shares that differ by resource are those of the cost, to 12 places.
		if sum.Sub(decimal.NewFromInt(1)).Abs().GreaterThan(decimal.New(10, -places)) {
			t.Errorf("the shares of %s add up to %s", item, sum)
		}
	}
}
