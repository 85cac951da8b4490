package inventory

import (
	"iter"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// The methods below read, and must not run while something is added.

// Len returns the number of rows: objects that were read, and references.
func (inv *Inventory) Len() int { return len(inv.rows) }

// Objects returns the number of objects that were read.
func (inv *Inventory) Objects() int { return inv.present }

// Gaps returns what could not be read.
func (inv *Inventory) Gaps() []object.Gap { return inv.gaps }

// Ref returns the identity of a row.
func (inv *Inventory) Ref(id ID) object.Ref {
	r := inv.rows[id]
	gk := inv.kinds[r.kind]
	return object.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: inv.symbols.list[r.ns], Name: r.name}
}

// Find returns the row of a reference.
func (inv *Inventory) Find(ref object.Ref) (ID, bool) { return inv.lookup(ref) }

func (inv *Inventory) lookup(ref object.Ref) (ID, bool) {
	kind, ok := inv.kindNum[ref.GroupKind()]
	if !ok {
		return 0, false
	}
	ns, ok := inv.symbols.find(ref.Namespace)
	if !ok {
		return 0, false
	}
	return inv.byName(key{kind, ns, ref.Name})
}

// Present reports whether the object of the row was read.
func (inv *Inventory) Present(id ID) bool { return inv.rows[id].present }

// WasRead reports whether the object of the row was read, now or before it became unreadable.
func (inv *Inventory) WasRead(id ID) bool { return inv.rows[id].present || inv.rows[id].unread }

// Missing reports whether the object of the row is known not to exist.
func (inv *Inventory) Missing(id ID) bool {
	r := inv.rows[id]
	if r.present || r.unread {
		return false
	}
	gk, ns := inv.kinds[r.kind], inv.symbols.list[r.ns]
	return inv.absent[id] || inv.covered[scope{gk, ns}] || inv.covered[scope{gk, ""}]
}

// Covered reports whether every object of the kind in the namespace was read.
func (inv *Inventory) Covered(gk schema.GroupKind, namespace string) bool {
	return inv.covered[scope{gk, namespace}] || inv.covered[scope{gk, ""}]
}

// Coverage yields each kind and namespace whose objects were all read.
func (inv *Inventory) Coverage() iter.Seq2[schema.GroupKind, string] {
	return func(yield func(schema.GroupKind, string) bool) {
		for s := range inv.covered {
			if !yield(s.kind, s.ns) {
				return
			}
		}
	}
}

// Version returns the API version in which the object of the row was read.
func (inv *Inventory) Version(id ID) string { return inv.symbols.list[inv.rows[id].version] }

// UID returns the UID of the row as the server wrote it, or "" if the object was not read.
func (inv *Inventory) UID(id ID) types.UID {
	if u, ok := inv.oddUIDs[id]; ok {
		return u
	}
	return inv.rows[id].uid.format()
}

// RawUID returns the UID of the row as bytes, for comparison.
func (inv *Inventory) RawUID(id ID) UID { return inv.rows[id].uid }

// Text returns the string behind a Symbol.
func (inv *Inventory) Text(symbol uint32) string { return inv.symbols.list[symbol] }

// Kinds yields each kind that has a row.
func (inv *Inventory) Kinds() iter.Seq[schema.GroupKind] {
	return func(yield func(schema.GroupKind) bool) {
		for _, k := range inv.kinds {
			if !yield(k) {
				return
			}
		}
	}
}
