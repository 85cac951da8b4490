package catalog

import (
	_ "embed"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"sync"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// packed are the entries, as the test TestCompiled writes them: a list of packedEntry. It is
// made again whenever a field is added to the types of an entry, or moved.
//
//go:embed entries.bin
var packed string

// packedEntry is an entry in packed. A command reads the heads of all entries, and the whole of
// those only whose kinds the cluster serves.
type packedEntry struct {
	// Head has no relations and versions, and no health and signals of the kinds.
	Head Entry
	// Whole is the Entry, packed.
	Whole string
}

// compiledEntry is an entry that is compiled in; whole unpacks it once.
type compiledEntry struct {
	Entry
	whole func() *Entry
}

var (
	compiled = sync.OnceValue(func() []compiledEntry {
		list := unpack[[]packedEntry](packed)
		all := make([]compiledEntry, len(*list))
		for i, p := range *list {
			all[i] = compiledEntry{p.Head, sync.OnceValue(func() *Entry { return unpack[Entry](p.Whole) })}
		}
		return all
	})
	entries = sync.OnceValue(func() []Entry { return wholes(func(Entry) bool { return true }) })
)

// wholes returns the entries whose head passes a filter.
func wholes(keep func(Entry) bool) []Entry {
	var all []Entry
	for _, c := range compiled() {
		if keep(c.Entry) {
			all = append(all, *c.whole())
		}
	}
	return all
}

// definesServed says whether the cluster serves a kind of the entry.
func (e Entry) definesServed(kinds *object.Kinds) bool {
	return slices.ContainsFunc(e.Kinds, func(k Kind) bool { return served(k.Kind, kinds) })
}

// unpack decodes a value. JSON takes four times as long for all entries, and eight times for
// the heads; here a text is a part of the packed one, and nothing is copied.
func unpack[T any](text string) *T {
	defer func() {
		if err := recover(); err != nil {
			panic(fmt.Sprintf("entries.bin is not of these types: run go generate ./internal/catalog (%v)", err))
		}
	}()
	var v T
	u := unpacker{text}
	u.value(reflect.ValueOf(&v).Elem())
	return &v
}

// freeTypes are the types of a free value, by its tag; 0 is nil.
var freeTypes = []reflect.Type{
	1: reflect.TypeFor[string](), 2: reflect.TypeFor[bool](), 3: reflect.TypeFor[int64](), 4: reflect.TypeFor[float64](),
	5: reflect.TypeFor[map[string]any](), 6: reflect.TypeFor[[]any](),
}

type unpacker struct{ rest string }

// number reads a number, seven bits a byte, the lowest first (encoding/binary's Uvarint).
func (u *unpacker) number() uint64 {
	var n uint64
	for i := 0; ; i++ {
		c := u.rest[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			u.rest = u.rest[i+1:]
			return n
		}
	}
}

func (u *unpacker) text() string {
	n := u.number()
	text := u.rest[:n]
	u.rest = u.rest[n:]
	return text
}

func (u *unpacker) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(u.text())
	case reflect.Bool:
		v.SetBool(u.number() == 1)
	case reflect.Int64:
		v.SetInt(int64(u.number()))
	case reflect.Float64:
		v.SetFloat(math.Float64frombits(u.number()))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		u.value(v.Elem())
	case reflect.Interface:
		if tag := u.number(); tag > 0 {
			free := reflect.New(freeTypes[tag]).Elem()
			u.value(free)
			v.Set(free)
		}
	case reflect.Slice:
		n := int(u.number())
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			u.value(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range u.number() {
			key, value := u.text(), reflect.New(v.Type().Elem()).Elem()
			u.value(value)
			v.SetMapIndex(reflect.ValueOf(key), value)
		}
	case reflect.Struct:
		// A bit says of each field whether it is set: the others are not written.
		for set := u.number(); set > 0; set &= set - 1 {
			u.value(v.Field(bits.TrailingZeros64(set)))
		}
	default:
		panic("a " + v.Type().String() + " cannot be packed")
	}
}
