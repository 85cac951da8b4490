package uistate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// payments are what one stack pays: the charges of each thing, and of what is no thing of it by
// a name.
type payments struct {
	items map[object.Ref][]*cost.Charge
	rest  map[string][]*cost.Charge
}

// costs puts the charges in order.
func (b *stateBuilder) costs() {
	b.rows, b.paid, b.whole = map[object.Ref]*cost.Row{}, map[object.Ref]*payments{}, map[object.Ref]decimal.Decimal{}
	if b.Report == nil {
		return
	}
	b.money = cost.Round(b.Report, b.column(), 2)
	for _, row := range b.Report.Rows {
		if row.Level == cost.LevelStack {
			b.rows[row.Ref] = row
		}
	}
	for i := range b.Ledger.Charges {
		c := &b.Ledger.Charges[i]
		p := b.paid[c.Stack]
		if p == nil {
			p = &payments{map[object.Ref][]*cost.Charge{}, map[string][]*cost.Charge{}}
			b.paid[c.Stack] = p
		}
		switch c.Kind {
		case cost.Idle, cost.Shared, cost.Overhead:
			p.rest[string(c.Kind)] = append(p.rest[string(c.Kind)], c)
		default:
			p.items[c.Item] = append(p.items[c.Item], c)
			b.whole[c.Item] = b.whole[c.Item].Add(c.Cost)
		}
	}
}

// column is that of the money that is shown: of a month at the rates of now, or of the window.
func (b *stateBuilder) column() cost.Column {
	if b.Reading.Instant() {
		return cost.ColumnMonth
	}
	return cost.ColumnCost
}

// cents are hundredths of the money that is shown, as a State has them.
func cents(d decimal.Decimal) int64 { return d.Shift(2).IntPart() }

// attribute says what each place of a stack costs, and what is at none of them. The exact costs
// go up along the tree; what is shown is shared out downwards, by largest remainder, so that it
// adds up at every place.
func (b *stateBuilder) attribute(name object.Ref, row *cost.Row, t *stackTree) (*int64, []Unattributed) {
	shown, known := b.money[row]
	if !known || !row.Priced() {
		return nil, nil
	}
	own := make([]decimal.Decimal, len(t.places))
	charged := make([][]*cost.Charge, len(t.places))
	rest := map[string]decimal.Decimal{}
	if paid := b.paid[name]; paid != nil {
		for item, charges := range paid.items {
			id, found := b.Graph.Find(item)
			at, placed := t.at[id]
			if !found || !placed {
				rest[item.String()] = rest[item.String()].Add(chargesSum(charges))
				continue
			}
			own[at], charged[at] = chargesSum(charges), charges
		}
		for kind, charges := range paid.rest {
			rest[kind] = rest[kind].Add(chargesSum(charges))
		}
	}
	names := slices.Sorted(maps.Keys(rest))
	tree := &costTree{above: t.above, own: own, charged: make([]bool, len(own))}
	for i := range charged {
		tree.charged[i] = charged[i] != nil
	}
	for _, kind := range names {
		tree.rest = append(tree.rest, rest[kind])
	}
	total := cents(shown)
	money := tree.round(total, b.Report.Hours, b.column() == cost.ColumnMonth)
	for i := range t.places {
		p := &t.places[i]
		if money.known[i] {
			p.Cost = &money.cost[i]
		}
		if charged[i] == nil {
			continue
		}
		p.Own = &money.own[i]
		p.Share, p.Charges, p.Path = shareText(charged[i]), b.parts(charged[i], money.own[i]), b.way(name, charged[i][0].Item)
	}
	b.wholes(t, charged)
	var out []Unattributed
	for i, kind := range names {
		out = append(out, Unattributed{kind, money.rest[i]})
	}
	return &total, out
}

// wholes says of the places that are shared what all stacks pay of them.
func (b *stateBuilder) wholes(t *stackTree, charged [][]*cost.Charge) {
	sums := make([]decimal.Decimal, len(t.places))
	for i := len(t.places) - 1; i >= 0; i-- {
		if charged[i] != nil {
			sums[i] = sums[i].Add(b.whole[charged[i][0].Item])
		}
		if above := t.above[i]; above >= 0 {
			sums[above] = sums[above].Add(sums[i])
		}
		if p := &t.places[i]; p.Shared && sums[i].IsPositive() {
			p.Whole = nearest(sums[i], b.Report.Hours, b.column() == cost.ColumnMonth)
		}
	}
}

func chargesSum(charges []*cost.Charge) decimal.Decimal {
	var sum decimal.Decimal
	for _, c := range charges {
		sum = sum.Add(c.Cost)
	}
	return sum
}

// parts are what is paid of a thing, by what is paid for.
func (b *stateBuilder) parts(charges []*cost.Charge, total int64) map[string]int64 {
	costs := metrics.Amounts{}
	for _, c := range charges {
		costs.Add(c.Resource, c.Cost)
	}
	return b.split(costs, total)
}

// split shares what is shown of a sum out among its parts.
func (b *stateBuilder) split(costs metrics.Amounts, total int64) map[string]int64 {
	names, exact := make([]metrics.Resource, 0, len(costs)), make([]decimal.Decimal, 0, len(costs))
	for name, amount := range costs.All() {
		names, exact = append(names, name), append(exact, amount)
	}
	out := map[string]int64{}
	for i, n := range shareOut(total, exact, b.Report.Hours, b.column() == cost.ColumnMonth) {
		out[string(names[i])] = n
	}
	return out
}

// way is the nodes by which the cost of a thing goes to a stack, the topmost first.
func (b *stateBuilder) way(stack, item object.Ref) []int {
	place := b.Placement.Of[item]
	if !slices.Contains(place.Stacks, stack) {
		return nil
	}
	var out []int
	for _, ref := range place.Path[max(0, slices.Index(place.Path, stack)):] {
		if id, ok := b.Graph.Find(ref); ok && b.held[id] {
			out = append(out, b.number(id))
		}
	}
	return out
}

// shareText is the part of a thing that charges of one stack pay: "1/3", "42 %", or nothing for
// all of it. Where it is not the same for each resource it is that of the cost.
func shareText(charges []*cost.Charge) string {
	type sum struct{ share, cost decimal.Decimal }
	sums := map[string]*sum{}
	sharers := 0
	for _, c := range charges {
		s := sums[string(c.Resource)]
		if s == nil {
			s = &sum{}
			sums[string(c.Resource)] = s
		}
		s.share, s.cost = s.share.Add(c.Share), s.cost.Add(c.Cost)
		sharers = max(sharers, c.Of)
	}
	if sharers < 2 {
		return ""
	}
	var part, whole decimal.Decimal
	for _, s := range sums {
		if s.share.IsPositive() {
			part, whole = part.Add(s.cost), whole.Add(s.cost.DivRound(s.share, 12))
		}
	}
	if !whole.IsPositive() {
		return fmt.Sprintf("1/%d", sharers)
	}
	share := part.DivRound(whole, 6)
	near := decimal.New(1, -5)
	for n := 2; n <= max(sharers, 12); n++ {
		whole := decimal.New(int64(n), 0)
		k := share.Mul(whole).Round(0)
		if k.IsPositive() && k.LessThan(whole) && share.Sub(k.DivRound(whole, 6)).Abs().LessThan(near) {
			return fmt.Sprintf("%s/%d", k, n)
		}
	}
	if share.GreaterThanOrEqual(decimal.New(1, 0)) {
		return ""
	}
	return share.Shift(2).StringFixed(0) + " %"
}

// groupings are the totals by something else.
func (b *stateBuilder) groupings() {
	for _, g := range b.Costs {
		b.p.Costs = append(b.p.Costs, b.grouping(g))
	}
}

// CostsOf sums a report of a reading up as a State does.
func CostsOf(groupBy string, r *cost.Report, usage *metrics.UsageReport) Costs {
	b := &stateBuilder{Input: Input{Report: r, Reading: usage}}
	return b.grouping(Grouping{groupBy, r})
}

func (b *stateBuilder) grouping(g Grouping) Costs {
	out := Costs{GroupBy: g.By, Rows: []CostRow{}}
	money := cost.Round(g.Report, b.column(), 2)
	for _, row := range g.Report.Rows {
		if !row.Priced() {
			continue
		}
		r := CostRow{Name: cmp.Or(row.Name, row.Ref.String()), Pods: row.Pods, Cost: cents(money[row])}
		r.Parts = b.split(row.Costs, r.Cost)
		out.Rows = append(out.Rows, r)
	}
	out.Total = cents(money[&g.Report.Total])
	out.Parts = b.split(g.Report.Total.Costs, out.Total)
	slices.SortStableFunc(out.Rows, func(x, y CostRow) int {
		return cmp.Or(cmp.Compare(y.Cost, x.Cost), cmp.Compare(x.Name, y.Name))
	})
	return out
}
