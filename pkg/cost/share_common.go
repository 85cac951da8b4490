package cost

import (
	"cmp"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// spread splits the common charges, what is shared of namespaces and the overhead, among the stacks that pay for
// something else: evenly, or by what they pay, before idle capacity is added (as OpenCost does).
// If no stack pays for anything, the charges have no stack.
//
// The shared charges of a namespace become one for each resource and price, whose Item is the
// Namespace; the parts are in the namespaces of the roots that pay.
func (a *allocator) spread() {
	common := a.takeCommon()
	if a.options.ShareOverhead.IsPositive() {
		hours, unit := quantity(LoadBalancer, a.reading.Hours)
		price := a.options.ShareOverhead
		common = append(common, Charge{Kind: Overhead, Quantity: hours, Unit: unit, List: price, Price: price, SKU: "overhead", Share: a.one, Of: 1})
	}
	if len(common) == 0 {
		return
	}
	stacks, weights := a.payers()
	for i := range common {
		c := &common[i]
		if len(stacks) == 0 || a.options.Sharing == ShareNone {
			a.add(c)
			continue
		}
		parts, shares := split(c.Quantity, weights), split(a.one, weights)
		c.Of = len(stacks)
		for j, stack := range stacks {
			part := *c
			part.Stack, part.Namespace = stack, stack.Namespace
			part.Quantity, part.Share = parts[j], shares[j]
			a.add(&part)
		}
	}
}

// takeCommon takes the shared charges out, and sums them up by namespace.
func (a *allocator) takeCommon() []Charge {
	var taken []Charge
	if len(a.common) == 0 {
		return nil
	}
	rest := a.charges[:0]
	for i := range a.charges {
		if a.charges[i].Kind == Shared {
			taken = append(taken, a.charges[i])
			continue
		}
		rest = append(rest, a.charges[i])
	}
	a.charges = rest
	slices.SortFunc(taken, func(x, y Charge) int { return compareCommon(&x, &y) })
	var sums []Charge
	for _, c := range taken {
		if n := len(sums); n > 0 && compareCommon(&sums[n-1], &c) == 0 {
			sums[n-1].Quantity = sums[n-1].Quantity.Add(c.Quantity)
			continue
		}
		c.Item, c.UID, c.Node = object.Ref{Kind: "Namespace", Name: c.Namespace}, "", ""
		c.Share, c.Of = a.one, 1
		sums = append(sums, c)
	}
	return sums
}

// compareCommon tells shared charges apart where one line cannot hold
// both.
func compareCommon(x, y *Charge) int {
	return cmp.Or(
		strings.Compare(x.Namespace, y.Namespace),
		strings.Compare(string(x.Resource), string(y.Resource)),
		strings.Compare(x.SKU, y.SKU),
		x.Price.Cmp(y.Price),
		x.List.Cmp(y.List),
	)
}

// payers returns the stacks that pay for something that not all share, in order, and
// their weights.
func (a *allocator) payers() (stacks []object.Ref, weights []decimal.Decimal) {
	paid := map[object.Ref]decimal.Decimal{}
	for i := range a.charges {
		c := &a.charges[i]
		if c.Kind != Used && c.Kind != Unmounted || c.Stack == (object.Ref{}) || c.Quantity.IsZero() {
			continue
		}
		sum, ok := paid[c.Stack]
		if !ok {
			stacks = append(stacks, c.Stack)
		}
		if a.options.Weighted {
			sum = sum.Add(c.Cost)
		}
		paid[c.Stack] = sum
	}
	slices.SortFunc(stacks, object.Compare)
	weights = make([]decimal.Decimal, len(stacks))
	for i, stack := range stacks {
		weights[i] = paid[stack]
	}
	return stacks, weights
}
