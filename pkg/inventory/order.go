package inventory

import (
	"cmp"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Sorted returns the rows that keep accepts, in the order of object.Compare. It groups them by kind
// and namespace first and then compares names alone: to compare a million references as strings
// takes seconds.
func (inv *Inventory) Sorted(keep func(ID) bool) []ID {
	type part struct{ kind, ns uint32 }
	sizes := map[part]int{}
	each := func(use func(ID, part)) {
		for i := range inv.rows {
			if id := ID(i); keep(id) {
				use(id, part{inv.rows[i].kind, inv.rows[i].ns})
			}
		}
	}
	each(func(_ ID, p part) { sizes[p]++ })
	parts := make([]part, 0, len(sizes))
	for p := range sizes {
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b part) int {
		x, y := inv.kinds[a.kind], inv.kinds[b.kind]
		return object.Compare(
			object.Ref{Group: x.Group, Kind: x.Kind, Namespace: inv.symbols.list[a.ns]},
			object.Ref{Group: y.Group, Kind: y.Kind, Namespace: inv.symbols.list[b.ns]})
	})
	starts, total := make(map[part]int, len(parts)), 0
	for _, p := range parts {
		starts[p] = total
		total += sizes[p]
	}
	ids := make([]ID, total)
	each(func(id ID, p part) {
		ids[starts[p]] = id
		starts[p]++
	})
	for _, p := range parts {
		end := starts[p]
		slices.SortFunc(ids[end-sizes[p]:end], func(a, b ID) int { return cmp.Compare(inv.rows[a].name, inv.rows[b].name) })
	}
	return ids
}
