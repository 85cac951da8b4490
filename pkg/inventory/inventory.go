// Package inventory keeps what was learned of the objects that were read: their
// identity, UID, version and labels, and what could not be read.
//
// An Inventory is the sink of a source. Objects stream through it: each is
// numbered, the extractors take what they want of it while it passes, and it is
// let go. So an object is looked at once, and memory grows with what is kept
// and not with what was sent.
//
// A row is an object that was read, or one that was only named by another.
package inventory

import (
	"encoding/hex"
	"iter"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ID numbers a row, from 0, in the order in which the rows were first met. The
// order differs from run to run where lists arrive in parallel: it is for
// looking up, never for printing.
type ID int32

// Extractor takes what somebody will want of an object. It runs while the
// object passes, several at once, outside of any lock, and returns how to keep
// the result (or nil); that part runs alone and may call Named and Symbol.
type Extractor func(o object.Object) (keep func(*Inventory, ID))

// Inventory is safe for use by several sources at once.
type Inventory struct {
	mu         sync.Mutex
	extractors []Extractor
	keptNotes  map[string]bool // annotation keys that selectors ask for

	kinds    []schema.GroupKind
	kindNum  map[schema.GroupKind]uint32
	symbols  symbols
	rows     []row
	byKey    map[key]ID
	byUID    map[UID]ID
	oddUIDs  map[ID]types.UID
	pairs    []uint32 // label pairs of all rows, one run a row
	pairNum  map[pair]uint32
	pairList []pair

	covered map[scope]bool
	absent  map[ID]bool
	gaps    []object.Gap
	present int
	twins   [][2]ID
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
}

// UID is a UID as bytes: that of a canonical UUID, or a digest of another
// string. The zero value is no UID.
type UID [16]byte

// New returns an empty inventory. Each object that is added passes the
// extractors in their order. notes are the keys of the annotations that a
// Select may ask for; others are not kept.
func New(notes []string, extractors ...Extractor) *Inventory {
	inv := &Inventory{
		extractors: extractors,
		keptNotes:  map[string]bool{},
		kindNum:    map[schema.GroupKind]uint32{},
		symbols:    newSymbols(),
		byKey:      map[key]ID{},
		byUID:      map[UID]ID{},
		oddUIDs:    map[ID]types.UID{},
		pairNum:    map[pair]uint32{},
		covered:    map[scope]bool{},
		absent:     map[ID]bool{},
	}
	for _, n := range notes {
		inv.keptNotes[n] = true
	}
	return inv
}

// Add takes in an object. An object that was added before is replaced.
func (inv *Inventory) Add(o object.Object) {
	var keeps [4]func(*Inventory, ID)
	kept := keeps[:0]
	for _, x := range inv.extractors {
		if k := x(o); k != nil {
			kept = append(kept, k)
		}
	}
	inv.mu.Lock()
	defer inv.mu.Unlock()
	id := inv.Named(o.Ref)
	inv.fill(id, o)
	for _, k := range kept {
		k(inv, id)
	}
}

// Reset forgets the objects of a kind in a namespace, or in all of them where it
// is empty: their list starts again. Their rows stay, as named only.
func (inv *Inventory) Reset(gk schema.GroupKind, namespace string) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	kind, ok := inv.kindNum[gk]
	if !ok {
		return
	}
	ns := inv.symbols.number(namespace)
	for i := range inv.rows {
		if r := &inv.rows[i]; r.present && r.kind == kind && (namespace == "" || r.ns == ns) {
			inv.present--
			r.present = false
			delete(inv.byUID, r.uid)
			r.uid = UID{}
		}
	}
}

// Named returns the row of a reference, which is made where there is none. It
// must only be called by what an Extractor returned.
func (inv *Inventory) Named(ref object.Ref) ID {
	k := key{kind: inv.kindOf(ref.GroupKind()), ns: inv.symbols.number(ref.Namespace), name: ref.Name}
	if id, ok := inv.byKey[k]; ok {
		return id
	}
	id := ID(len(inv.rows))
	inv.rows = append(inv.rows, row{key: k})
	inv.byKey[k] = id
	return id
}

// Symbol returns the number of a string that many rows share (a field path).
// Like Named it is for what an Extractor returned.
func (inv *Inventory) Symbol(s string) uint32 { return inv.symbols.number(s) }

func (inv *Inventory) kindOf(gk schema.GroupKind) uint32 {
	n, ok := inv.kindNum[gk]
	if !ok {
		n = uint32(len(inv.kinds))
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
	r.present = true
	delete(inv.absent, id)
	r.version = inv.symbols.number(o.Version)
	if uid := o.Meta.GetUID(); uid != "" {
		r.uid = ParseUID(uid)
		if first, taken := inv.byUID[r.uid]; !taken {
			inv.byUID[r.uid] = id
		} else if first != id {
			inv.twins = append(inv.twins, [2]ID{first, id})
		}
		if !canonical(uid) {
			inv.oddUIDs[id] = uid
		}
	}
	r.labels = uint32(len(inv.pairs))
	for k, v := range o.Meta.GetLabels() {
		inv.pairs = append(inv.pairs, inv.pairOf(k, v))
	}
	if len(inv.keptNotes) > 0 {
		for k, v := range o.Meta.GetAnnotations() {
			if inv.keptNotes[k] {
				inv.pairs = append(inv.pairs, inv.pairOf(noteKey(k), v))
			}
		}
	}
	r.nlabels = uint16(min(len(inv.pairs)-int(r.labels), 1<<16-1))
}

func (inv *Inventory) pairOf(k, v string) uint32 {
	p := pair{inv.symbols.number(k), inv.symbols.number(v)}
	n, ok := inv.pairNum[p]
	if !ok {
		n = uint32(len(inv.pairList))
		inv.pairList = append(inv.pairList, p)
		inv.pairNum[p] = n
	}
	return n
}

// Cover says that every object of the kind in the namespace (in all namespaces,
// where it is empty) has been added: one that is named and not here is missing.
func (inv *Inventory) Cover(gk schema.GroupKind, namespace string) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	inv.covered[scope{gk, namespace}] = true
}

// Absent says that the object was asked for by name and is not there.
func (inv *Inventory) Absent(ref object.Ref) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	inv.absent[inv.Named(ref)] = true
}

// Gap keeps what could not be read. The same gap is kept once.
func (inv *Inventory) Gap(g object.Gap) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	for _, have := range inv.gaps {
		if have == g {
			return
		}
	}
	inv.gaps = append(inv.gaps, g)
}

// The methods below read, and expect that nothing is added meanwhile.

// Len is the number of rows, present or only named.
func (inv *Inventory) Len() int { return len(inv.rows) }

// Objects is the number of objects that were read.
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
	id, ok := inv.byKey[key{kind, ns, ref.Name}]
	return id, ok
}

// Present says that the object of the row was read.
func (inv *Inventory) Present(id ID) bool { return inv.rows[id].present }

// Missing says that the object of the row is not there, for certain.
func (inv *Inventory) Missing(id ID) bool {
	r := inv.rows[id]
	if r.present {
		return false
	}
	gk, ns := inv.kinds[r.kind], inv.symbols.list[r.ns]
	return inv.absent[id] || inv.covered[scope{gk, ns}] || inv.covered[scope{gk, ""}]
}

// Covered says whether every object of the kind in the namespace was read.
func (inv *Inventory) Covered(gk schema.GroupKind, namespace string) bool {
	return inv.covered[scope{gk, namespace}] || inv.covered[scope{gk, ""}]
}

// Coverage yields each kind and namespace of which every object was read.
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

// UID returns the UID of the row as the server wrote it; empty where the object
// was not read.
func (inv *Inventory) UID(id ID) types.UID {
	if u, ok := inv.oddUIDs[id]; ok {
		return u
	}
	return inv.rows[id].uid.format()
}

// RawUID returns the UID of the row as bytes, for comparing.
func (inv *Inventory) RawUID(id ID) UID { return inv.rows[id].uid }

// ByUID returns the first row that was read with the UID.
func (inv *Inventory) ByUID(uid UID) (ID, bool) {
	if uid == (UID{}) {
		return 0, false
	}
	id, ok := inv.byUID[uid]
	return id, ok
}

// Twins returns pairs of rows that were read with the same UID: one object that
// two groups serve, or a UID that was used twice.
func (inv *Inventory) Twins() [][2]ID { return inv.twins }

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

// Label returns the value of a label of the row.
func (inv *Inventory) Label(id ID, name string) (string, bool) {
	k, ok := inv.symbols.find(name)
	if !ok {
		return "", false
	}
	for _, p := range inv.labels(id) {
		if inv.pairList[p].key == k {
			return inv.symbols.list[inv.pairList[p].value], true
		}
	}
	return "", false
}

// Labels returns the labels of the row.
func (inv *Inventory) Labels(id ID) map[string]string {
	out := map[string]string{}
	for _, p := range inv.labels(id) {
		if k := inv.symbols.list[inv.pairList[p].key]; !isNote(k) {
			out[k] = inv.symbols.list[inv.pairList[p].value]
		}
	}
	return out
}

// Note returns the value of an annotation of the row, of those that are kept.
func (inv *Inventory) Note(id ID, name string) (string, bool) { return inv.Label(id, noteKey(name)) }

func (inv *Inventory) labels(id ID) []uint32 {
	r := &inv.rows[id]
	return inv.pairs[r.labels : r.labels+uint32(r.nlabels)]
}

// noteKey cannot be a label: those hold no colon.
func noteKey(k string) string { return "annotation:" + k }

func isNote(k string) bool { return strings.HasPrefix(k, "annotation:") }

func canonical(u types.UID) bool { return len(u) == 36 && ParseUID(u).format() == u }

// String returns the UUID in its canonical form, empty for no UID.
func (u UID) String() string { return string(u.format()) }

func (u UID) format() types.UID {
	if u == (UID{}) {
		return ""
	}
	var b [36]byte
	hex.Encode(b[0:8], u[0:4])
	hex.Encode(b[9:13], u[4:6])
	hex.Encode(b[14:18], u[6:8])
	hex.Encode(b[19:23], u[8:10])
	hex.Encode(b[24:36], u[10:16])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return types.UID(b[:])
}
