package graph_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/infer"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/annotations"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

const examples = "../../examples"

// TestExamples compares the graphs of the examples with the lists next to them, in both directions.
func TestExamples(t *testing.T) {
	for name, files := range map[string]string{
		"demo":            "demo/*.yaml",
		"wordpress-mysql": "wordpress-mysql.yaml",
		"moodle-mysql":    "moodle-mysql.yaml",
	} {
		t.Run(name, func(t *testing.T) {
			found := edgeSet(readGraph(t, files, nil))
			must, mustNot, may := readEdges(t, name+".edges")
			for _, e := range must {
				if !found[e] {
					t.Errorf("not found: %s", e)
				}
				delete(found, e)
			}
			for _, e := range mustNot {
				if found[e] {
					t.Errorf("must not be found: %s", e)
				}
			}
			for _, e := range may {
				delete(found, e)
			}
			for e := range found {
				t.Errorf("not listed: %s", e)
			}
		})
	}
}

func TestExampleInAnyOrder(t *testing.T) {
	want := dump(readGraph(t, "demo/*.yaml", nil))
	for seed := range uint64(3) {
		if got := dump(readGraph(t, "demo/*.yaml", rand.New(rand.NewPCG(seed, 6)))); got != want {
			t.Errorf("seed %d: another graph", seed)
		}
	}
}

// readEdges reads the lines of a list: edges that must exist, must not, and may.
func readEdges(t *testing.T, file string) (must, mustNot, may []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(examples, file))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		list := &must
		if rest, ok := strings.CutPrefix(line, "#?"); ok {
			list, line = &may, rest
		} else if rest, ok := strings.CutPrefix(line, "!"); ok {
			list, line = &mustNot, rest
		}
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		words := strings.Fields(line)
		if len(words) != 3 {
			t.Fatalf("%s: %q", file, line)
		}
		for _, id := range []string{words[0], words[2]} {
			if _, err := object.ParseRef(id); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
		}
		*list = append(*list, line)
	}
	if len(must) == 0 || len(mustNot) == 0 {
		t.Fatalf("%s: %d edges, %d that must not be", file, len(must), len(mustNot))
	}
	return must, mustNot, may
}

func edgeSet(g *graph.Graph) map[string]bool {
	found := map[string]bool{}
	for n := range g.Nodes() {
		for e := range g.Out(n.ID) {
			found[fmt.Sprintf("%s --%s--> %s", g.Ref(e.From), e.Relation, g.Ref(e.To))] = true
		}
	}
	return found
}

// readGraph reads files as the CLI does, in random order if requested.
func readGraph(t *testing.T, files string, random *rand.Rand) *graph.Graph {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(examples, files))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files %s: %v", files, err)
	}
	var docs []source.Document
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := source.Parse(p, bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, parsed...)
	}
	if random != nil {
		random.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	}
	snapshot, err := source.SnapshotOptions{}.New(files, docs)
	if err != nil {
		t.Fatal(err)
	}
	return graphOfSnapshot(t, snapshot)
}

func graphOfSnapshot(t *testing.T, snapshot *source.Snapshot) *graph.Graph {
	t.Helper()
	ctx := context.Background()
	kinds, err := snapshot.Kinds(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	definitions, err := snapshot.Definitions(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	rules := slices.Concat(relation.BuiltIn(), catalog.Rules(kinds))
	schemas := map[schema.GroupKind]*infer.SchemaHints{}
	for _, crd := range definitions {
		d, findings := annotations.Parse(crd, kinds)
		if len(findings) > 0 {
			t.Errorf("findings: %v", findings)
		}
		rules = append(rules, d.Rules...)
		kind, _ := kinds.Kind(d.Kind)
		schemas[d.Kind] = infer.Compile(crd.(*unstructured.Unstructured).Object, kind.Version)
	}
	ruleSet := relation.NewSet(rules...)
	var guessed []schema.GroupKind
	for _, k := range kinds.All() {
		if k.Custom && !ruleSet.Reads(k.GroupKind()) {
			guessed = append(guessed, k.GroupKind())
		}
	}
	rules = append(rules, infer.Rules(guessed, kinds, func(gk schema.GroupKind) *infer.SchemaHints { return schemas[gk] })...)
	set := relation.NewSet(rules...)
	b := graph.NewBuilder(set, kinds)
	inv := inventory.New(slices.Sorted(slices.Values(set.Annotations())), b.Extract)
	if err := snapshot.Read(ctx, source.Query{All: true}, inv); err != nil {
		t.Fatal(err)
	}
	return b.Build(inv)
}
