package catalog_test

import (
	"bytes"
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// TestEntries holds each entry against the fixture of its name: what is listed is
// found, what is excluded is not, all that the entry finds is listed, and each of
// its relations finds something.
func TestEntries(t *testing.T) {
	for _, e := range written(t) {
		t.Run(e.Name, func(t *testing.T) {
			archive, err := txtar.ParseFile(filepath.Join(dir, "testdata", e.Name+".txtar"))
			if err != nil {
				t.Fatal(err)
			}
			var objects, lines string
			for _, f := range archive.Files {
				switch f.Name {
				case "objects.yaml":
					objects = string(f.Data)
				case "edges":
					lines = string(f.Data)
				default:
					t.Errorf("unknown section %s", f.Name)
				}
			}
			g, rules, all, kinds := read(t, e, objects)
			found, made := edges(g, rules)
			must, mustNot := list(t, lines)
			for _, edge := range must {
				if !found[edge] {
					t.Errorf("not found: edge %s", edge)
				}
				delete(found, edge)
			}
			for edge := range found {
				t.Errorf("not listed: edge %s", edge)
				for _, no := range mustNot {
					if strings.HasPrefix(edge+" ", no+" ") {
						t.Errorf("must not be found: edge %s", edge)
					}
				}
			}
			for i := range e.Relations {
				s := e.Relations[i]
				finds := says(s, all, kinds)
				// A link of a selector may choose nobody. What two relations read is said once.
				if s.Selector != "" || s.Value != "" {
					r := declare.Rules(e.Relations[i:i+1], "", "", object.NewKinds(nil))[0]
					finds = finds && (len(r.From) == 0 || slices.ContainsFunc(r.From, func(gk schema.GroupKind) bool { return made[gk.String()+" "+r.Field] }))
				}
				if !finds {
					t.Errorf("line %d: %s finds nothing", e.Relations[i].Line, e.Relations[i].Path())
				}
			}
		})
	}
}

// read makes the graph of the objects with the built-in rules and the entry's.
func read(t *testing.T, e catalog.Entry, objects string) (*graph.Graph, []relation.Rule, []object.Object, *object.Kinds) {
	t.Helper()
	docs, err := source.Parse("objects.yaml", bytes.NewReader([]byte(objects)))
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := source.SnapshotOptions{}.New("objects.yaml", docs)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	inv := inventory.New(nil)
	known, err := snapshot.Kinds(ctx, inv)
	if err != nil {
		t.Fatal(err)
	}
	var all []object.Resource
	for _, e := range written(t) {
		for _, k := range e.Kinds {
			r := k.Resource()
			if have, ok := known.Kind(r.GroupKind()); ok && have.Namespaced == k.ClusterScoped {
				t.Errorf("%s: the fixture has it in a namespace: %v, the entry of %s says clusterScoped: %v", k.Kind, have.Namespaced, e.Name, k.ClusterScoped)
			}
			r.Plural = cmp.Or(r.Plural, r.Singular+"s") // definitions of it have some name
			all = append(all, r)
		}
	}
	kinds := object.NewKinds(slices.Concat(all, known.All()))
	own := declare.Rules(e.Relations, e.Name, e.Origin(), kinds)
	set := relation.NewSet(append(relation.BuiltIn(), own...)...)
	builder := graph.NewBuilder(set, kinds)
	var read []object.Object
	inv = inventory.New(set.Annotations(), builder.Extract, func(o object.Object) func(*inventory.Inventory, inventory.ID) {
		return func(*inventory.Inventory, inventory.ID) { read = append(read, o) }
	})
	if err := snapshot.Read(ctx, source.Query{All: true}, inv); err != nil {
		t.Fatal(err)
	}
	return builder.Build(inv), own, read, kinds
}

// says says whether a relation makes a link of any of the objects.
func says(s declare.Spec, objects []object.Object, kinds *object.Kinds) bool {
	n := 0
	set := relation.NewSet(declare.Rules([]declare.Spec{s}, "", "", kinds)...)
	for _, o := range objects {
		set.Links(o, func(int, relation.Link) { n++ })
	}
	return n > 0
}

// edges returns what the rules found, with flags, and which of them found any.
func edges(g *graph.Graph, rules []relation.Rule) (found, made map[string]bool) {
	// The rules of pods have the names of the built-in ones, which read pods.
	type saying struct {
		rule string
		by   schema.GroupKind
	}
	ours := map[saying]relation.Rule{}
	for _, r := range rules {
		for _, gk := range r.From {
			ours[saying{r.Name, gk}] = r
		}
		if len(r.From) == 0 {
			ours[saying{rule: r.Name}] = r
		}
	}
	found, made = map[string]bool{}, map[string]bool{}
	for n := range g.Nodes() {
		for e := range g.Out(n.ID) {
			var r relation.Rule
			for _, by := range []schema.GroupKind{g.Ref(e.From).GroupKind(), g.Ref(e.To).GroupKind(), {}} {
				if r.Name == "" {
					r = ours[saying{e.Rule, by}]
				}
			}
			if r.Name == "" {
				continue
			}
			for _, gk := range r.From {
				made[gk.String()+" "+r.Field] = true
			}
			text := g.Ref(e.From).String() + " --" + e.Relation.String() + "--> " + g.Ref(e.To).String()
			if e.Optional {
				text += " [optional]"
			}
			if e.Inferred {
				text += " [inferred]"
			}
			found[text] = true
		}
	}
	return found, made
}

// list reads the lines of a fixture.
func list(t *testing.T, text string) (must, mustNot []string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) < 4 {
			t.Fatalf("edge %q: want edge ID --RELATION--> ID", line)
		}
		for _, id := range []string{words[1], words[3]} {
			if _, err := object.ParseRef(id); err != nil {
				t.Fatal(err)
			}
		}
		edge := strings.Join(words[1:], " ")
		switch words[0] {
		case "edge":
			must = append(must, edge)
		case "!edge":
			mustNot = append(mustNot, edge)
		default:
			t.Fatalf("edge %q: want edge or !edge", line)
		}
	}
	return must, mustNot
}
