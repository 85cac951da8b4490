package cost

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// SortKeys are what Sort can sort by.
func SortKeys() []string {
	return []string{"cost", "cpu", "efficiency", "memory", "name", "network", "pods", "storage"}
}

// Sort sorts the rows of a report, at every level: by name, or by a figure, the
// largest first and those that are unknown last. Ties go by reference. CPU, memory
// and network are those used, storage is claimed. Rest rows stay last, in their order.
// An unknown key is an error.
func Sort(r *Report, key string) error {
	if !slices.Contains(SortKeys(), key) {
		return fmt.Errorf("sort by %q: expected one of %s", key, strings.Join(SortKeys(), ", "))
	}
	figure := figureOf(key)
	walk(&r.Total, r.Rows, func(above *Row, rows []*Row) {
		slices.SortFunc(rows, func(x, y *Row) int {
			if c := cmp.Compare(restRank(above, x), restRank(above, y)); c != 0 {
				return c
			}
			if figure == nil {
				return cmp.Or(strings.Compare(shortName(x), shortName(y)), compareRows(x, y))
			}
			return cmp.Or(compareFigures(x, y, figure), compareRows(x, y))
		})
	})
	return nil
}

func shortName(r *Row) string {
	if r.Ref != (object.Ref{}) {
		return r.Ref.Name
	}
	return r.Name
}

// compareFigures orders rows by a figure, downwards.
func compareFigures(x, y *Row, figure func(*Row) (decimal.Decimal, bool)) int {
	a, aKnown := figure(x)
	b, bKnown := figure(y)
	switch {
	case aKnown && bKnown:
		return b.Cmp(a)
	case aKnown:
		return -1
	case bKnown:
		return 1
	}
	return 0
}

// figureOf returns what tells the figure of a row, and whether it is known; nil for
// names.
func figureOf(key string) func(*Row) (decimal.Decimal, bool) {
	used := func(resource metrics.Resource) func(*Row) (decimal.Decimal, bool) {
		return func(r *Row) (decimal.Decimal, bool) { amount, ok := r.Used.Lookup(resource); return amount, ok }
	}
	switch key {
	case "cost":
		return func(r *Row) (decimal.Decimal, bool) { return r.Cost, true }
	case "cpu":
		return used(metrics.CPU)
	case "memory":
		return used(metrics.Memory)
	case "storage":
		return func(r *Row) (decimal.Decimal, bool) {
			amount, ok := r.Claimed.Lookup(metrics.Storage)
			return amount, ok
		}
	case "network":
		return trafficOf
	case "pods":
		return func(r *Row) (decimal.Decimal, bool) { return decimal.NewFromInt(int64(r.Pods)), true }
	case "efficiency":
		return func(r *Row) (decimal.Decimal, bool) {
			if r.Efficiency == nil {
				return decimal.Decimal{}, false
			}
			return *r.Efficiency, true
		}
	}
	return nil
}

// trafficOf is what a row received and sent, over the window or since its pods
// started.
func trafficOf(r *Row) (decimal.Decimal, bool) {
	for _, amounts := range []metrics.Amounts{r.Used, r.Counters} {
		received, a := amounts.Lookup(metrics.Received)
		sent, b := amounts.Lookup(metrics.Sent)
		if a || b {
			return received.Add(sent), true
		}
	}
	return decimal.Decimal{}, false
}

// order is the order of a new report: stacks as the placement has them, other rows by
// reference, groups by name, rests last.
func (b *reportBuilder) order(r *Report) {
	rank := make(map[object.Ref]int, len(b.placement.Stacks))
	for i, stack := range b.placement.Stacks {
		if _, ok := rank[stack]; !ok {
			rank[stack] = i - len(b.placement.Stacks)
		}
	}
	walk(&r.Total, r.Rows, func(above *Row, rows []*Row) {
		slices.SortFunc(rows, func(x, y *Row) int {
			if c := cmp.Compare(restRank(above, x), restRank(above, y)); c != 0 {
				return c
			}
			return compareRows(x, y)
		})
	})
	stacks := r.Rows
	if b.base != top {
		stacks = b.rows[b.base].Children
	}
	slices.SortStableFunc(stacks, func(x, y *Row) int {
		if x.Level != LevelStack || y.Level != LevelStack {
			return 0
		}
		return cmp.Compare(rank[x.Ref], rank[y.Ref])
	})
}

// compareRows is an order of rows that depends only on their identity.
func compareRows(x, y *Row) int {
	if c := cmp.Or(cmp.Compare(noneRank(x), noneRank(y)), cmp.Compare(levelRank(x), levelRank(y))); c != 0 {
		return c
	}
	if c := object.Compare(x.Ref, y.Ref); c != 0 {
		return c
	}
	return cmp.Or(strings.Compare(x.Name, y.Name), strings.Compare(string(x.Level), string(y.Level)), strings.Compare(x.Cluster, y.Cluster))
}

// restRank is 0 for rows that are no rest, and the place of the others. Below a rest
// its nodes or namespaces are rows like others.
func restRank(above, r *Row) int {
	if r.Level != LevelRest || above.Level == LevelRest && above.Name != restUnattributed {
		return 0
	}
	rests := [...]string{restUnattributed, restUnmounted, UnclaimedVolumes, restIdle, restShared, restOverhead}
	for i, name := range rests {
		if r.Name == name {
			return 1 + i
		}
	}
	return 1 + len(rests)
}

// noneRank puts the group of what has no value after the others.
func noneRank(r *Row) int {
	if r.Level == LevelGroup && r.Name == noValue {
		return 1
	}
	return 0
}

// levelRank puts what owns others first, then pods, and then claims and Services.
func levelRank(r *Row) int {
	switch {
	case r.Level != LevelPod:
		return slices.Index([]Level{LevelGroup, LevelStack, LevelResource, LevelWorkload}, r.Level)
	case isPod(r.Ref):
		return 5
	}
	return 6
}

// walk calls a function for the rows below each row, from the top.
func walk(above *Row, rows []*Row, visit func(above *Row, rows []*Row)) {
	if len(rows) == 0 {
		return
	}
	visit(above, rows)
	for _, row := range rows {
		walk(row, row.Children, visit)
	}
}
