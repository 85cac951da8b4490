package view

import (
	"maps"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Prices returns the answer of prices show. Its document is the book itself
// (docs/schema/prices.json).
func Prices(b *cost.Book) Output {
	columns := func(least int) []Column {
		return []Column{
			{Name: "PRICE", Truncate: Middle, MinWidth: 16},
			{Name: "UNIT"},
			{Name: "IN " + b.Currency, Right: true},
			{Name: "AFTER DISCOUNT", Right: true, DropOrder: 2},
			{Name: "PER MONTH", Right: true, DropOrder: 1},
			{Name: "SCOPE", Truncate: End, MinWidth: least},
		}
	}
	table, wide := &Table{Columns: columns(12)}, &Table{Columns: columns(0)}
	for _, l := range b.Lines() {
		tone, where := Plain, l.Where
		if l.NotCharged {
			tone, where = Faint, "not charged"
		}
		row := func(shown func(decimal.Decimal, int32) string) []Cell {
			net, month := "", ""
			if !l.Net.Equal(l.List) {
				net = shown(l.Net, 9)
			}
			if l.Timed {
				month = shown(l.Net.Mul(decimal.NewFromInt(cost.HoursPerMonth)).Round(monthDigits), 4)
			}
			return []Cell{{l.SKU, tone}, {l.Unit, Faint}, {shown(l.List, 9), tone}, {net, tone}, {month, tone}, {where, Faint}}
		}
		table.Rows = append(table.Rows, row(rounded))
		wide.Rows = append(wide.Rows, row(whole))
	}
	return Output{Table: table, Wide: wide, Document: b.Document()}
}

// rounded writes a price for people. One that would be nothing is written whole.
func rounded(d decimal.Decimal, places int32) string {
	if short := d.Round(places); !short.IsZero() {
		return short.String()
	}
	return d.String()
}

// whole writes a price to its last digit.
func whole(d decimal.Decimal, _ int32) string { return d.String() }

// monthDigits are the decimals of a month's price: a price that was given by the month
// comes out as it was given.
const monthDigits = 12

// NodePricesDocument is what nodes cost (docs/schema/prices-nodes.json).
type NodePricesDocument struct {
	Head     `json:",inline"`
	Book     string `json:"book"`
	Currency string `json:"currency"`
	// Namespace is the one whose prices are meant; empty for none.
	Namespace string              `json:"namespace,omitempty"`
	Nodes     []NodePriceDocument `json:"nodes"`
	Gaps      []object.Gap        `json:"gaps"`
}

// NodePriceDocument is what a node costs.
type NodePriceDocument struct {
	Name string `json:"name"`
	// Overrides are those that apply, by name, in the order of the book.
	Overrides []string            `json:"overrides"`
	Prices    []UnitPriceDocument `json:"prices"`
	// Hour is what all of the node costs an hour, after discounts; empty where its
	// capacity is not known.
	Hour string `json:"hour,omitempty"`
}

// UnitPriceDocument is what a unit of a resource costs an hour.
type UnitPriceDocument struct {
	Resource string `json:"resource"`
	Unit     string `json:"unit"`
	// Capacity of the node, in units; empty where it is not known.
	Capacity string `json:"capacity,omitempty"`
	// List is the price of the book, Net what is left after discounts.
	List string `json:"list"`
	Net  string `json:"net"`
	// SKU names the line of the book.
	SKU string `json:"sku"`
}

// NodePrices returns the answer of prices show --nodes.
func NodePrices(b *cost.Book, nodes []metrics.Node, namespace string, gaps []object.Gap) Output {
	doc := NodePricesDocument{Head: Head{APIVersion, "NodePrices"}, Book: b.Name, Currency: b.Currency, Namespace: namespace, Nodes: []NodePriceDocument{}, Gaps: none(gaps)}
	head := []Column{
		{Name: "NODE", Truncate: Middle, MinWidth: leastName},
		{Name: "PER CORE", Right: true},
		{Name: "PER GIB", Right: true},
		{Name: "PER DEVICE", Right: true, DropOrder: 3},
		{Name: b.Currency + " PER HOUR", Right: true},
		{Name: "PER MONTH", Right: true, DropOrder: 1},
		{Name: "OVERRIDES", Truncate: End, MinWidth: 9, DropOrder: 2},
	}
	table, wide := &Table{Columns: head}, &Table{Columns: head}
	for i := range nodes {
		n := &nodes[i]
		d, hour := nodePrices(b, n, namespace)
		doc.Nodes = append(doc.Nodes, d)
		rates := b.Node(n, namespace)
		row := func(shown func(decimal.Decimal, int32) string) []Cell {
			var pieces []string
			for _, r := range slices.Sorted(maps.Keys(rates.Extended)) {
				if n.Capacity[r].IsPositive() {
					pieces = append(pieces, string(r)+" "+shown(rates.Extended[r].Net, 6))
				}
			}
			all, month := Cell{"unknown", Warn}, Cell{}
			if hour != nil {
				all, month = Cell{shown(*hour, 6), Plain}, Cell{shown(hour.Mul(decimal.NewFromInt(cost.HoursPerMonth)).Round(monthDigits), 2), Plain}
			}
			return []Cell{{n.Name, Plain}, {shown(rates.CPU.Net, 6), Plain}, {shown(rates.Memory.Net, 6), Plain}, {strings.Join(pieces, ", "), Plain}, all, month, {strings.Join(d.Overrides, ", "), Faint}}
		}
		table.Rows = append(table.Rows, row(rounded))
		wide.Rows = append(wide.Rows, row(whole))
	}
	return Output{Table: table, Wide: wide, Document: doc}
}

// nodePrices are those of one node, and what all of it costs an hour; nil where
// that is not known.
func nodePrices(b *cost.Book, n *metrics.Node, namespace string) (NodePriceDocument, *decimal.Decimal) {
	d := NodePriceDocument{Name: n.Name, Overrides: none(b.Matched(n, namespace)), Prices: []UnitPriceDocument{}}
	rates := b.Node(n, namespace)
	total, known := decimal.Zero, true
	add := func(r metrics.Resource, unit string, per decimal.Decimal, p cost.Price) {
		u := UnitPriceDocument{Resource: string(r), Unit: unit, List: p.List.String(), Net: p.Net.String(), SKU: p.SKU}
		amount, ok := n.Capacity[r]
		if ok && n.Hours.IsPositive() {
			units := amount.DivRound(n.Hours.Mul(per), 30) // Of bytes every GiB is exact.
			u.Capacity = units.String()
			total = total.Add(units.Mul(p.Net))
		}
		known = known && ok
		d.Prices = append(d.Prices, u)
	}
	one := decimal.NewFromInt(1)
	add(metrics.CPU, "core-hour", one, rates.CPU)
	add(metrics.Memory, "GiB-hour", decimal.NewFromInt(1<<30), rates.Memory)
	for _, r := range slices.Sorted(maps.Keys(rates.Extended)) {
		if n.Capacity[r].IsPositive() {
			add(r, "piece-hour", one, rates.Extended[r])
		}
	}
	if !known {
		return d, nil
	}
	total = total.Round(cost.Digits)
	d.Hour = total.String()
	return d, &total
}
