package cost

import (
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// Digits is how many decimal places a price has at most that is worked out: of a
// month's price, of a node's price, after discounts. The prices of the book itself
// are kept as they are written. A node's component prices are each rounded by
// themselves, so that over its capacity they may differ from its price by half of
// the last place for every core, GiB and piece.
const Digits = 18

// Book is a list of prices. It is safe for concurrent use, and must not be copied.
//
// A book has base prices and overrides. For each price that is asked for, the first
// override decides that applies and says it; where none does, the base price holds.
type Book struct {
	Name     string
	Currency string // ISO 4217

	base      prices
	overrides []override
	// notCharged are prices that are kept and shown, of things that nothing here
	// measures.
	notCharged map[string]decimal.Decimal
	shared     sharedRules

	spaces sync.Map // by namespace: *space
	rates  sync.Map // by rateKey: cachedRates
}

// prices are what the base or one override of a book says; what is nil, or not in a
// map, it does not say.
type prices struct {
	cpu, memory *decimal.Decimal // a core-hour, a GiB-hour
	storage     StorageDocument
	extended    map[metrics.Resource]decimal.Decimal // a piece-hour
	models      []GPUDocument
	network     NetworkDocument
	balancer    *decimal.Decimal // an hour
	snapshot    *decimal.Decimal // a GiB-hour
	node        *NodePriceDocument
	discounts   map[string]decimal.Decimal // fractions, by what they are given on
}

// override is prices for some nodes, namespaces or clusters: for what is in all that it names.
type override struct {
	name                 string
	nodes                *nodeSelector // nil for all
	namespaces, clusters []string      // patterns; none for all
	prices
}

// Keys of discounts.
const (
	discountAll      = "all"
	discountCPU      = "cpu"
	discountMemory   = "memory"
	discountStorage  = "storage"
	discountNetwork  = "network"
	discountBalancer = "loadBalancer"
)

// Node returns the prices on a node, for a namespace; "" is none. node is nil where
// it is unknown: then the flat prices hold. Neither what is returned nor the node
// may be changed.
func (b *Book) Node(node *metrics.Node, namespace string) Rates {
	space := b.space(namespace)
	key := rateKey{space: space.key}
	if node != nil {
		key.node = node.Name
	}
	if c, ok := b.rates.Load(key); ok && c.(cachedRates).node == node {
		return c.(cachedRates).Rates
	}
	c := cachedRates{node, b.ratesOf(node, space)}
	b.rates.Store(key, c)
	return c.Rates
}

type rateKey struct{ node, space string }

// cachedRates are the prices on a node as it was in one reading.
type cachedRates struct {
	node *metrics.Node
	Rates
}

// Storage returns the price of a GiB-hour of a storage class ("" where it is unknown
// ).
func (b *Book) Storage(class, namespace string) Price { return b.storage("", class, namespace) }

// Claim returns the price of a GiB-hour of a volume claim: that of its volume, where
// the book has one, or of its class.
func (b *Book) Claim(c *metrics.Claim) Price { return b.storage(c.Volume, c.Class, c.Ref.Namespace) }

func (b *Book) storage(volume, class, namespace string) Price {
	space := b.space(namespace)
	for _, o := range space.flat {
		if price, sku, ok := o.storage.priceOf(volume, class); ok {
			return discounted(price, skuOf(sku, o.name), space.discounts, discountStorage)
		}
	}
	price, sku, _ := b.base.storage.priceOf(volume, class)
	return discounted(price, sku, space.discounts, discountStorage)
}

// priceOf returns the price for a volume of a class, and the line that says it. Volumes go before
// classes, and these before what holds for all others.
func (s *StorageDocument) priceOf(volume, class string) (decimal.Decimal, string, bool) {
	if d, ok := s.Volumes[volume]; ok && volume != "" {
		return d, "volume/" + volume, true
	}
	if d, ok := s.Classes[class]; ok && class != "" {
		return d, "storage/" + class, true
	}
	if s.Default != nil {
		return *s.Default, "storage", true
	}
	return decimal.Zero, "storage", false
}

// Traffic returns the price of a GiB, received (metrics.Received) or sent
// (metrics.Sent). It is 0 where the book says none.
func (b *Book) Traffic(direction metrics.Resource, namespace string) Price {
	sku, get := "network/receive", func(p *prices) *decimal.Decimal { return p.network.Receive }
	if direction == metrics.Sent {
		sku, get = "network/transmit", func(p *prices) *decimal.Decimal { return p.network.Transmit }
	}
	return b.flat(sku, discountNetwork, namespace, get)
}

// Balancer returns the price of an hour of a load balancer. It is 0 where the book
// says none.
func (b *Book) Balancer(namespace string) Price {
	return b.flat("loadBalancer", discountBalancer, namespace, func(p *prices) *decimal.Decimal { return p.balancer })
}

// Snapshot returns the price of a GiB-hour of a volume snapshot; false where the book says none.
func (b *Book) Snapshot(namespace string) (Price, bool) {
	p := b.flat("snapshot", discountStorage, namespace, func(p *prices) *decimal.Decimal { return p.snapshot })
	return p, p.SKU != ""
}

// flat is a price that no node has a part in.
func (b *Book) flat(sku, discount, namespace string, get func(*prices) *decimal.Decimal) Price {
	space := b.space(namespace)
	for _, o := range space.flat {
		if d := get(&o.prices); d != nil {
			return discounted(*d, skuOf(sku, o.name), space.discounts, discount)
		}
	}
	if d := get(&b.base); d != nil {
		return discounted(*d, sku, space.discounts, discount)
	}
	return Price{}
}

// LabelsUnknown says that a node is gone and that a price may be its own by a label that is unknown
// : what type it is of, where it is, which devices it has.
func (b *Book) LabelsUnknown(n *metrics.Node) bool {
	bare := n.Gone && len(n.Labels) == 0
	if bare && len(b.base.models) > 0 {
		return true
	}
	return slices.ContainsFunc(b.overrides, func(o override) bool {
		return bare && len(o.models) > 0 || o.nodes != nil && o.nodes.unknown(n)
	})
}

// Resources are the extended resources that the book has a price of anywhere, by name.
func (b *Book) Resources() []metrics.Resource {
	all := map[metrics.Resource]bool{}
	add := func(p *prices) {
		for name := range p.extended {
			all[name] = true
		}
		for _, m := range p.models {
			all[m.Resource] = true
		}
	}
	add(&b.base)
	for i := range b.overrides {
		add(&b.overrides[i].prices)
	}
	return slices.Sorted(maps.Keys(all))
}

// NotCharged are prices of the book that nothing is charged by, by their names in
// OpenCost's configuration: traffic is not measured by class. A GiB, or an hour
// for forwarding rules.
func (b *Book) NotCharged() map[string]decimal.Decimal { return b.notCharged }

// merged returns the discounts of both; first goes before.
func merged(first, second map[string]decimal.Decimal) map[string]decimal.Decimal {
	if len(first) == 0 {
		return second
	}
	both := make(map[string]decimal.Decimal, len(first)+len(second))
	maps.Copy(both, second)
	maps.Copy(both, first)
	return both
}

// discounted is a price of the book, and what is left of it after the discount on
// everything and that on its kind, one after the other.
func discounted(list decimal.Decimal, sku string, discounts map[string]decimal.Decimal, kind string) Price {
	p := Price{List: list, Net: list, SKU: sku}
	one := decimal.NewFromInt(1)
	factor := one.Sub(discounts[discountAll]).Mul(one.Sub(discounts[kind]))
	if !factor.Equal(one) {
		p.Net = list.Mul(factor).Round(Digits)
	}
	return p
}

// skuOf names a line of an override.
func skuOf(line, override string) string { return line + "/" + override }

// nameOf is that of an override, which may have none of its own.
func nameOf(name string, at int) string {
	if name == "" {
		return "override-" + strconv.Itoa(at+1)
	}
	return name
}
