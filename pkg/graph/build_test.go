package graph_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

func TestStates(t *testing.T) {
	w := newWorld(t, "a needs b\na needs c\na needs u:d\ngone b\nn:node")
	w.link("a", "needs", relation.Link{Target: relation.Target{Kind: schema.GroupKind{Group: "test", Kind: "Unserved"}, Namespace: "ns", Name: "x"}})
	w.link("a", "needs", relation.Link{Target: relation.Target{Kind: schema.GroupKind{Kind: "Node"}, Namespace: "ns", Name: "node"}})
	g := w.build(nil)
	for name, want := range map[string]graph.State{"a": graph.Present, "b": graph.Missing, "c": graph.Present, "u:d": graph.Unread, "n:node": graph.Present} {
		n := g.Node(node(t, g, name))
		if n.State != want || n.Boundary != (name == "n:node") || (want == graph.Present) != (n.UID != "") || !strings.HasSuffix(n.APIVersion, "v1") {
			t.Errorf("%s: %+v", name, n)
		}
	}
	if id, ok := g.Find(object.Ref{Group: "test", Kind: "Unserved", Namespace: "ns", Name: "x"}); !ok || g.State(id) != graph.Missing || g.Node(id).APIVersion != "" {
		t.Errorf("a kind that nobody serves is %v", g.Node(id))
	}
	if _, ok := g.Find(refOf("nobody")); ok {
		t.Error("found what nobody named")
	}
	if g.Len() != 6 || g.Edges() != 5 {
		t.Errorf("%d nodes, %d edges", g.Len(), g.Edges())
	}
}

// An object that two groups serve is one node, with each edge once.
func TestTwins(t *testing.T) {
	w := newWorld(t, "ev:e needs a\nevs:e needs a\nb needs ev:e\nc needs evs:e\nev:e needs evs:e\nd")
	w.object("ev:e").UID = w.object("evs:e").UID
	w.object("d").UID = w.object("evs:e").UID // a UID that is used twice
	random := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		g := w.build(random)
		if g.Len() != 5 {
			t.Fatalf("%d nodes:\n%s", g.Len(), dump(g))
		}
		core, named := node(t, g, "ev:e"), node(t, g, "evs:e")
		if core != named || g.Ref(core) != refOf("evs:e") {
			t.Errorf("nodes %v and %v", g.Ref(core), g.Ref(named))
		}
		if got := out(g, core); len(got) != 1 {
			t.Errorf("edges %q", got)
		}
		if len(slices.Collect(g.In(core))) != 2 {
			t.Errorf("not needed by b and c:\n%s", dump(g))
		}
	}
}

func TestThreeTwins(t *testing.T) {
	w := newWorld(t, "ev:e\nevs:e")
	third := object.Ref{Group: "a.example.com", Kind: "Event", Namespace: "ns", Name: "e"}
	w.metas[third], w.order = w.object("ev:e").DeepCopy(), append(w.order, third)
	w.metas[third].UID = w.object("evs:e").UID
	w.object("ev:e").UID = w.object("evs:e").UID
	random := rand.New(rand.NewPCG(1, 1))
	for range 10 {
		if g := w.build(random); g.Len() != 1 || g.Ref(0) != third {
			t.Fatalf("nodes:\n%s", dump(g))
		}
	}
}

// Of two duplicate links, the stronger one wins.
func TestStrongestStays(t *testing.T) {
	w := newWorld(t, "b")
	for _, flags := range []relation.Link{{Optional: true, Value: "1"}, {Value: "2"}, {Inferred: true, Value: "3"}} {
		flags.Target, flags.Field = pointing("b"), "f"
		w.link("a", "needs", flags)
	}
	g := w.build(nil)
	if got := out(g, node(t, g, "a")); len(got) != 1 || got[0] != `a needs b (test-needs f = "2")` {
		t.Errorf("edges %q", got)
	}
}

func TestEdgesAgree(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 0))
		g := randomWorld(t, random, 12, 40).build(nil)
		var all []graph.Edge
		for n := range g.Nodes() {
			edges := slices.Collect(g.Out(n.ID))
			if !slices.IsSortedFunc(edges, func(a, b graph.Edge) int {
				if a.Relation != b.Relation {
					return int(a.Relation) - int(b.Relation)
				}
				return int(a.To - b.To)
			}) {
				t.Errorf("seed %d: edges out of order: %q", seed, out(g, n.ID))
			}
			all = append(all, edges...)
		}
		if len(all) != g.Edges() {
			t.Errorf("seed %d: %d edges of %d", seed, len(all), g.Edges())
		}
		for _, e := range all {
			if !slices.Contains(slices.Collect(g.In(e.To)), e) || !slices.Contains(slices.Collect(g.Between(e.From, e.To)), e) {
				t.Errorf("seed %d: %s is not everywhere", seed, edgeText(g, e))
			}
		}
		for a := range g.Len() {
			in := slices.Collect(g.In(graph.ID(a)))
			if !slices.IsSortedFunc(in, func(x, y graph.Edge) int { return int(x.From - y.From) }) {
				t.Errorf("seed %d: edges into %d out of order", seed, a)
			}
			for b := range g.Len() {
				want := slices.DeleteFunc(slices.Clone(all), func(e graph.Edge) bool { return e.From != graph.ID(a) || e.To != graph.ID(b) })
				if got := slices.Collect(g.Between(graph.ID(a), graph.ID(b))); !slices.Equal(got, want) {
					t.Errorf("seed %d: between %d and %d: %v, want %v", seed, a, b, got, want)
				}
			}
		}
	}
}

// randomWorld has n objects, a few of them missing, and about m edges.
func randomWorld(t testing.TB, random *rand.Rand, n, m int) *world {
	w := newWorld(t, "")
	pick := func() string {
		i := random.IntN(n)
		switch i {
		case 0:
			return "n:node"
		case 1:
			return "sa:default"
		case 2:
			return "u:unread"
		case 3:
			return "g:global"
		}
		if i%3 == 0 {
			return "sec:" + string(rune('a'+i))
		}
		return string(rune('a' + i))
	}
	for range m {
		a, b := pick(), pick()
		word := []string{"owns", "owns", "made", "needs", "needs", "needs?", "guesses", "serves", "serves", "collects", "gathers", "manages", "regards"}[random.IntN(13)]
		if a == b || word == "owns" && (b[1:] == ":global" || b[1:] == ":node") {
			continue
		}
		w.edge(a, word, b)
	}
	if random.IntN(2) == 0 && len(w.order) > 0 {
		w.gone[w.order[random.IntN(len(w.order))]] = true
	}
	return w
}

// The same objects give the same graph, in whatever order they arrive.
func TestOrderOfArrival(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 1))
		w := randomWorld(t, random, 14, 40)
		if len(w.order) > 3 {
			w.metas[w.order[0]].UID = w.metas[w.order[1]].UID // used twice
			w.owner("z", reference("Thing", "nobody", w.metas[w.order[0]].UID))
			w.owner("z", reference("Thing", w.order[2].Name, w.metas[w.order[0]].UID))
		}
		want := dump(w.build(nil))
		for range 5 {
			if got := dump(w.build(random)); got != want {
				t.Fatalf("seed %d:\n%s\nand\n%s", seed, want, got)
			}
		}
	}
}

func TestGraphReads(t *testing.T) {
	w := newWorld(t, "a\nb\nc\npod:p")
	w.notes = []string{"note"}
	w.object("b").Labels = map[string]string{"app": "x"}
	w.object("b").Annotations = map[string]string{"note": "n", "other": "o"}
	g := w.build(nil)
	if got := names(g, slices.Collect(g.OfKind(refOf("a").GroupKind()))); got != "a b c" {
		t.Errorf("of a kind: %q", got)
	}
	if got := slices.Collect(g.OfKind(schema.GroupKind{Kind: "Nothing"})); len(got) != 0 {
		t.Errorf("of no kind: %v", got)
	}
	b := node(t, g, "b")
	label, _ := g.Label(b, "app")
	note, _ := g.Annotation(b, "note")
	if _, found := g.Annotation(b, "other"); found || label != "x" || note != "n" || len(g.Labels(b)) != 1 {
		t.Errorf("label %q, note %q, labels %v", label, note, g.Labels(b))
	}
}

func TestGapsAreSorted(t *testing.T) {
	b := graph.NewBuilder(relation.NewSet(), builtInKinds())
	inv := inventory.New(nil, b.Extract)
	for _, r := range []string{"pods", "nodes", "pods", "secrets"} {
		inv.Gap(object.Gap{Resource: r, Reason: "Forbidden"})
	}
	var got []string
	for _, gap := range b.Build(inv).Gaps() {
		got = append(got, gap.Resource)
	}
	if strings.Join(got, " ") != "nodes pods secrets" {
		t.Errorf("gaps %q", got)
	}
}

// A builder can build again after more was added, and uses the latest version of an object.
func TestBuildAgain(t *testing.T) {
	w := newWorld(t, "a needs b")
	b := graph.NewBuilder(w.rules(), builtInKinds())
	inv := inventory.New(nil, b.Extract)
	add := func(name string) {
		m := w.object(name)
		inv.Add(object.Object{Ref: refOf(name), Version: "v1", Meta: m, Body: m})
	}
	add("a")
	first := b.Build(inv)
	if first.State(node(t, first, "b")) != graph.Unread {
		t.Error("b was not read")
	}
	add("b")
	w.owner("b", reference("Thing", "a", uidOf("a")))
	add("b")
	add("b")
	second := b.Build(inv)
	if second.State(node(t, second, "b")) != graph.Present || second.Edges() != 2 || second.Len() != 2 {
		t.Errorf("again:\n%s", dump(second))
	}
	inv.Reset(refOf("b").GroupKind(), "ns")
	if third := b.Build(inv); third.Len() != 0 || third.Edges() != 0 {
		t.Errorf("after a reset:\n%s", dump(third))
	}
}
