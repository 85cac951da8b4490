// Package inventory records the objects that a source delivers: their identity, UID, version and
// labels, and what could not be read.
//
// An Inventory is the sink of a source. Objects stream through it: it numbers each object, runs the
// extractors on it and drops it. Each object is decoded and visited once, and memory grows with the
// data that is stored, not with the bytes that the server sends.
//
// A row is an object that was read, or one that another object only refers to.
package inventory

import (
	"hash/maphash"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ID numbers a row, from 0, in the order in which the rows were added. The order differs from run
// to run where lists arrive in parallel: use it for lookups, never for printing.
type ID int32

// Extractor reads data from an object. Extractors run concurrently, outside of any lock, before the
// object is dropped. The function that it returns stores the data (nil if there is none); it runs
// alone and may call Named and Symbol.
type Extractor func(o object.Object) (keep func(*Inventory, ID))

// Inventory may be filled by several sources at once.
type Inventory struct {
	mu         sync.Mutex
	extractors []Extractor
	ofUnread   Extractor
	keptNotes  map[string]string // annotation keys that selectors ask for, as noteKey

	kinds    []schema.GroupKind
	kindNum  map[schema.GroupKind]uint32
	symbols  symbols
	rows     []row
	byKey    table
	held     *holders // nil until it is built
	oddUIDs  map[ID]types.UID
	pairs    []uint32 // label pairs of all rows, one run a row
	pairNum  table
	pairList []pair

	covered map[scope]bool
	absent  map[ID]bool
	gaps    []object.Gap
	gapSeen map[object.Gap]bool
	present int
}

type key struct {
	kind uint32
	ns   uint32
	name string
}

type pair struct{ key, value uint32 }

type scope struct {
	kind schema.GroupKind
	ns   string
}

type row struct {
	key
	uid     UID
	version uint32
	labels  uint32 // start in pairs
	nlabels uint16
	present bool
	// unread is set for an object that was read before and cannot be read now.
	unread bool
}

// New returns an empty inventory. Each added object passes the extractors in their order. notes are
// the keys of the annotations that it stores, for Query.Annotation; it stores no others.
func New(notes []string, extractors ...Extractor) *Inventory {
	inv := &Inventory{
		extractors: extractors,
		keptNotes:  map[string]string{},
		kindNum:    map[schema.GroupKind]uint32{},
		symbols:    newSymbols(),
		oddUIDs:    map[ID]types.UID{},
		covered:    map[scope]bool{},
		absent:     map[ID]bool{},
		gapSeen:    map[object.Gap]bool{},
	}
	for _, n := range notes {
		inv.keptNotes[n] = noteKey(n)
	}
	return inv
}

// ExtractUnread sets the extractor for objects that were read before and cannot be read now: their
// last known references are the best data there is. It must be called before anything is added.
func (inv *Inventory) ExtractUnread(x Extractor) { inv.ofUnread = x }

// Unread adds an object as it was last read, when it cannot be read now and may have changed or be
// deleted. It never replaces an object that was added.
func (inv *Inventory) Unread(o object.Object) {
	var keep func(*Inventory, ID)
	if inv.ofUnread != nil {
		keep = inv.ofUnread(o)
	}
	inv.mu.Lock()
	defer inv.mu.Unlock()
	id := inv.Named(o.Ref)
	r := &inv.rows[id]
	if r.present {
		return
	}
	r.unread = true
	inv.describe(id, o)
	if keep != nil {
		keep(inv, id)
	}
}

// Add adds an object, or replaces the one of the same reference.
func (inv *Inventory) Add(o object.Object) {
	var keeps [4]func(*Inventory, ID)
	stores := keeps[:0]
	for _, x := range inv.extractors {
		if k := x(o); k != nil {
			stores = append(stores, k)
		}
	}
	inv.mu.Lock()
	defer inv.mu.Unlock()
	id := inv.Named(o.Ref)
	inv.fill(id, o)
	for _, k := range stores {
		k(inv, id)
	}
}

// Reset drops the objects of a kind in a namespace, or in all namespaces if it is empty, when their
// list restarts: the kind is no longer covered there. The rows stay, as references only.
func (inv *Inventory) Reset(gk schema.GroupKind, namespace string) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	kind, ok := inv.kindNum[gk]
	if !ok {
		return
	}
	maps.DeleteFunc(inv.covered, func(s scope, _ bool) bool {
		return s.kind == gk && (namespace == "" || s.ns == namespace)
	})
	inv.held = nil
	ns := inv.symbols.number(namespace)
	for i := range inv.rows {
		if r := &inv.rows[i]; r.present && r.kind == kind && (namespace == "" || r.ns == ns) {
			inv.present--
			r.present, r.uid, r.nlabels = false, UID{}, 0
			delete(inv.oddUIDs, ID(i))
		}
	}
}

// Named returns the row of a reference, and adds it if there is none. Only the function that an
// Extractor returns may call it.
func (inv *Inventory) Named(ref object.Ref) ID {
	k := key{kind: inv.kindOf(ref.GroupKind()), ns: inv.symbols.number(ref.Namespace), name: ref.Name}
	if id, ok := inv.byName(k); ok {
		return id
	}
	id := ID(len(inv.rows))
	k.name = inv.symbols.texts.clone(k.name)
	inv.rows = append(inv.rows, row{key: k})
	inv.byKey.add(uint32(id), func(n uint32) uint64 { return inv.rows[n].hash() })
	return id
}

func (k *key) hash() uint64 { return maphash.Comparable(seed, *k) }

func (inv *Inventory) byName(k key) (ID, bool) {
	n, ok := inv.byKey.find(k.hash(), func(n uint32) bool { return inv.rows[n].key == k })
	return ID(n), ok
}

// Symbol returns the number of a string that many rows share (a field path). As with Named, only
// the function that an Extractor returns may call it.
func (inv *Inventory) Symbol(s string) uint32 { return inv.symbols.number(s) }

func (inv *Inventory) kindOf(gk schema.GroupKind) uint32 {
	n, ok := inv.kindNum[gk]
	if !ok {
		n = uint32(len(inv.kinds))
		gk.Group, gk.Kind = inv.symbols.texts.clone(gk.Group), inv.symbols.texts.clone(gk.Kind)
		inv.kinds = append(inv.kinds, gk)
		inv.kindNum[gk] = n
	}
	return n
}

func (inv *Inventory) fill(id ID, o object.Object) {
	r := &inv.rows[id]
	if !r.present {
		inv.present++
	}
	r.present, r.unread = true, false
	delete(inv.absent, id)
	inv.describe(id, o)
}

// describe stores the identity and the labels of an object.
func (inv *Inventory) describe(id ID, o object.Object) {
	r := &inv.rows[id]
	r.version = inv.symbols.number(o.Version)
	inv.identify(id, o.Meta.GetUID())
	r.labels = uint32(len(inv.pairs))
	for k, v := range o.Meta.GetLabels() {
		inv.pairs = append(inv.pairs, inv.pairOf(k, v))
	}
	if len(inv.keptNotes) > 0 {
		for k, v := range o.Meta.GetAnnotations() {
			if note, wanted := inv.keptNotes[k]; wanted {
				inv.pairs = append(inv.pairs, inv.pairOf(note, v))
			}
		}
	}
	r.nlabels = uint16(min(len(inv.pairs)-int(r.labels), 1<<16-1))
}

// identify replaces the UID of a row.
func (inv *Inventory) identify(id ID, uid types.UID) {
	inv.held = nil
	delete(inv.oddUIDs, id)
	inv.rows[id].uid = ParseUID(uid)
	if _, canonical := ParseUUID(uid); !canonical && uid != "" {
		inv.oddUIDs[id] = types.UID(inv.symbols.texts.clone(string(uid)))
	}
}

// Cover records that every object of the kind in the namespace (in all namespaces, if it is empty)
// was added: one that is referenced and was not added is missing.
func (inv *Inventory) Cover(gk schema.GroupKind, namespace string) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	inv.covered[scope{gk, namespace}] = true
}

// Absent records that a get of the object returned NotFound.
func (inv *Inventory) Absent(ref object.Ref) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	inv.absent[inv.Named(ref)] = true
}

// Gap records what could not be read, each gap once.
func (inv *Inventory) Gap(g object.Gap) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	if !inv.gapSeen[g] {
		inv.gapSeen[g] = true
		inv.gaps = append(inv.gaps, g)
	}
}
