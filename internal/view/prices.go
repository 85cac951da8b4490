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
	toned := func(value func(cost.Line) string) func(cost.Line) Cell {
		return func(l cost.Line) Cell {
			if l.NotCharged {
				return Cell{value(l), Faint}
			}
			return Cell{Text: value(l)}
		}
	}
	list := func(shown priceFormat) ColumnsOf[cost.Line] {
		return ColumnsOf[cost.Line]{
			{Column: Column{Name: "PRICE", Truncate: Middle, MinWidth: 16}, Value: toned(func(l cost.Line) string { return l.SKU })},
			{Column: Column{Name: "UNIT"}, Value: AsFaint(func(l cost.Line) string { return l.Unit })},
			{Column: Column{Name: "IN " + b.Currency, Right: true}, Value: toned(func(l cost.Line) string { return shown(l.List, 9) })},
			{Column: Column{Name: "AFTER DISCOUNT", Right: true, DropOrder: 2}, Value: toned(func(l cost.Line) string {
				if l.Net.Equal(l.List) {
					return ""
				}
				return shown(l.Net, 9)
			})},
			{Column: Column{Name: "PER MONTH", Right: true, DropOrder: 1}, Value: toned(func(l cost.Line) string {
				if !l.Timed {
					return ""
				}
				return shown(perMonth(l.Net), 4)
			})},
			{Column: Column{Name: "SCOPE", Truncate: End, MinWidth: 12}, Value: AsFaint(func(l cost.Line) string {
				if l.NotCharged {
					return "not charged"
				}
				return l.Where
			})},
		}
	}
	return Output{Table: list(rounded).Table(b.Lines()), Wide: list(whole).wideTable(b.Lines()), Document: b.Document()}
}

// priceFormat writes a price, rounded to so many decimals or whole.
type priceFormat func(decimal.Decimal, int32) string

// rounded writes a price for people, whole where rounding would make it zero.
func rounded(d decimal.Decimal, places int32) string {
	if short := d.Round(places); !short.IsZero() {
		return short.String()
	}
	return d.String()
}

// whole writes a price to its last digit.
func whole(d decimal.Decimal, _ int32) string { return d.String() }

// perMonth is a price an hour by the month. It is rounded to 12 decimals, so that a price that
// was given by the month comes out as it was given.
func perMonth(hour decimal.Decimal) decimal.Decimal {
	return hour.Mul(decimal.NewFromInt(cost.HoursPerMonth)).Round(12)
}

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
	// capacity is unknown.
	Hour string `json:"hour,omitempty"`
}

// UnitPriceDocument is what a unit of a resource costs an hour.
type UnitPriceDocument struct {
	Resource string `json:"resource"`
	Unit     string `json:"unit"`
	// Capacity of the node, in units; empty where it is unknown.
	Capacity string `json:"capacity,omitempty"`
	// List is the price of the book, Net what is left after discounts.
	List string `json:"list"`
	Net  string `json:"net"`
	// SKU names the line of the book.
	SKU string `json:"sku"`
}

// NodePrices returns the answer of prices show --nodes.
func NodePrices(b *cost.Book, nodes []metrics.Node, namespace string, gaps []object.Gap) Output {
	doc := NodePricesDocument{Head: HeadOf("NodePrices"), Book: b.Name, Currency: b.Currency, Namespace: namespace, Gaps: gaps}
	var rows []nodePrice
	for i := range nodes {
		r := nodePrice{node: &nodes[i], rates: b.Node(&nodes[i], namespace)}
		r.doc, r.hour = nodePrices(b, &nodes[i], namespace)
		rows = append(rows, r)
		doc.Nodes = append(doc.Nodes, r.doc)
	}
	return Output{Table: nodePriceColumns(b.Currency, rounded).Table(rows), Wide: nodePriceColumns(b.Currency, whole).wideTable(rows), Document: doc}
}

// nodePrice is a node with its rates, and what all of it costs an hour; nil where that is unknown.
type nodePrice struct {
	node  *metrics.Node
	rates cost.Rates
	doc   NodePriceDocument
	hour  *decimal.Decimal
}

func nodePriceColumns(currency string, shown priceFormat) ColumnsOf[nodePrice] {
	return ColumnsOf[nodePrice]{
		{Column: Column{Name: "NODE", Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(r nodePrice) string { return r.node.Name })},
		{Column: Column{Name: "PER CORE", Right: true}, Value: AsText(func(r nodePrice) string { return shown(r.rates.CPU.Net, 6) })},
		{Column: Column{Name: "PER GIB", Right: true}, Value: AsText(func(r nodePrice) string { return shown(r.rates.Memory.Net, 6) })},
		{Column: Column{Name: "PER DEVICE", Right: true, DropOrder: 3}, Value: AsText(func(r nodePrice) string {
			var pieces []string
			for _, res := range slices.Sorted(maps.Keys(r.rates.Extended)) {
				if r.node.Capacity[res].IsPositive() {
					pieces = append(pieces, string(res)+" "+shown(r.rates.Extended[res].Net, 6))
				}
			}
			return strings.Join(pieces, ", ")
		})},
		{Column: Column{Name: currency + " PER HOUR", Right: true}, Value: func(r nodePrice) Cell {
			if r.hour == nil {
				return Cell{"unknown", Warn}
			}
			return Cell{Text: shown(*r.hour, 6)}
		}},
		{Column: Column{Name: "PER MONTH", Right: true, DropOrder: 1}, Value: AsText(func(r nodePrice) string {
			if r.hour == nil {
				return ""
			}
			return shown(perMonth(*r.hour), 2)
		})},
		{Column: Column{Name: "OVERRIDES", Truncate: End, MinWidth: 9, DropOrder: 2}, Value: AsFaint(func(r nodePrice) string { return strings.Join(r.doc.Overrides, ", ") })},
	}
}

// nodePrices are those of one node, and what all of it costs an hour; nil where
// that is unknown.
func nodePrices(b *cost.Book, n *metrics.Node, namespace string) (NodePriceDocument, *decimal.Decimal) {
	d := NodePriceDocument{Name: n.Name, Overrides: b.Matched(n, namespace)}
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
