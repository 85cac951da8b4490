package inventory

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

const (
	uuid1 = types.UID("6b1c2f9e-0b0c-4b8e-9f3a-1d2c3b4a5f60")
	uuid2 = types.UID("6b1c2f9e-0b0c-4b8e-9f3a-1d2c3b4a5f61")
)

func TestAddAgainReplaces(t *testing.T) {
	inv := New(nil)
	inv.Add(made(ref("ns", "a"), "no uuid", map[string]string{"a": "1", "b": "2"}))
	id, _ := inv.Find(ref("ns", "a"))
	if inv.UID(id) != "no uuid" || inv.Version(id) != "v1" {
		t.Errorf("UID %q", inv.UID(id))
	}
	o := made(ref("ns", "a"), uuid1, map[string]string{"a": "3"})
	o.Version = "v2"
	inv.Add(o)
	if inv.Len() != 1 || inv.Objects() != 1 || inv.UID(id) != uuid1 || inv.Version(id) != "v2" {
		t.Errorf("%d rows, %d objects, UID %q", inv.Len(), inv.Objects(), inv.UID(id))
	}
	if l := inv.Labels(id); len(l) != 1 || l["a"] != "3" {
		t.Errorf("labels %v", l)
	}
	if _, ok := inv.ByUID(ParseUID("no uuid")); ok {
		t.Error("found by a UID that it had")
	}
	if got, ok := inv.ByUID(ParseUID(uuid1)); !ok || got != id {
		t.Error("not found by the UID that it has")
	}
	inv.Add(made(ref("ns", "a"), "", nil))
	if inv.UID(id) != "" || inv.RawUID(id) != (UID{}) || len(inv.Labels(id)) != 0 {
		t.Errorf("UID %q, labels %v", inv.UID(id), inv.Labels(id))
	}
}

func TestStates(t *testing.T) {
	inv := New(nil, func(object.Object) func(*Inventory, ID) {
		return func(inv *Inventory, _ ID) {
			for _, r := range []object.Ref{ref("ns", "b"), ref("far", "b"), {Kind: "Pod", Namespace: "ns", Name: "b"}} {
				inv.Named(r)
			}
		}
	})
	inv.Add(made(ref("ns", "a"), "1", nil))
	state := func(r object.Ref) string {
		id, ok := inv.Find(r)
		switch {
		case !ok:
			return "unknown"
		case inv.Present(id):
			return "present"
		case inv.Missing(id):
			return "missing"
		}
		return "unread"
	}
	check := func(when string, want ...string) {
		t.Helper()
		var got []string
		for _, r := range []object.Ref{ref("ns", "a"), ref("ns", "b"), ref("far", "b"), {Kind: "Pod", Namespace: "ns", Name: "b"}, ref("ns", "c")} {
			got = append(got, state(r))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	check("named", "present", "unread", "unread", "unread", "unknown")
	inv.Cover(thing, "ns")
	check("one namespace covered", "present", "missing", "unread", "unread", "unknown")
	inv.Absent(object.Ref{Kind: "Pod", Namespace: "ns", Name: "b"})
	check("one absent", "present", "missing", "unread", "missing", "unknown")
	inv.Cover(thing, "")
	check("all covered", "present", "missing", "missing", "missing", "unknown")
	if !inv.Covered(thing, "anywhere") || inv.Covered(schema.GroupKind{Kind: "Pod"}, "ns") {
		t.Error("covered")
	}
	n := 0
	for gk := range inv.Coverage() {
		if n++; gk != thing {
			t.Errorf("coverage of %v", gk)
		}
	}
	if n != 2 {
		t.Errorf("%d scopes covered", n)
	}
	inv.Reset(thing, "ns")
	check("reset of one namespace, which the cover of all holds", "missing", "missing", "missing", "missing", "unknown")
	inv.Reset(thing, "")
	check("reset", "unread", "unread", "unread", "missing", "unknown")
	inv.Add(made(ref("ns", "a"), "1", nil))
	inv.Add(made(object.Ref{Kind: "Pod", Namespace: "ns", Name: "b"}, "2", nil))
	check("there again", "present", "unread", "unread", "present", "unknown")
	inv.Reset(schema.GroupKind{Kind: "Never"}, "")
	if inv.Objects() != 2 {
		t.Errorf("%d objects", inv.Objects())
	}
}

func TestResetForgets(t *testing.T) {
	inv := New(nil)
	inv.Add(made(ref("ns", "a"), "odd", map[string]string{"x": "y"}))
	inv.Add(made(ref("far", "a"), "odd", nil))
	inv.Reset(thing, "ns")
	a, _ := inv.Find(ref("ns", "a"))
	far, _ := inv.Find(ref("far", "a"))
	if inv.Present(a) || inv.UID(a) != "" || len(inv.Labels(a)) != 0 || !inv.Present(far) || inv.Objects() != 1 {
		t.Errorf("%v %q %v", inv.Present(a), inv.UID(a), inv.Labels(a))
	}
	if got, ok := inv.ByUID(ParseUID("odd")); !ok || got != far {
		t.Error("the other one of the UID is found")
	}
	if twins := inv.Twins(); len(twins) != 0 {
		t.Errorf("twins %v", twins)
	}
}

func TestGapsAreKeptOnce(t *testing.T) {
	inv := New(nil)
	for i := range 50_000 {
		for range 2 {
			inv.Gap(object.Gap{Resource: "pods", Namespace: fmt.Sprint(i), Reason: "Forbidden"})
		}
	}
	if len(inv.Gaps()) != 50_000 {
		t.Errorf("%d gaps", len(inv.Gaps()))
	}
}

func TestNotes(t *testing.T) {
	inv := New([]string{"kept"})
	o := made(ref("ns", "a"), "", map[string]string{"kept": "label"})
	o.Meta.SetAnnotations(map[string]string{"kept": "note", "other": "x"})
	inv.Add(o)
	note, ok := inv.Annotation(0, "kept")
	label, _ := inv.Label(0, "kept")
	if !ok || note != "note" || label != "label" || len(inv.Labels(0)) != 1 {
		t.Errorf("note %q, label %q, labels %v", note, label, inv.Labels(0))
	}
	if _, ok := inv.Annotation(0, "other"); ok {
		t.Error("nobody asked for this annotation")
	}
	if _, ok := inv.Label(0, "never"); ok {
		t.Error("no such label")
	}
}

// Extractors run in their order, and the functions that they return run alone.
func TestAddAtOnce(t *testing.T) {
	stored := 0
	count := func(object.Object) func(*Inventory, ID) {
		return func(inv *Inventory, id ID) {
			stored++
			inv.Named(ref("other", inv.Ref(id).Name))
			inv.Symbol(inv.Ref(id).Name)
		}
	}
	inv := New(nil, count, func(object.Object) func(*Inventory, ID) { return nil })
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for j := range 500 {
				inv.Add(made(ref("ns", fmt.Sprint(j)), types.UID(fmt.Sprint(i)), map[string]string{"j": fmt.Sprint(j)}))
				inv.Cover(thing, fmt.Sprint(i))
				inv.Gap(object.Gap{Resource: fmt.Sprint(j)})
				inv.Absent(ref("gone", fmt.Sprint(j)))
			}
		})
	}
	all.Wait()
	if stored != 2000 || inv.Objects() != 500 || inv.Len() != 1500 || len(inv.Gaps()) != 500 {
		t.Errorf("kept %d, %d objects, %d rows", stored, inv.Objects(), inv.Len())
	}
	for range 4 { // concurrent reads are safe too
		all.Go(func() {
			inv.ByUID(ParseUID("3"))
			inv.Twins()
			inv.Missing(0)
		})
	}
	all.Wait()
}

func TestSorted(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 0))
		inv := New(nil)
		for range 200 {
			r := object.Ref{
				Group: []string{"", "a", "b"}[random.IntN(3)], Kind: []string{"X", "Y"}[random.IntN(2)],
				Namespace: []string{"", "n", "m", "nn"}[random.IntN(4)], Name: fmt.Sprint(random.IntN(40)),
			}
			inv.Add(made(r, "", nil))
		}
		keep := func(id ID) bool { return id%3 != 0 }
		got := inv.Sorted(keep)
		if !slices.IsSortedFunc(got, func(a, b ID) int { return object.Compare(inv.Ref(a), inv.Ref(b)) }) {
			t.Errorf("seed %d: not in order", seed)
		}
		want := 0
		for id := range ID(inv.Len()) {
			if keep(id) {
				want++
			}
		}
		if len(got) != want || slices.ContainsFunc(got, func(id ID) bool { return !keep(id) }) {
			t.Errorf("seed %d: %d of %d rows", seed, len(got), want)
		}
	}
}

// Long strings and many blocks are returned unchanged.
func TestTexts(t *testing.T) {
	inv := New(nil)
	var want []string
	for i := range 3000 {
		name := strings.Repeat(fmt.Sprint(i, "-"), 1+i%700)
		want = append(want, name)
		inv.Add(made(ref("ns", name), "", map[string]string{"k": name}))
	}
	for i, name := range want {
		if v, _ := inv.Label(ID(i), "k"); v != name || inv.Ref(ID(i)).Name != name {
			t.Fatalf("row %d is %.40s", i, inv.Ref(ID(i)).Name)
		}
	}
	if x := inv.Symbol("x"); inv.Text(x) != "x" || inv.Symbol("") != 0 {
		t.Error("symbols")
	}
	if kinds := slices.Collect(inv.Kinds()); len(kinds) != 1 || kinds[0] != thing {
		t.Errorf("kinds %v", kinds)
	}
}
