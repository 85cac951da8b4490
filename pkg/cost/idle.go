package cost

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// idle charges the capacity of nodes that no other charge covers: for each resource with a price,
// the capacity minus the charges on the node. It does so only for a node whose pods are all in
// the report, at the rates without a namespace.
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
	whole := false
	for _, name := range slices.Sorted(maps.Keys(a.nodes)) {
		if a.nodes[name].Whole {
			a.idleOn(a.nodes[name], onNode[name])
			whole = true
		}
	}
	if whole {
		a.astray()
	}
}

// astray notes the pods whose node is unknown: what they used is idle on some node as well.
func (a *allocator) astray() {
	pods := map[object.Ref]bool{}
	for i := range a.charges {
		if c := &a.charges[i]; c.Node == "" && isPod(c.Item) && c.Quantity.IsPositive() && c.Resource != metrics.Received && c.Resource != metrics.Sent {
			pods[c.Item] = true
		}
	}
	if len(pods) > 0 {
		a.note(metrics.Note{Reason: "Idle", Message: fmt.Sprintf("%d pods without a known node: their usage is also counted as idle", len(pods))})
	}
}

// tenant identifies the payer of things on a node (a stack, no stack, or all stacks) and the
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
	for res, amount := range node.Capacity.All() {
		price, ok := rates.price(res)
		if !ok || isHugePages(res) { // they are in the capacity of memory
			continue
		}
		capacity, unit := quantity(res, amount)
		var taken decimal.Decimal
		for _, i := range charges {
			if charged := a.charges[i].Resource; charged == res || res == metrics.Memory && isHugePages(charged) {
				taken = taken.Add(a.charges[i].Quantity)
			}
		}
		rest := capacity.Sub(taken)
		if rest.IsNegative() {
			a.note(metrics.Note{
				Subject: "Node/" + node.Name, Reason: "Overcommitted",
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
		a.spreadIdle(c, a.tenants(charges, res))
	}
}

// spreadIdle adds a charge for what is idle in parts to the tenants of the node, by
// their quantities of the resource. Who has none there has no part. What all share
// takes its part along, and the shares are of what remains.
func (a *allocator) spreadIdle(c *Charge, tenants []tenant) {
	tenants = slices.DeleteFunc(tenants, func(t tenant) bool { return t.quantity.IsZero() })
	weights, own := make([]decimal.Decimal, len(tenants)), make([]decimal.Decimal, len(tenants))
	c.Of = 0
	for i, t := range tenants {
		weights[i] = t.quantity
		if t.kind != Shared {
			own[i] = t.quantity
		}
		if t.stack != (object.Ref{}) && (i == 0 || tenants[i-1].stack != t.stack) {
			c.Of++
		}
	}
	c.Of = max(c.Of, 1)
	parts, shares := split(c.Quantity, weights), split(a.one, own)
	for i, t := range tenants {
		part := *c
		part.Stack, part.Namespace, part.Quantity, part.Share = t.stack, t.namespace, parts[i], shares[i]
		if t.kind == Shared {
			part.Kind = Shared
		}
		a.add(&part)
	}
}

// tenants sums the charges of a resource on a node up, by who pays and in which
// namespace, and returns them in that order.
func (a *allocator) tenants(charges []int, res metrics.Resource) []tenant {
	var all []tenant
	for _, i := range charges {
		if c := &a.charges[i]; c.Resource == res {
			all = append(all, tenant{c.Stack, c.Kind, c.Namespace, c.Quantity})
		}
	}
	slices.SortFunc(all, compareTenants)
	tenants := all[:0]
	for _, t := range all {
		if n := len(tenants); n > 0 && compareTenants(tenants[n-1], t) == 0 {
			tenants[n-1].quantity = tenants[n-1].quantity.Add(t.quantity)
			continue
		}
		tenants = append(tenants, t)
	}
	return tenants
}

func compareTenants(x, y tenant) int {
	if c := object.Compare(x.stack, y.stack); c != 0 {
		return c
	}
	if c := strings.Compare(string(x.kind), string(y.kind)); c != 0 {
		return c
	}
	return strings.Compare(x.namespace, y.namespace)
}
