package cost

import (
	"maps"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// idle charges the capacity of nodes that nobody was charged for: of each resource
// with a price, the capacity minus what was charged on the node. Only a node whose
// pods are all in the reading has any. It goes by the rates of no namespace.
func (a *allocator) idle() {
	if len(a.reading.Nodes) == 0 {
		return
	}
	onNode := map[string][]int{}
	for i := range a.charges {
		if c := &a.charges[i]; c.Node != "" && c.Resource != metrics.Received && c.Resource != metrics.Sent {
			onNode[c.Node] = append(onNode[c.Node], i)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.nodes)) {
		if a.nodes[name].Whole {
			a.idleOn(a.nodes[name], onNode[name])
		}
	}
}

// idleOn charges what is idle on a node; charges are the indices of those made there.
func (a *allocator) idleOn(node *metrics.Node, charges []int) {
	rates := a.ratesOf(node.Name, "")
	slices.SortFunc(charges, func(i, j int) int { return compareTenants(&a.charges[i], &a.charges[j]) })
	for _, res := range slices.Sorted(maps.Keys(node.Capacity)) {
		price, ok := rates.of(res)
		if !ok {
			continue
		}
		capacity, unit := quantity(res, node.Capacity[res])
		tenants := a.tenants(charges, res)
		var taken decimal.Decimal
		for i := range tenants {
			taken = taken.Add(tenants[i].Quantity)
		}
		rest := capacity.Sub(taken)
		if rest.IsNegative() {
			a.note(metrics.Note{
				About: "Node/" + node.Name, Reason: "Overcommitted",
				Message: string(res) + ": " + taken.String() + " " + unit + " were charged of a capacity of " + capacity.String() + ": nothing is idle",
			})
		}
		if !rest.IsPositive() {
			continue
		}
		a.chargeIdle(&Charge{
			Kind: Idle, Item: object.Ref{Kind: "Node", Name: node.Name}, Node: node.Name, Resource: res, Quantity: rest, Unit: unit,
			List: price.List, Price: price.Net, SKU: price.SKU, Share: a.one, Of: 1,
		}, tenants, taken)
	}
}

// chargeIdle adds a charge for what is idle, to nobody or in parts to the tenants of
// the node, by their quantities of the resource. Where there are none, it stays idle.
func (a *allocator) chargeIdle(c *Charge, tenants []Charge, taken decimal.Decimal) {
	if !a.options.ShareIdle || !taken.IsPositive() {
		a.add(c)
		return
	}
	weights := make([]decimal.Decimal, len(tenants))
	for i := range tenants {
		weights[i] = tenants[i].Quantity
	}
	c.Of = stacksAmong(tenants)
	parts, shares := split(c.Quantity, weights), split(a.one, weights)
	for i := range tenants {
		part := *c
		part.Stack, part.Namespace = tenants[i].Stack, tenants[i].Namespace
		part.Quantity, part.Share = parts[i], shares[i]
		if tenants[i].Kind == Shared {
			// What all share takes its part of the idle capacity along.
			part.Kind = Shared
		}
		if part.Quantity.IsPositive() || part.Share.IsPositive() {
			a.add(&part)
		}
	}
}

// tenants sums the charges of a resource on a node up, by who pays and in which
// namespace. The charges are in the order of compareTenants, and so are the tenants.
func (a *allocator) tenants(charges []int, res metrics.Resource) []Charge {
	from, _ := slices.BinarySearchFunc(charges, res, func(i int, res metrics.Resource) int {
		return strings.Compare(string(a.charges[i].Resource), string(res))
	})
	var tenants []Charge
	for _, i := range charges[from:] {
		c := &a.charges[i]
		if c.Resource != res {
			break
		}
		if n := len(tenants); n > 0 && compareTenants(&tenants[n-1], c) == 0 {
			tenants[n-1].Quantity = tenants[n-1].Quantity.Add(c.Quantity)
			continue
		}
		tenants = append(tenants, *c)
	}
	return tenants
}

// compareTenants orders charges on a node by resource, and by who pays for them.
func compareTenants(x, y *Charge) int {
	if c := strings.Compare(string(x.Resource), string(y.Resource)); c != 0 {
		return c
	}
	if c := object.Compare(x.Stack, y.Stack); c != 0 {
		return c
	}
	if c := strings.Compare(string(x.Kind), string(y.Kind)); c != 0 {
		return c
	}
	return strings.Compare(x.Namespace, y.Namespace)
}

// stacksAmong counts the stacks that pay for charges in the order of compareTenants;
// nobody counts for one where nobody else pays.
func stacksAmong(charges []Charge) int {
	count := 0
	for i := range charges {
		if stack := charges[i].Stack; stack != (object.Ref{}) && (i == 0 || charges[i-1].Stack != stack) {
			count++
		}
	}
	return max(count, 1)
}
