package inventory

import (
	"cmp"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Sorted returns the rows that keep accepts, in the order of object.Compare.
// It compares numbers where it can: a million references compared as strings
// cost seconds.
func (inv *Inventory) Sorted(keep func(ID) bool) []ID {
	ids := make([]ID, 0, len(inv.rows))
	for i := range inv.rows {
		if keep(ID(i)) {
			ids = append(ids, ID(i))
		}
	}
	kinds := ranks(len(inv.kinds), func(a, b int) int {
		x, y := inv.kinds[a], inv.kinds[b]
		return object.Compare(object.Ref{Group: x.Group, Kind: x.Kind}, object.Ref{Group: y.Group, Kind: y.Kind})
	})
	texts := ranks(len(inv.symbols.list), func(a, b int) int { return cmp.Compare(inv.symbols.list[a], inv.symbols.list[b]) })
	slices.SortFunc(ids, func(a, b ID) int {
		x, y := &inv.rows[a], &inv.rows[b]
		if x.kind != y.kind {
			return cmp.Compare(kinds[x.kind], kinds[y.kind])
		}
		if x.ns != y.ns {
			return cmp.Compare(texts[x.ns], texts[y.ns])
		}
		return cmp.Compare(x.name, y.name)
	})
	return ids
}

// ranks returns the place of each of n things in their order.
func ranks(n int, compare func(a, b int) int) []uint32 {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, compare)
	rank := make([]uint32, n)
	for place, i := range order {
		rank[i] = uint32(place)
	}
	return rank
}
