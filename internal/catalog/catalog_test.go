package catalog_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
)

var update = flag.Bool("update", false, "make entries.go of the YAML")

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
		if err := os.WriteFile("entries.go", goSource(t, want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
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

// goSource writes the entries as Go.
func goSource(t *testing.T, entries []catalog.Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	var list bytes.Buffer
	literal(&list, reflect.ValueOf(entries), false)
	b.WriteString("// Code generated from catalog/*.yaml by go generate; DO NOT EDIT.\n\npackage catalog\n\nimport (\n")
	for _, pkg := range []string{"internal/solve", "pkg/declare", "pkg/health", "pkg/regulate"} {
		if typed := regexp.MustCompile(`[^\w."]` + path.Base(pkg) + `\.[A-Z]\w*\{`); typed.Match(list.Bytes()) {
			fmt.Fprintf(&b, "\t\"github.com/kubectl-sysop/kubectl-sysop/%s\"\n", pkg)
		}
	}
	b.WriteString(")\n\nvar entries = ")
	b.Write(list.Bytes())
	b.WriteString("\n")
	out, err := format.Source(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// literal writes a value as Go, without what is zero. In a list, the type of an
// item need not be written.
func literal(b *bytes.Buffer, v reflect.Value, item bool) {
	switch v.Kind() {
	case reflect.String:
		b.WriteString(strconv.Quote(v.String()))
	case reflect.Bool:
		fmt.Fprint(b, v.Bool())
	case reflect.Int64:
		fmt.Fprintf(b, "int64(%d)", v.Int())
	case reflect.Float64:
		fmt.Fprintf(b, "float64(%s)", strconv.FormatFloat(v.Float(), 'g', -1, 64))
	case reflect.Interface:
		if v.IsNil() {
			b.WriteString("nil")
			return
		}
		literal(b, v.Elem(), false)
	case reflect.Pointer:
		b.WriteString("&")
		literal(b, v.Elem(), false)
	case reflect.Map:
		b.WriteString(typeName(v.Type()) + "{")
		for _, key := range slices.SortedFunc(slices.Values(v.MapKeys()), func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) }) {
			b.WriteString(strconv.Quote(key.String()) + ": ")
			literal(b, v.MapIndex(key), false)
			b.WriteString(", ")
		}
		b.WriteString("}")
	case reflect.Slice:
		b.WriteString(typeName(v.Type()) + "{")
		long := v.Type().Elem().Kind() == reflect.Struct
		for i := range v.Len() {
			if long {
				b.WriteString("\n")
			}
			literal(b, v.Index(i), true)
			b.WriteString(", ")
		}
		if long {
			b.WriteString("\n")
		}
		b.WriteString("}")
	case reflect.Struct:
		if !item {
			b.WriteString(typeName(v.Type()))
		}
		b.WriteString("{")
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() {
				b.WriteString(v.Type().Field(i).Name + ": ")
				literal(b, f, false)
				b.WriteString(", ")
			}
		}
		b.WriteString("}")
	default:
		panic(v.Kind())
	}
}

func typeName(t reflect.Type) string {
	return strings.NewReplacer("catalog.", "", "interface {}", "any").Replace(t.String())
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
