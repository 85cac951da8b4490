package graph_test

import (
	"bytes"
	"context"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// reading has objects that can be read again without some of them.
type reading struct {
	kinds   *object.Kinds
	rules   *relation.Set
	objects []object.Object
	unread  []string // kinds that were not read completely
}

// objectSink stores what is read.
type objectSink struct {
	*inventory.Inventory
	objects *[]object.Object
}

func (s objectSink) Add(o object.Object) { *s.objects = append(*s.objects, o) }

func readAll(t *testing.T, name string, text []byte) reading {
	t.Helper()
	docs, err := source.Parse(name, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := source.SnapshotOptions{}.New(name, docs)
	if err != nil {
		t.Fatal(err)
	}
	all, err := snapshot.Kinds(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := reading{kinds: object.NewKinds(all.All())}
	r.rules = relation.NewSet(slices.Concat(relation.BuiltIn(), catalog.Rules(r.kinds))...)
	if err := snapshot.Read(context.Background(), source.Query{All: true}, objectSink{inventory.New(nil), &r.objects}); err != nil {
		t.Fatal(err)
	}
	return r
}

// graph returns the graph without the deleted objects; nothing else is unread.
func (r reading) graph(gone map[object.Ref]bool) *graph.Graph {
	b := graph.NewBuilder(r.rules, r.kinds)
	inv := inventory.New(slices.Sorted(slices.Values(r.rules.Annotations())), b.Extract)
	for _, o := range r.objects {
		if !gone[o.Ref] {
			inv.Add(o)
		}
	}
	for _, k := range r.kinds.All() {
		if !slices.Contains(r.unread, k.GroupKind().String()) {
			inv.Cover(k.GroupKind(), "")
		}
	}
	return b.Build(inv)
}

// failure is an error of a diagnosis.
type failure struct {
	object, related object.Ref
	reason          string
}

func failures(g *graph.Graph) map[failure]bool {
	var roots []graph.ID
	for n := range g.Nodes() {
		if n.State == graph.Present {
			roots = append(roots, n.ID)
		}
	}
	out := map[failure]bool{}
	for _, p := range g.Stack(roots, graph.StackOptions{}).Diagnose() {
		if p.Severity == graph.Error {
			out[failure{p.Object, p.Related, p.Reason}] = true
		}
	}
	return out
}

// agrees: what an impact calls broken and not inferred is an error of the diagnosis once the object
// and what is deleted with it are removed. It returns their number.
func agrees(t *testing.T, g *graph.Graph, rebuild func(gone map[object.Ref]bool) *graph.Graph, id graph.ID, before map[failure]bool) int {
	t.Helper()
	im := g.Impact(id, graph.ImpactOptions{})
	foretold := map[string]bool{}
	for _, d := range im.Direct {
		if d.Effect.Broken() && !d.Inferred {
			foretold[g.Ref(d.ID).String()] = true
		}
	}
	gone := map[object.Ref]bool{}
	for _, id := range im.Gone() {
		gone[g.Ref(id)] = true
	}
	reported := map[string]bool{}
	for f := range failures(rebuild(gone)) {
		// A problem that existed before may move to another object, if its own was deleted.
		if !before[f] && (f.reason != graph.ReferenceMissing || gone[f.related]) {
			reported[f.object.String()] = true
		}
	}
	if !maps.Equal(foretold, reported) {
		t.Errorf("%s: the impact breaks %q, and the diagnosis without it has errors of %q", g.Ref(id),
			slices.Sorted(maps.Keys(foretold)), slices.Sorted(maps.Keys(reported)))
	}
	return len(reported)
}

// TestImpactAgrees: impact and diagnosis agree for each object of the examples, of the fixtures of
// both, and of random worlds.
func TestImpactAgrees(t *testing.T) {
	texts := map[string][]byte{}
	for _, pattern := range []string{"demo/*.yaml", "wordpress-mysql.yaml", "moodle-mysql.yaml"} {
		paths, err := filepath.Glob(filepath.Join(examples, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no files %s: %v", pattern, err)
		}
		for _, p := range paths {
			text, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			texts[pattern] = append(append(texts[pattern], text...), "\n---\n"...)
		}
	}
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, f := range files {
		if strings.HasPrefix(f, "testdata/diagnosis/") {
			texts[f] = readSick(t, f).objects
		}
		if strings.HasPrefix(f, "testdata/impact/") {
			texts[f] = readForetold(t, f).objects
		}
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			r := readAll(t, name, text)
			g := r.graph(nil)
			before, broken := failures(g), 0
			for n := range g.Nodes() {
				if n.State == graph.Present {
					broken += agrees(t, g, r.graph, n.ID, before)
				}
			}
			if !strings.HasPrefix(name, "testdata/diagnosis/") && broken == 0 {
				t.Error("nothing breaks by anything")
			}
		})
	}
}

func TestImpactAgreesAtRandom(t *testing.T) {
	broken := 0
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 9))
		w := randomWorld(t, random, 14, 30)
		g := w.build(nil)
		if g.Len() == 0 {
			continue
		}
		id := graph.ID(random.IntN(g.Len()))
		if g.State(id) != graph.Present {
			continue
		}
		missing := maps.Clone(w.gone)
		rebuild := func(gone map[object.Ref]bool) *graph.Graph {
			w.gone = maps.Clone(missing)
			maps.Copy(w.gone, gone)
			defer func() { w.gone = missing }()
			return w.build(nil)
		}
		broken += agrees(t, g, rebuild, id, failures(g))
	}
	if broken < 100 {
		t.Errorf("only %d are broken in all", broken)
	}
}
