package inventory

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Select matches what the selectors of Kubernetes match.
func TestSelectAgrees(t *testing.T) {
	hits := 0
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		inv := New(nil)
		var all []object.Object
		for i := range random.IntN(40) {
			l := map[string]string{}
			for range random.IntN(4) {
				l[word(random)] = word(random)
			}
			all = append(all, made(ref([]string{"m", "n"}[random.IntN(2)], fmt.Sprint(i)), "", l))
			inv.Add(all[i])
		}
		other := made(object.Ref{Kind: "Other", Namespace: "n", Name: "x"}, "", map[string]string{"a": "a"})
		inv.Add(other)
		x := inv.Index()
		for range 20 {
			s := selector(random)
			ns, wide := []string{"m", "n", "none"}[random.IntN(3)], random.IntN(3) == 0
			theirs, err := metav1.LabelSelectorAsSelector(&s)
			if err != nil {
				t.Fatal(err)
			}
			var want []ID
			for _, o := range all {
				if id, _ := inv.Find(o.Ref); (wide || o.Namespace == ns) && theirs.Matches(labels.Set(o.Meta.GetLabels())) {
					want = append(want, id)
				}
			}
			got := x.Select(thing, ns, wide, Query{Labels: s.MatchLabels, Expressions: s.MatchExpressions})
			if found(inv, got) != found(inv, want) {
				t.Fatalf("seed %d: %s in %s (all %v) finds %q, want %q", seed, theirs, ns, wide, found(inv, got), found(inv, want))
			}
			hits += len(got)
		}
	}
	if hits < 1000 {
		t.Errorf("only %d rows found in all", hits)
	}
}

func word(random *rand.Rand) string { return string("abcd"[random.IntN(4)]) }

func selector(random *rand.Rand) metav1.LabelSelector {
	s := metav1.LabelSelector{MatchLabels: map[string]string{}}
	for range random.IntN(3) {
		s.MatchLabels[word(random)] = word(random)
	}
	for range random.IntN(3) {
		e := metav1.LabelSelectorRequirement{Key: word(random), Operator: metav1.LabelSelectorOpExists}
		if random.IntN(8) == 0 {
			e.Key = "never"
		}
		switch random.IntN(4) {
		case 0:
			e.Operator = metav1.LabelSelectorOpDoesNotExist
		case 1:
			e.Operator = metav1.LabelSelectorOpIn
		case 2:
			e.Operator = metav1.LabelSelectorOpNotIn
		}
		if e.Operator == metav1.LabelSelectorOpIn || e.Operator == metav1.LabelSelectorOpNotIn {
			for range 1 + random.IntN(3) {
				e.Values = append(e.Values, word(random)) // sometimes a duplicate
			}
		}
		s.MatchExpressions = append(s.MatchExpressions, e)
	}
	return s
}

func TestSelect(t *testing.T) {
	inv := New([]string{"note"})
	for _, name := range []string{"data-web-0", "data-web-1", "data-db-0"} {
		o := made(ref("ns", name), "", map[string]string{"app": name[5 : len(name)-2]})
		if name != "data-web-1" {
			o.Meta.SetAnnotations(map[string]string{"note": name})
		}
		inv.Add(o)
	}
	inv.Add(made(ref("far", "data-web-0"), "", map[string]string{"app": "web"}))
	inv.Absent(ref("ns", "data-web-7"))
	equals := func(want string) func(string) bool { return func(s string) bool { return s == want } }
	web := map[string]string{"app": "web"}
	for name, c := range map[string]struct {
		q    Query
		all  bool
		want string
	}{
		"everything":             {Query{}, false, "ns/data-db-0 ns/data-web-0 ns/data-web-1"},
		"everywhere":             {Query{}, true, "far/data-web-0 ns/data-db-0 ns/data-web-0 ns/data-web-1"},
		"label":                  {Query{Labels: web}, false, "ns/data-web-0 ns/data-web-1"},
		"label, everywhere":      {Query{Labels: web}, true, "far/data-web-0 ns/data-web-0 ns/data-web-1"},
		"name":                   {Query{Name: equals("data-web-0")}, false, "ns/data-web-0"},
		"name and label":         {Query{Name: equals("data-web-0"), Labels: web}, true, "far/data-web-0 ns/data-web-0"},
		"annotation":             {Query{Annotation: "note", Match: equals("data-db-0")}, false, "ns/data-db-0"},
		"annotation and label":   {Query{Annotation: "note", Match: equals("data-db-0"), Labels: web}, false, ""},
		"annotation, everywhere": {Query{Annotation: "note", Match: func(string) bool { return true }}, true, "ns/data-db-0 ns/data-web-0"},
		"annotation not kept":    {Query{Annotation: "other", Match: func(string) bool { return true }}, false, ""},
		"unknown operator":       {Query{Expressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Near", Values: []string{"web"}}}}, false, ""},
		"a label as annotation":  {Query{Labels: map[string]string{"note": "data-db-0"}}, false, ""},
	} {
		if got := found(inv, inv.Index().Select(thing, "ns", c.all, c.q)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	x := inv.Index()
	if len(x.Select(schema.GroupKind{Kind: "Never"}, "ns", false, Query{})) != 0 || len(x.OfKind(thing, "nowhere", false)) != 0 {
		t.Error("found what is not there")
	}
	ids := x.OfKind(thing, "ns", false)
	if slices.ContainsFunc(ids, func(id ID) bool { return !inv.Present(id) }) {
		t.Error("what is absent is not found")
	}
}

// Many selectors over many rows, each with one match: no query may visit all rows.
func TestSelectIsIndexed(t *testing.T) {
	const n = 30_000
	inv := New([]string{"note"})
	for i := range n {
		o := made(ref("ns", fmt.Sprint(i)), "", map[string]string{"app": fmt.Sprint(i), "all": "x", fmt.Sprint("key", i): ""})
		inv.Add(o)
	}
	x := inv.Index()
	for i := range n {
		v := fmt.Sprint(i)
		for _, q := range []Query{
			{Labels: map[string]string{"app": v, "all": "x"}},
			{Expressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{v, "none"}}}},
			{Expressions: []metav1.LabelSelectorRequirement{{Key: "key" + v, Operator: metav1.LabelSelectorOpExists}}},
		} {
			for _, all := range []bool{false, true} {
				if got := x.Select(thing, "ns", all, q); len(got) != 1 || inv.Ref(got[0]).Name != v {
					t.Fatalf("%+v: %q", q, found(inv, got))
				}
			}
		}
	}
}
