package cost

import (
	"maps"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

// Line is a line of a book: one price, and where it holds.
type Line struct {
	// SKU is its name; the prices on a node that are split from that of the node have
	// no line of their own.
	SKU  string
	Unit string
	// Price is after the discounts of the same layer of the book.
	Price
	// Where it holds; empty for everywhere.
	Where string
	// NotCharged says that nothing is charged by it.
	NotCharged bool
	// Timed says that the unit has an hour in it.
	Timed bool
}

// Lines returns what the book says, line by line: the base prices, then the overrides
// in their order, last what is not charged.
func (b *Book) Lines() []Line {
	lines := b.base.lines("", "", b.base.discounts)
	for i := range b.overrides {
		o := &b.overrides[i]
		lines = append(lines, o.lines(o.name, o.location(), merged(o.discounts, b.base.discounts))...)
	}
	for _, name := range slices.Sorted(maps.Keys(b.notCharged)) {
		d := b.notCharged[name]
		lines = append(lines, Line{SKU: name, Unit: openCostUnit(name), Price: Price{List: d, Net: d, SKU: name}, NotCharged: true})
	}
	return lines
}

// lines are those of one layer.
func (p *prices) lines(override, location string, discounts map[string]decimal.Decimal) []Line {
	var all []Line
	add := func(sku, unit, kind string, d *decimal.Decimal) {
		if d == nil {
			return
		}
		if override != "" {
			sku = skuOf(sku, override)
		}
		all = append(all, Line{SKU: sku, Unit: unit, Price: discounted(*d, sku, discounts, kind), Where: location, Timed: strings.Contains(unit, "hour")})
	}
	table := func(prefix, unit, kind string, prices map[string]decimal.Decimal) {
		for _, name := range slices.Sorted(maps.Keys(prices)) {
			d := prices[name]
			add(prefix+name, unit, kind, &d)
		}
	}
	if p.node != nil {
		add("node", "node-hour", "", &p.node.Price)
	}
	add("cpu", "core-hour", discountCPU, p.cpu)
	add("memory", "GiB-hour", discountMemory, p.memory)
	add("storage", "GiB-hour", discountStorage, p.storage.Default)
	table("storage/", "GiB-hour", discountStorage, p.storage.Classes)
	table("volume/", "GiB-hour", discountStorage, p.storage.Volumes)
	for _, r := range slices.Sorted(maps.Keys(p.extended)) {
		d := p.extended[r]
		add(string(r), "piece-hour", string(r), &d)
	}
	for _, m := range p.models {
		table(string(m.Resource)+"/", "piece-hour", string(m.Resource), m.Models)
	}
	add("network/receive", "GiB", discountNetwork, p.network.Receive)
	add("network/transmit", "GiB", discountNetwork, p.network.Transmit)
	add("loadBalancer", "hour", discountBalancer, p.balancer)
	add("snapshot", "GiB-hour", discountStorage, p.snapshot)
	return all
}

// location says where an override holds, for people.
func (o *override) location() string {
	var parts []string
	list := func(kind string, names []string) {
		if len(names) > 0 {
			parts = append(parts, kind+" "+strings.Join(names, ", "))
		}
	}
	if n := o.nodes; n != nil {
		list("nodes", n.names)
		list("provider ID", n.providerIDs)
		list("instance type", n.instanceTypes)
		list("region", n.regions)
		if n.spot != nil && *n.spot {
			parts = append(parts, "spot")
		} else if n.spot != nil {
			parts = append(parts, "not spot")
		}
		if n.labels != nil {
			parts = append(parts, n.labels.String())
		}
	}
	list("namespace", o.namespaces)
	list("cluster", o.clusters)
	return strings.Join(parts, "; ")
}
