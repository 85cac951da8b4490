package cost

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// sort puts the charges in order: by stack, kind and item. Those of a stack are few,
// and sorted by themselves. A charge is large: it is moved once, when it is known
// where to.
func (a *allocator) sort() {
	byStack := map[object.Ref][]int{}
	for i := range a.charges {
		stack := a.charges[i].Stack
		byStack[stack] = append(byStack[stack], i)
	}
	order := make([]int, 0, len(a.charges))
	for _, stack := range slices.SortedFunc(maps.Keys(byStack), object.Compare) {
		indexes := byStack[stack]
		slices.SortFunc(indexes, func(i, j int) int { return compareCharges(&a.charges[i], &a.charges[j]) })
		order = append(order, indexes...)
	}
	a.permute(order)
}

// permute moves the charge order[i] to i, for each i. It uses order up.
func (a *allocator) permute(order []int) {
	for start := range order {
		if order[start] == start {
			continue
		}
		first, at := a.charges[start], start
		for order[at] != start {
			next := order[at]
			a.charges[at], order[at] = a.charges[next], at
			at = next
		}
		a.charges[at], order[at] = first, at
	}
}

func compareCharges(x, y *Charge) int {
	if c := object.Compare(x.Stack, y.Stack); c != 0 {
		return c
	}
	if c := strings.Compare(string(x.Kind), string(y.Kind)); c != 0 {
		return c
	}
	if c := object.Compare(x.Item, y.Item); c != 0 {
		return c
	}
	if c := strings.Compare(x.UID, y.UID); c != 0 {
		return c
	}
	if c := strings.Compare(string(x.Resource), string(y.Resource)); c != 0 {
		return c
	}
	return cmp.Or(
		strings.Compare(x.Node, y.Node),
		strings.Compare(x.Namespace, y.Namespace),
		strings.Compare(x.SKU, y.SKU),
		x.Price.Cmp(y.Price),
		x.List.Cmp(y.List),
		x.Quantity.Cmp(y.Quantity),
	)
}
