package manual

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Owned is a kind of objects that instances own.
type Owned struct {
	Kind  schema.GroupKind
	Count int
	// Through is the kind of the owner; empty if that is an instance.
	Through schema.GroupKind
}

// DeclaredParts are the parts of instances by one source.
type DeclaredParts struct {
	By    string
	Kinds []schema.GroupKind
}

// Compose merges declared and observed parts: the declared ones in their order, then the others.
func Compose(declared []DeclaredParts, owned []Owned) []Part {
	parts := []Part{}
	find := func(gk schema.GroupKind) *Part {
		i := slices.IndexFunc(parts, func(p Part) bool { return p.Kind == gk.String() })
		if i < 0 {
			i = len(parts)
			parts = append(parts, Part{Kind: gk.String(), Declared: []string{}})
		}
		return &parts[i]
	}
	for _, d := range declared {
		for _, gk := range d.Kinds {
			if p := find(gk); !slices.Contains(p.Declared, d.By) {
				p.Declared = append(p.Declared, d.By)
			}
		}
	}
	owned = slices.Clone(owned)
	slices.SortStableFunc(owned, func(a, b Owned) int {
		return cmp.Or(boolCompare(a.Through.Kind != "", b.Through.Kind != ""), cmp.Compare(a.Kind.String(), b.Kind.String()), cmp.Compare(a.Through.String(), b.Through.String()))
	})
	for _, o := range owned {
		p := find(o.Kind)
		if o.Through.Kind != "" && p.Observed == 0 {
			p.Via = o.Through.String()
		}
		p.Observed += o.Count
	}
	return parts
}
