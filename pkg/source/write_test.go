package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// odd are strings that some writer of YAML has got wrong.
var odd = []string{
	"plain", "yes", "n", "~", "null", "=", "<<", "1e3", "0x10", "012", "1_000", "2001-01-01", "- a", "a: b", "# c", "---", "...", "--- a\n...\n", "*a", "&a", "!a", "%a", "@a", "`a", "{", "[", "\"", "'",
	" a", "a ", "a\n", "\na", "a\n\nb\n ", "\ta", "a\r\nb", "\x00", "\x1b[31m", "\x7f", "\u0080", "\u0085", "\u00a0", "\u2028", "\u2029", "\u202e", "\ufeff", "\ufffd", "\ufffe", "\uffff", "\U0001f600", strings.Repeat("long ", 100), strings.Repeat("k", 200),
}

func oddObjects() []map[string]any {
	labels := map[string]any{}
	for _, s := range odd {
		labels[s] = s
	}
	return []map[string]any{
		{"apiVersion": "example.com/v1", "kind": "A", "metadata": map[string]any{"name": "a", "namespace": "shop", "annotations": labels}, "spec": map[string]any{"i": int64(9007199254740993), "neg": int64(-1), "f": 1.5, "b": true, "list": []any{"x", int64(1), map[string]any{}}}},
		{"apiVersion": "example.com/v1", "kind": "A", "metadata": map[string]any{"name": "b\x1b\u202e", "namespace": "shop"}},
	}
}

func TestWrittenIsRead(t *testing.T) {
	head := SnapshotHeader{
		Covered: []Scope{{Group: "example.com", Kind: "A", Namespace: "shop"}}, Absent: []string{"Secret/shop/x"},
		Gaps: []object.Gap{{Resource: "pods", Reason: "Forbidden", Message: "no: \x7f"}},
	}
	for _, name := range []string{"s.yaml", "s.yml.gz", "s.json", "s.json.gz", "s"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			want := oddObjects()
			if err := Write(path, head, want, false); err != nil {
				t.Fatal(err)
			}
			s, err := Open(path, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := read(t, s.Whole())
			for _, o := range want {
				r := object.Ref{Group: "example.com", Kind: "A", Namespace: "shop", Name: name2(o)}
				if have := got.objects[r]; have.Body == nil || !reflect.DeepEqual(have.Fields(), o) {
					t.Errorf("%s is read as\n%#v\nand was written as\n%#v", r, have.Body, o)
				}
			}
			if got.coverage() != "A.example.com@shop" || len(got.absent) != 1 || !reflect.DeepEqual(got.gaps, head.Gaps) {
				t.Errorf("covered %s, absent %v, gaps %v", got.coverage(), got.absent, got.gaps)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" { // which has no such modes
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
		})
	}
}

func name2(o map[string]any) string { s, _ := name(o).(string); return s }

// TestCutSnapshotIsNoticed cuts what we write at every byte that matters.
func TestCutSnapshotIsNoticed(t *testing.T) {
	objects := []map[string]any{oddObjects()[1], {"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p"}, "spec": map[string]any{"a": "b", "c": "d"}}}
	for _, form := range []struct{ asJSON, zip bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		var b bytes.Buffer
		if err := WriteTo(&b, form.asJSON, form.zip, SnapshotHeader{}, objects); err != nil {
			t.Fatal(err)
		}
		full := b.Bytes()
		end := len(bytes.TrimRight(full, "\n"))
		if form.zip {
			end = len(full)
		}
		for n := range end {
			docs, err := Parse("x", bytes.NewReader(full[:n]))
			if err == nil {
				_, err = SnapshotOptions{}.New("x", docs)
			}
			if err == nil {
				t.Fatalf("%+v: cut at %d of %d and nobody knows:\n%s", form, n, len(full), full[:n])
			}
		}
	}
}

func TestWriteIsWholeOrNothing(t *testing.T) {
	dir := t.TempDir()
	file, link, dangling, folder := filepath.Join(dir, "f.yaml"), filepath.Join(dir, "l.yaml"), filepath.Join(dir, "d.yaml"), filepath.Join(dir, "folder")
	untouched := func() {
		t.Helper()
		if b, err := os.ReadFile(file); err != nil || string(b) != "old" {
			t.Errorf("the file is %q, %v", b, err)
		}
		entries, _ := os.ReadDir(dir)
		if len(entries) != 4 {
			t.Errorf("left behind: %v", entries)
		}
	}
	if err := errors.Join(os.WriteFile(file, []byte("old"), 0o644), os.Symlink("f.yaml", link), os.Symlink("none", dangling), os.Mkdir(folder, 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, link, dangling} {
		if err := Write(name, SnapshotHeader{}, oddObjects(), false); !errors.Is(err, ErrExists) {
			t.Errorf("%s: %v", name, err)
		}
		untouched()
	}
	bad := []map[string]any{{"kind": "A", "metadata": map[string]any{"name": "a"}, "f": func() {}}}
	if err := Write(file, SnapshotHeader{}, bad, true); err == nil || !strings.Contains(err.Error(), "write A a") {
		t.Error(err)
	}
	untouched()
	for _, name := range []string{folder, os.DevNull} {
		if err := Write(name, SnapshotHeader{}, oddObjects(), true); err == nil || errors.Is(err, ErrExists) {
			t.Errorf("%s: %v", name, err)
		}
		untouched()
	}
	if err := Write(filepath.Join(dir, "none", "f"), SnapshotHeader{}, nil, true); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	// A link is replaced, and what it leads to stays.
	if err := Write(link, SnapshotHeader{}, oddObjects(), true); err != nil {
		t.Error(err)
	}
	untouched()
	if err := Write(file, SnapshotHeader{}, oddObjects(), true); err != nil {
		t.Error(err)
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("mode %v", info.Mode())
	}
	if err := place(filepath.Join(dir, "l.yaml"), file, false); !errors.Is(err, ErrExists) {
		t.Errorf("a name that was taken meanwhile: %v", err)
	}
}

type full struct{ left int }

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

func TestWriteToAFullDisk(t *testing.T) {
	big := []map[string]any{{"kind": "A", "metadata": map[string]any{"name": strings.Repeat("a", 1<<16)}}}
	for _, zip := range []bool{false, true} {
		for _, asJSON := range []bool{false, true} {
			for _, free := range []int{0, 100} {
				if err := WriteTo(&full{free}, asJSON, zip, SnapshotHeader{}, big); !errors.Is(err, io.ErrShortWrite) {
					t.Errorf("zip %v, JSON %v, %d bytes left: %v", zip, asJSON, free, err)
				}
			}
		}
	}
}

func TestKeeper(t *testing.T) {
	gaps := newRecorder()
	k := NewMemorySink(gaps, func(r object.Ref) bool { return r.Name != "not" })
	crd := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "z"}}}
	add := func(r object.Ref, body whole) { k.Add(object.Object{Ref: r, Version: "v1", Meta: body, Body: body}) }
	add(object.Ref{Kind: "Pod", Namespace: "a", Name: "p"}, pod("a", "p"))
	add(object.Ref{Kind: "Pod", Namespace: "b", Name: "p"}, pod("b", "p"))
	add(object.Ref{Kind: "Pod", Namespace: "b", Name: "not"}, pod("b", "not"))
	add(object.Ref{Kind: "Secret", Namespace: "a", Name: "s"}, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "s"}})
	add(object.Ref{Group: crdKind.Group, Kind: crdKind.Kind, Name: "z"}, crd)
	k.Reset(podKind, "b")
	k.Cover(podKind, "")
	k.Absent(object.Ref{})
	k.Gap(object.Gap{Resource: "pods", Reason: "Forbidden"})
	var kinds []string
	for _, o := range k.Objects() {
		kinds = append(kinds, o["apiVersion"].(string)+" "+o["kind"].(string))
	}
	if got := strings.Join(kinds, ", "); got != "apiextensions.k8s.io/v1 CustomResourceDefinition, v1 Pod, v1 Secret" {
		t.Error(got)
	}
	if gaps.reasons() != "pods@:Forbidden" || gaps.added > 0 || len(gaps.covered) > 0 || len(gaps.absent) > 0 {
		t.Errorf("told %+v", gaps)
	}
	if o := k.Objects()[1]; o["spec"].(map[string]any)["nodeName"] != "n1" {
		t.Error(o)
	}
}

// FuzzWritten writes any JSON object and reads it.
func FuzzWritten(f *testing.F) {
	for _, o := range oddObjects() {
		b, _ := json.Marshal(o)
		f.Add(b)
	}
	f.Add([]byte(`{"spec":{"a":"\u007f\n---\n","<<":[1e400,-0,1.0,12345678901234567890]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var m map[string]any
		if utiljson.Unmarshal(b, &m) != nil || m == nil {
			return
		}
		m["apiVersion"], m["kind"] = "example.com/v1", "A"
		var out bytes.Buffer
		if err := WriteTo(&out, false, false, SnapshotHeader{}, []map[string]any{m}); err != nil {
			t.Fatal(err)
		}
		docs, err := Parse("x", &out)
		if err != nil || len(docs) != 2 {
			t.Fatalf("%d documents, %v\n%q", len(docs), err, b)
		}
		want, _ := json.Marshal(m)
		got, _ := json.Marshal(docs[1].Object)
		if !bytes.Equal(got, want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}
