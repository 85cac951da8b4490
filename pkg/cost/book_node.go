package cost

import (
	"maps"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

func (n *NodePriceDocument) covers(r metrics.Resource) bool {
	return len(n.Over) == 0 || slices.Contains(n.Over, r)
}

// gib is the bytes of a GiB.
func gib() decimal.Decimal { return decimal.NewFromInt(1 << 30) }

// onNode are the prices of a node while they are worked out, by resource, with the
// names of the lines.
type onNode struct {
	node      *metrics.Node
	list      map[metrics.Resource]decimal.Decimal
	sku       map[metrics.Resource]string
	discounts map[string]decimal.Decimal
}

// ratesOf works the prices of a node out: from the base prices up through the
// overrides that apply, the last first, so that the first one has the last word. A
// node has one price: the first that is said of it.
func (b *Book) ratesOf(node *metrics.Node, s *space) Rates {
	w := &onNode{node: node, list: map[metrics.Resource]decimal.Decimal{}, sku: map[metrics.Resource]string{}, discounts: b.base.discounts}
	w.apply(&b.base, "")
	applying := b.applying(node, s)
	whole := slices.IndexFunc(applying, func(o *override) bool { return o.node != nil })
	for i, o := range slices.Backward(applying) {
		w.apply(&o.prices, o.name)
		if i == whole && node != nil {
			w.split(o.node, o.name)
		}
	}
	r := Rates{Extended: map[metrics.Resource]Price{}}
	for resource, list := range w.list {
		switch resource {
		case metrics.CPU:
			r.CPU = discounted(list, w.sku[resource], w.discounts, discountCPU)
		case metrics.Memory:
			r.Memory = discounted(list, w.sku[resource], w.discounts, discountMemory)
		default:
			r.Extended[resource] = discounted(list, w.sku[resource], w.discounts, string(resource))
		}
	}
	return r
}

// Matched returns the names of the overrides that apply on a node for a namespace,
// in the order of the book; node is nil where it is unknown.
func (b *Book) Matched(node *metrics.Node, namespace string) []string {
	var all []string
	for _, o := range b.applying(node, b.space(namespace)) {
		all = append(all, o.name)
	}
	return all
}

// apply puts the prices of a layer over those below it. by is the name of the
// override; empty for the base.
func (w *onNode) apply(p *prices, override string) {
	if p.cpu != nil {
		w.set(metrics.CPU, *p.cpu, "cpu", override)
	}
	if p.memory != nil {
		w.set(metrics.Memory, *p.memory, "memory", override)
	}
	for r, price := range p.extended {
		w.set(r, price, string(r), override)
	}
	for _, m := range slices.Backward(p.models) {
		if price, model, ok := m.priceOf(w.node); ok {
			w.set(m.Resource, price, string(m.Resource)+"/"+model, override)
		}
	}
	w.discounts = merged(p.discounts, w.discounts)
}

func (w *onNode) set(r metrics.Resource, price decimal.Decimal, sku, override string) {
	if override != "" {
		sku = skuOf(sku, override)
	}
	w.list[r], w.sku[r] = price, sku
}

// priceOf returns the price of the model that a node names, whatever the case of its
// letters.
func (m *GPUDocument) priceOf(node *metrics.Node) (price decimal.Decimal, model string, ok bool) {
	if node == nil {
		return decimal.Decimal{}, "", false
	}
	named, _ := node.Label(m.Label)
	if named == "" {
		return decimal.Decimal{}, "", false
	}
	if price, ok = m.Models[named]; ok {
		return price, named, true
	}
	for _, model := range slices.Sorted(maps.Keys(m.Models)) {
		if strings.EqualFold(model, named) {
			return m.Models[model], model, true
		}
	}
	return decimal.Decimal{}, "", false
}

// split derives prices from that of the whole node, as appendix A of the OpenCost
// specification has it: the prices that hold without it are scaled by one factor, so
// that over the capacity they add up to the price of the node, and keep their ratios:
//
//	unit price(r) = price(r) * node price / sum over s of price(s) * capacity(s)
//
// Capacity is in cores, GiB and pieces. Where a capacity is unknown, or all of it
// costs nothing, there is nothing to split by and the prices stay.
func (w *onNode) split(n *NodePriceDocument, override string) {
	amounts, hours := w.node.Capacity, w.node.Hours
	_, cpu := amounts.Lookup(metrics.CPU)
	_, memory := amounts.Lookup(metrics.Memory)
	if !cpu && n.covers(metrics.CPU) || !memory && n.covers(metrics.Memory) || !hours.IsPositive() {
		return
	}
	var parts []metrics.Resource
	total := decimal.Zero
	for r, price := range w.list {
		amount := amounts.Value(r)
		if !n.covers(r) || !amount.IsPositive() {
			continue
		}
		// The sum is taken 2^30 times, so that bytes need not be divided.
		if r != metrics.Memory {
			amount = amount.Mul(gib())
		}
		parts, total = append(parts, r), total.Add(price.Mul(amount))
	}
	if !total.IsPositive() {
		return
	}
	whole := n.Price.Mul(hours).Mul(gib())
	for _, r := range parts {
		// The price depends on how large the node is, and its name with it: a name has one price.
		price := w.list[r].Mul(whole).DivRound(total, Digits)
		w.list[r], w.sku[r] = price, skuOf(string(r), override)+"@"+price.String()
	}
}
