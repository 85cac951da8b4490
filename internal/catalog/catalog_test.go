package catalog_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
)

var update = flag.Bool("update", false, "make entries.bin of the YAML")

const dir = "../../catalog"

// written returns the entries as the YAML has them.
func written(t *testing.T) []catalog.Entry {
	t.Helper()
	entries, problems := readAll()
	for _, p := range problems {
		t.Error(p)
	}
	return entries
}

// readAll parses every file once.
var readAll = sync.OnceValues(func() (all []catalog.Entry, wrong []string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if len(files) == 0 {
		return nil, []string{"no entries in " + dir}
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		e, problems := catalog.Parse(strings.TrimSuffix(filepath.Base(f), ".yaml"), data)
		for _, p := range problems {
			wrong = append(wrong, f+": "+p.String())
		}
		all = append(all, e)
	}
	return all, wrong
})

// TestCompiled: what is compiled is what is written.
func TestCompiled(t *testing.T) {
	want := slices.Clone(written(t))
	for i := range want {
		want[i].Relations = slices.Clone(want[i].Relations)
		for j := range want[i].Relations {
			want[i].Relations[j].Line, want[i].Relations[j].Column = 0, 0
		}
	}
	if *update {
		if t.Failed() {
			return
		}
		if err := os.WriteFile("entries.bin", pack(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text, err := os.ReadFile("entries.bin"); err != nil || !bytes.Equal(text, pack(want)) {
		t.Fatalf("entries.bin is not what catalog/*.yaml says (%v): run go generate ./internal/catalog", err)
	}
	got := catalog.All()
	if len(got) != len(want) {
		t.Errorf("%d entries are compiled, %d are written: run go generate ./internal/catalog", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("%s is not compiled as it is written: run go generate ./internal/catalog", want[i].Name)
		}
	}
}

// pack writes the entries as they are compiled in.
func pack(entries []catalog.Entry) []byte {
	var all []catalog.PackedEntry
	for _, e := range entries {
		head := e
		head.Relations, head.Versions, head.Kinds = nil, nil, slices.Clone(e.Kinds)
		for i := range head.Kinds {
			head.Kinds[i].Health, head.Kinds[i].Signals = nil, nil
		}
		all = append(all, catalog.PackedEntry{Head: head, Whole: string(packValue(nil, reflect.ValueOf(e)))})
	}
	return packValue(nil, reflect.ValueOf(all))
}

// packValue appends a value as the package unpacks it.
func packValue(b []byte, v reflect.Value) []byte {
	number := func(n uint64) { b = binary.AppendUvarint(b, n) }
	switch v.Kind() {
	case reflect.String:
		number(uint64(v.Len()))
		b = append(b, v.String()...)
	case reflect.Bool:
		number(map[bool]uint64{true: 1}[v.Bool()])
	case reflect.Int64:
		number(uint64(v.Int()))
	case reflect.Float64:
		number(math.Float64bits(v.Float()))
	case reflect.Pointer:
		b = packValue(b, v.Elem())
	case reflect.Interface:
		if v.IsNil() {
			number(0)
			break
		}
		number(uint64(slices.Index(catalog.FreeTypes, v.Elem().Type())))
		b = packValue(b, v.Elem())
	case reflect.Slice:
		number(uint64(v.Len()))
		for i := range v.Len() {
			b = packValue(b, v.Index(i))
		}
	case reflect.Map:
		number(uint64(v.Len()))
		for _, key := range slices.SortedFunc(slices.Values(v.MapKeys()), func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) }) {
			b = packValue(packValue(b, key), v.MapIndex(key))
		}
	case reflect.Struct:
		var set uint64
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				set |= 1 << i
			}
		}
		number(set)
		for ; set > 0; set &= set - 1 {
			b = packValue(b, v.Field(bits.TrailingZeros64(set)))
		}
	default:
		panic(v.Kind())
	}
	return b
}

// TestEntriesAreWhole: each entry says what it must, once, and of its own kinds.
func TestEntriesAreWhole(t *testing.T) {
	owner := map[string]string{}
	for _, e := range catalog.All() {
		for _, k := range e.Kinds {
			if other, taken := owner[k.Kind]; taken {
				t.Errorf("%s is defined by %s and %s", k.Kind, other, e.Name)
			}
			owner[k.Kind] = e.Name
		}
	}
	for _, e := range catalog.All() {
		if e.Title == "" || e.Description == "" || len(e.Source) == 0 || len(e.Kinds) == 0 {
			t.Errorf("%s: the entry is not whole", e.Name)
		}
		for _, s := range e.Relations {
			if !slices.ContainsFunc(slices.Concat(s.From, s.To), func(k string) bool { return owner[k] == e.Name }) {
				t.Errorf("%s: %v %s %v: neither end is a kind of this operator", e.Name, s.From, s.Relation, s.To)
			}
		}
	}
}

// TestParseComposes: one kind that is no list is refused, and not passed over.
func TestParseComposes(t *testing.T) {
	const text = `apiVersion: sysop.dev/v1alpha1
kind: Operator
name: widget
title: Widget operator
description: Makes widgets.
source: https://example.com/widget
kinds:
- {kind: Widget.example.com, versions: [v1], composes: Deployment}
relations: []
`
	if _, problems := catalog.Parse("widget", []byte(text)); len(problems) != 1 || problems[0].Line != 8 || problems[0].Message != "expected a list of kinds" {
		t.Errorf("got %v", problems)
	}
}
