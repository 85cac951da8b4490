package cost

import (
	"time"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Period is a part of a window, such as a day, and the report of it alone.
type Period struct {
	Name     string
	From, To time.Time
	Report   *Report
}

// Hours is how long the period is.
func (p *Period) Hours() decimal.Decimal {
	return decimal.NewFromInt(p.To.Sub(p.From).Milliseconds()).DivRound(decimal.NewFromInt(time.Hour.Milliseconds()), 12)
}

// Divide returns the report of a window with a row of LevelPeriod for each period, and below it
// the rows of the window that have something in it. Total stays that of the window.
//
// What each thing costs over the periods adds up to what it costs over the window, to the last
// digit and by what is paid for. Rounding is put right where most was paid. Where a window charges
// another amount than its periods do (of a node that was overcommitted for one of the days, more or
// less is idle; shares by usage are those of the window), that amount is divided in proportion.
//
// Of the rows of the window the first top are kept in every period, as Limit keeps them, and the
// others become one; 0 keeps all.
func Divide(whole *Report, periods []Period, top int) *Report {
	d := divider{periods: periods}
	for i := range periods {
		found := map[periodKey]*Row{}
		for _, row := range periods[i].Report.Rows {
			index(found, row, "")
		}
		d.rows = append(d.rows, found)
	}
	keys := whole.Keys
	if len(keys) == 0 {
		keys = []Key{{By: ByStack}}
	}
	out := &Report{Currency: whole.Currency, Hours: whole.Hours, Keys: append([]Key{{By: ByPeriod}}, keys...), Total: whole.Total}
	for i := range periods {
		total := &periods[i].Report.Total
		out.Rows = append(out.Rows, &Row{Level: LevelPeriod, Name: periods[i].Name, Pods: total.Pods, Measured: total.Measured, Gap: total.Gap, Efficiency: total.Efficiency})
	}
	limit := limiter{top: top}
	shown, hidden := limit.split(&whole.Total, whole.Rows, 1)
	for _, row := range shown {
		for i, part := range d.divide(row, "") {
			if part != nil {
				out.Rows[i].Children = append(out.Rows[i].Children, part)
			}
		}
	}
	more := make([][]*Row, len(periods))
	for _, row := range hidden {
		for i, part := range d.divide(row, "") {
			if part != nil {
				more[i] = append(more[i], part)
			}
		}
	}
	for i, row := range out.Rows {
		if len(more[i]) > 0 {
			rest := limit.more(more[i])
			rest.Name = moreName(len(hidden)) // that of the window
			row.Children = append(row.Children, rest)
		}
		addChildren(row, &whole.Total)
	}
	return out
}

// periodKey identifies a row below its groups, on whatever path it is there: a pod that is alone
// in its stack is the row of the stack.
type periodKey struct {
	groups     string
	cluster    string
	stack, ref object.Ref
	name       string
}

// keyOf returns the key of a row below groups, and the groups of the rows below it.
func keyOf(row *Row, groups string) (periodKey, string) {
	if row.Level == LevelGroup || row.Level == LevelRest {
		groups += row.Cluster + "\x00" + row.Ref.String() + "\x00" + row.Name + "\x00"
	}
	return periodKey{groups: groups, cluster: row.Cluster, stack: row.Stack, ref: row.Ref, name: row.Name}, groups
}

func index(found map[periodKey]*Row, row *Row, groups string) {
	key, groups := keyOf(row, groups)
	found[key] = row
	if !isLeaf(row) {
		for _, child := range row.Children {
			index(found, child, groups)
		}
	}
}

func isLeaf(row *Row) bool {
	return len(row.Children) == 0 || row.Children[0].Level == LevelContainer
}

type divider struct {
	periods []Period
	rows    []map[periodKey]*Row
}

// divide returns what of a row is in each period; nil for nothing.
func (d *divider) divide(row *Row, groups string) []*Row {
	key, groups := keyOf(row, groups)
	parts := make([]*Row, len(d.periods))
	found := make([]*Row, len(d.periods))
	for i := range d.periods {
		part := *row
		part.Children, part.Used, part.Requested, part.Limited, part.Claimed, part.Counters, part.HostTraffic = nil, nil, nil, nil, nil, nil, nil
		part.Cost, part.Costs, part.Pods, part.Measured, part.Efficiency, part.Unmeasured, part.Gap = decimal.Decimal{}, nil, 0, 0, nil, "", 0
		if same := d.rows[i][key]; same != nil {
			found[i] = same
			part.Pods, part.Measured, part.Efficiency, part.Unmeasured, part.Gap = same.Pods, same.Measured, same.Efficiency, same.Unmeasured, same.Gap
		}
		parts[i] = &part
	}
	if isLeaf(row) {
		d.leaf(row, parts, found)
	} else {
		for _, child := range row.Children {
			for i, part := range d.divide(child, groups) {
				if part != nil {
					parts[i].Children = append(parts[i].Children, part)
				}
			}
		}
	}
	for i, part := range parts {
		switch {
		case isLeaf(row) && found[i] == nil && part.Cost.IsZero(), !isLeaf(row) && len(part.Children) == 0:
			parts[i] = nil
		case !isLeaf(row):
			addChildren(part, row)
			if found[i] == nil {
				part.Pods, part.Measured = distinctPods(part.Children)
			}
		}
	}
	return parts
}

// leaf divides a row that is charged itself.
func (d *divider) leaf(row *Row, parts, found []*Row) {
	for _, amounts := range []func(*Row) *metrics.Amounts{
		func(r *Row) *metrics.Amounts { return &r.Costs },
		func(r *Row) *metrics.Amounts { return &r.Used },
		func(r *Row) *metrics.Amounts { return &r.Requested },
		func(r *Row) *metrics.Amounts { return &r.Limited },
		func(r *Row) *metrics.Amounts { return &r.Claimed },
		func(r *Row) *metrics.Amounts { return &r.HostTraffic },
	} {
		for resource, whole := range amounts(row).All() {
			weights, known := make([]decimal.Decimal, len(parts)), make([]bool, len(parts))
			for i := range found {
				if found[i] != nil {
					weights[i], known[i] = amounts(found[i]).Lookup(resource)
				}
			}
			for i, amount := range divideValue(whole, weights, d.periods) {
				if known[i] || !amount.IsZero() {
					amounts(parts[i]).Set(resource, amount)
				}
			}
		}
	}
	for i, part := range parts {
		for _, c := range part.Costs.All() {
			part.Cost = part.Cost.Add(c)
		}
		if found[i] != nil && isLeaf(found[i]) && len(found[i].Children) > 0 {
			part.Children = found[i].Children
		}
	}
}

// divideValue divides a value so that its parts add up to it.
func divideValue(value decimal.Decimal, weights []decimal.Decimal, periods []Period) []decimal.Decimal {
	const places = 18
	sum, largest := decimal.Sum(decimal.Decimal{}, weights...), 0
	if sum.IsZero() && !value.IsZero() {
		for i := range weights {
			weights[i] = periods[i].Hours()
		}
		sum = decimal.Sum(decimal.Decimal{}, weights...)
	}
	for i := range weights {
		if weights[i].GreaterThan(weights[largest]) {
			largest = i
		}
	}
	parts, rest := weights, value.Sub(sum)
	// What rounding does is far less than a millionth.
	if rest.Abs().GreaterThan(value.Abs().Shift(-6)) {
		parts, rest = make([]decimal.Decimal, len(weights)), value
		for i := range weights {
			parts[i] = value.Mul(weights[i]).DivRound(sum, places)
			rest = rest.Sub(parts[i])
		}
	}
	parts[largest] = parts[largest].Add(rest)
	return parts
}

// addChildren makes the sums of a row. It has the amounts that are known of the row over the window.
func addChildren(row, whole *Row) {
	for _, child := range row.Children {
		row.Cost, row.Gap = row.Cost.Add(child.Cost), max(row.Gap, child.Gap)
		row.Costs = addTo(row.Costs, child.Costs, nil)
		row.Used, row.Requested = addTo(row.Used, child.Used, whole.Used), addTo(row.Requested, child.Requested, whole.Requested)
		row.Limited, row.Claimed = addTo(row.Limited, child.Limited, whole.Limited), addTo(row.Claimed, child.Claimed, whole.Claimed)
	}
}

// addTo adds values to a sum; of those that a map knows, where it is not nil.
func addTo(sum, values, known metrics.Amounts) metrics.Amounts {
	for key, value := range values.All() {
		if _, has := known.Lookup(key); known != nil && !has {
			continue
		}
		sum.Add(key, value)
	}
	return sum
}
