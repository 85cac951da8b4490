package graph

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Builder collects the links of objects as they stream by, and builds the graph. Its Extract method
// is an inventory.Extractor. It stores links as numbers only.
type Builder struct {
	rules *relation.Set
	kinds *object.Kinds

	links      []link
	heads      []head // by row
	selectors  []relation.Target
	selections selections
	uids       uids
	// finalizers are those of the objects that have some, by row, as symbols.
	finalizers map[inventory.ID][]uint32
	// stated are the kinds that rows give to the targets of other rows (Target.KindBy); waiting are
	// the links that need such a kind, by the row that gives it.
	stated  map[inventory.ID]schema.GroupKind
	waiting map[inventory.ID][]found
	// buffers has *[]found, for the links of an object until they are stored.
	buffers sync.Pool
}

// uids are the UIDs of links, by number.
type uids struct {
	list []inventory.UID
	odd  map[uint32]string // those that are not UUIDs, as they were written
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

// copy returns a snapshot that may be read while more is added.
func (u *uids) copy() uids { return uids{slices.Clip(u.list), maps.Clone(u.odd)} }

// head locates the consecutive links of one row.
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
	valueIsName // the value is the target's name and needs no symbol
	granted     // counts in another namespace only with a ReferenceGrant
	controller  // an owner reference that controls the object
	dormant     // the object is inactive
	settled     // the object has what it needs of the target
	blocks      // an owner reference that a foreground deletion waits for
	byTemplate  // the selector matches the pod template of the target
)

// NewBuilder returns a builder that applies the rules. The kinds give scopes, and the kinds of
// resource names.
func NewBuilder(rules *relation.Set, kinds *object.Kinds) *Builder {
	return &Builder{
		rules: rules, kinds: kinds, uids: uids{odd: map[uint32]string{}}, finalizers: map[inventory.ID][]uint32{},
		stated: map[inventory.ID]schema.GroupKind{}, waiting: map[inventory.ID][]found{},
	}
}

// Serve replaces the kinds after discovery has changed. It must not run during reads.
func (b *Builder) Serve(kinds *object.Kinds) { b.kinds = kinds }

type found struct {
	rule int
	link relation.Link
}

// Extract runs the rules on an object. It is an inventory.Extractor.
func (b *Builder) Extract(o object.Object) func(*inventory.Inventory, inventory.ID) {
	buffer, _ := b.buffers.Get().(*[]found)
	if buffer == nil {
		buffer = new([]found)
	}
	all := (*buffer)[:0]
	b.rules.Links(o, func(rule int, l relation.Link) { all = append(all, found{rule, l}) })
	var keys []string
	b.rules.Keys(o, func(key string) { keys = append(keys, key) })
	finalizers := o.Meta.GetFinalizers()
	stated, states := b.rules.States(o)
	return func(inv *inventory.Inventory, id inventory.ID) {
		for _, key := range keys {
			inv.Key(id, key)
		}
		delete(b.waiting, id)
		if delete(b.stated, id); states {
			b.stated[id] = stated
		}
		start := len(b.links)
		for i := range all {
			if all[i].link.Target.KindBy != nil {
				b.waiting[id] = append(b.waiting[id], all[i])
				continue
			}
			b.keep(inv, all[i].rule, &all[i].link)
		}
		for len(b.heads) <= int(id) {
			b.heads = append(b.heads, head{})
		}
		b.heads[id] = head{uint32(start), uint32(len(b.links) - start)}
		b.finalize(inv, id, finalizers)
		clear(all)
		*buffer = all
		b.buffers.Put(buffer)
	}
}

// finalize replaces the finalizers of a row.
func (b *Builder) finalize(inv *inventory.Inventory, id inventory.ID, names []string) {
	delete(b.finalizers, id)
	for _, name := range names {
		b.finalizers[id] = append(b.finalizers[id], inv.Symbol(name))
	}
}

// settled returns the links of a row whose kind another row gives, if that row was read.
func (b *Builder) settled(inv *inventory.Inventory, id inventory.ID) []link {
	start := len(b.links)
	for _, f := range b.waiting[id] {
		t := f.link.Target
		stater, named := inv.Find(*t.KindBy)
		gk, states := b.stated[stater]
		k, served := b.kinds.Kind(gk)
		if !named || !inv.WasRead(stater) || !states || !served || k.Namespaced != (t.Namespace != "") {
			continue
		}
		t.Kind, t.KindBy = gk, nil
		f.link.Target = t
		b.keep(inv, f.rule, &f.link)
	}
	links := slices.Clone(b.links[start:])
	b.links = b.links[:start]
	return links
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
	}{{l.Backward, backward}, {l.Optional, optional}, {l.Inferred, inferred}, {t.IfPresent, ifPresent}, {t.Granted, granted}, {l.Controller, controller}, {l.Inactive, dormant}, {l.Settled, settled}, {l.Blocks, blocks}} {
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

// scope sets the real kind and namespace of a target. It returns false for a target that cannot be
// resolved: a resource that is not served, a namespaced kind without a namespace, the definition of
// a built-in kind, or a definition without a known name.
func (b *Builder) scope(t *relation.Target) bool {
	if t.Definition {
		r, ok := b.kinds.Kind(t.Kind)
		if !ok || !r.Custom || r.Plural == "" {
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
	if namespaced, known := b.kinds.Namespaced(t.Kind); known && !namespaced {
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
