package graph

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Builder takes the links of objects while they pass, and builds the graph of
// them. Its Extract method is an inventory.Extractor; everything it keeps of a
// link is numbers.
type Builder struct {
	rules *relation.Set
	kinds *object.Kinds

	links      []link
	heads      []head // by row
	selectors  []relation.Target
	selections selections
	uids       uids
}

// uids are the UIDs that links name, by number.
type uids struct {
	list []inventory.UID
	odd  map[uint32]string // those that are no UUID, as they were written
}

func (u *uids) add(uid types.UID) uint32 {
	n := uint32(len(u.list))
	u.list = append(u.list, inventory.ParseUID(uid))
	if _, canonical := inventory.ParseUUID(uid); !canonical {
		u.odd[n] = strings.Clone(string(uid))
	}
	return n
}

func (u *uids) text(n uint32) string {
	if odd, ok := u.odd[n]; ok {
		return odd
	}
	return u.list[n].String()
}

// copy returns what may be read while more is added.
func (u *uids) copy() uids { return uids{slices.Clip(u.list), maps.Clone(u.odd)} }

// head is the run of links of one row.
type head struct{ start, n uint32 }

// link is a relation.Link in 16 bytes.
type link struct {
	target int32  // a row, a selector, or a selection
	field  uint32 // symbol
	value  uint32 // symbol, or the number of a UID
	rule   uint16
	flags  linkFlags
}

type linkFlags uint16

const (
	backward linkFlags = 1 << iota
	optional
	inferred
	ifPresent
	bySelector
	byUID
	valueIsName // the value is the target's name: not worth a symbol
	granted     // counts in another namespace only where a ReferenceGrant allows it
	controller  // an owner reference that controls the object
	dormant     // of an object that is out of work
	byTemplate  // the selector fits the pod template of the target
)

// NewBuilder returns a builder that applies the rules. The kinds tell which are
// namespaced, and which kind a resource name means.
func NewBuilder(rules *relation.Set, kinds *object.Kinds) *Builder {
	return &Builder{rules: rules, kinds: kinds, uids: uids{odd: map[uint32]string{}}}
}

type found struct {
	rule int
	link relation.Link
}

// Extract runs the rules on an object. It is an inventory.Extractor.
func (b *Builder) Extract(o object.Object) func(*inventory.Inventory, inventory.ID) {
	var all []found
	b.rules.Links(o, func(rule int, l relation.Link) { all = append(all, found{rule, l}) })
	var keys []string
	b.rules.Keys(o, func(key string) { keys = append(keys, key) })
	return func(inv *inventory.Inventory, id inventory.ID) {
		for _, key := range keys {
			inv.Key(id, key)
		}
		start := len(b.links)
		for i := range all {
			b.keep(inv, all[i].rule, &all[i].link)
		}
		for len(b.heads) <= int(id) {
			b.heads = append(b.heads, head{})
		}
		b.heads[id] = head{uint32(start), uint32(len(b.links) - start)}
	}
}

func (b *Builder) keep(inv *inventory.Inventory, rule int, l *relation.Link) {
	t := l.Target
	if !b.scope(&t) {
		return
	}
	k := link{rule: uint16(rule), field: inv.Symbol(l.Field)}
	for _, f := range []struct {
		set  bool
		flag linkFlags
	}{{l.Backward, backward}, {l.Optional, optional}, {l.Inferred, inferred}, {t.IfPresent, ifPresent}, {t.Granted, granted}, {l.Controller, controller}, {l.Dormant, dormant}} {
		if f.set {
			k.flags |= f.flag
		}
	}
	switch {
	case b.rules.Rules()[rule].Evidence && t.Selector != nil && t.Kind == podKind:
		k.target = b.selections.add(inv, t.Selector)
	case t.Selector != nil:
		k.flags |= bySelector
		k.target = int32(len(b.selectors))
		k.value = inv.Symbol(l.Value)
		b.selectors = append(b.selectors, t)
	case t.UID != "":
		k.flags |= byUID
		k.target = int32(inv.Named(ref(t)))
		k.value = b.uids.add(t.UID)
	default:
		k.target = int32(inv.Named(ref(t)))
		if l.Value == t.Name {
			k.flags |= valueIsName
		} else {
			k.value = inv.Symbol(l.Value)
		}
	}
	b.links = append(b.links, k)
}

// scope gives a target its true kind and namespace. A resource that nobody
// serves has no kind, so nothing can be said of it; neither can it of one that is
// namespaced and meant without a namespace, or of the definition of a kind that
// has none.
func (b *Builder) scope(t *relation.Target) bool {
	if t.Definition {
		r, ok := b.kinds.Kind(t.Kind)
		if !ok || !r.Custom {
			return false
		}
		t.Kind, t.Namespace, t.Name = definitionKind, "", r.String()
		return true
	}
	if t.IsResource {
		r, ok := b.kinds.Resource(schema.GroupResource{Group: t.Kind.Group, Resource: t.Kind.Kind})
		if !ok || r.Namespaced && t.Namespace == "" {
			return false
		}
		t.Kind, t.IsResource = r.GroupKind(), false
	}
	if r, ok := b.kinds.Kind(t.Kind); ok && !r.Namespaced {
		t.Namespace = ""
	}
	return true
}

var definitionKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

func ref(t relation.Target) object.Ref {
	return object.Ref{Group: t.Kind.Group, Kind: t.Kind.Kind, Namespace: t.Namespace, Name: t.Name}
}

func (b *Builder) linksOf(id inventory.ID) []link {
	if int(id) >= len(b.heads) {
		return nil
	}
	h := b.heads[id]
	return b.links[h.start : h.start+h.n]
}
