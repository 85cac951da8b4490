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

// tenant is who pays for things on a node: a stack or nobody, or all stacks, and the
// namespace of the things.
type tenant struct {
	stack     object.Ref
	kind      ChargeKind // Used, or Shared
	namespace string
	quantity  decimal.Decimal
}

// idleOn charges what is idle on a node; charges are the indices of those made there.
func (a *allocator) idleOn(node *metrics.Node, charges []int) {
	rates := a.ratesOf(node.Name, "")
	slices.SortFunc(charges, func(i, j int) int { return compareTenancy(&a.charges[i], &a.charges[j]) })
	for _, res := range slices.Sorted(maps.Keys(node.Capacity)) {
		price, ok := rates.of(res)
		if !ok {
			continue
		}
		capacity, unit := quantity(res, node.Capacity[res])
		tenants := a.tenants(charges, res)
		var taken decimal.Decimal
		for i := range tenants {
			taken = taken.Add(tenants[i].quantity)
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
		c := &Charge{
			Kind: Idle, Item: object.Ref{Kind: "Node", Name: node.Name}, Node: node.Name, Resource: res, Quantity: rest, Unit: unit,
			List: price.List, Price: price.Net, SKU: price.SKU, Share: a.one, Of: 1,
		}
		if !a.options.ShareIdle || !taken.IsPositive() {
			a.add(c)
			continue
		}
		a.spreadIdle(c, tenants)
	}
}

// spreadIdle adds a charge for what is idle in parts to the tenants of the node, by
// their quantities of the resource. Who has none there has no part.
func (a *allocator) spreadIdle(c *Charge, tenants []tenant) {
	tenants = slices.DeleteFunc(tenants, func(t tenant) bool { return t.quantity.IsZero() })
	weights := make([]decimal.Decimal, len(tenants))
	c.Of = 0
	for i, t := range tenants {
		weights[i] = t.quantity
		if t.stack != (object.Ref{}) && (i == 0 || tenants[i-1].stack != t.stack) {
			c.Of++
		}
	}
	c.Of = max(c.Of, 1)
	parts, shares := split(c.Quantity, weights), split(a.one, weights)
	for i, t := range tenants {
		part := *c
		part.Stack, part.Namespace, part.Quantity, part.Share = t.stack, t.namespace, parts[i], shares[i]
		if t.kind == Shared {
			// What all share takes its part of the idle capacity along.
			part.Kind = Shared
		}
		a.add(&part)
	}
}

// tenants sums the charges of a resource on a node up, by who pays and in which
// namespace. The charges are in the order of compareTenancy, and so are the tenants.
func (a *allocator) tenants(charges []int, res metrics.Resource) []tenant {
	from, _ := slices.BinarySearchFunc(charges, res, func(i int, res metrics.Resource) int {
		return strings.Compare(string(a.charges[i].Resource), string(res))
	})
	var tenants []tenant
	for at, i := range charges[from:] {
		c := &a.charges[i]
		if c.Resource != res {
			break
		}
		if at > 0 && compareTenancy(&a.charges[charges[from+at-1]], c) == 0 {
			last := &tenants[len(tenants)-1]
			last.quantity = last.quantity.Add(c.Quantity)
			continue
		}
		tenants = append(tenants, tenant{c.Stack, c.Kind, c.Namespace, c.Quantity})
	}
	return tenants
}

// compareTenancy orders charges on a node by resource, and by who pays for them.
func compareTenancy(x, y *Charge) int {
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
