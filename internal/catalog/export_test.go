package catalog_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/annotations"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// TestExport: what an entry says of a kind, written as an annotation of the kind's
// definition, says the same of every object of the fixture; what can be written in
// KubePlus's grammar does, too.
func TestExport(t *testing.T) {
	written := 0
	for _, e := range catalog.All() {
		if len(e.Relations) == 0 {
			continue
		}
		archive, err := txtar.ParseFile(filepath.Join(dir, "testdata", e.Name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "objects.yaml" })
		_, _, objects, kinds := read(t, e, string(archive.Files[i].Data))
		for _, k := range e.Kinds {
			r, _ := kinds.Kind(declare.GroupKind(k.Kind))
			var specs []declare.Spec
			for _, s := range e.Relations {
				specs = append(specs, s.Of(k.Kind)...)
			}
			if len(specs) == 0 {
				continue
			}
			want := graphOf(declare.Rules(specs, "", "", kinds), objects, kinds)
			own := declared(t, r, kinds, map[string]string{annotations.Relationships: declare.Format(specs, k.Kind)})
			same(t, k.Kind+" in our grammar", graphOf(own.Rules, objects, kinds), want)
			// Together, as a definition has them: a graph for each would take a minute.
			notes, sayable := map[string]string{}, []declare.Spec{}
			for _, s := range specs {
				if key, value, ok := annotations.Write(s, r, kinds); ok {
					sayable = append(sayable, s)
					notes[key+strconv.Itoa(len(sayable))] = value
				}
			}
			if len(sayable) > 0 {
				written += len(sayable)
				d := declared(t, r, kinds, notes)
				same(t, k.Kind+" in KubePlus's grammar", bare(graphOf(d.Rules, objects, kinds)), bare(graphOf(declare.Rules(sayable, "", "", kinds), objects, kinds)))
			}
		}
	}
	if written < 100 {
		t.Errorf("%d relations can be written in KubePlus's grammar: more could", written)
	}
}

// bare keeps what KubePlus's grammar has words for: no marks, and not that an
// annotation may name what is in another namespace.
func bare(lines []string) []string {
	var all []string
	for _, l := range lines {
		edge, _, _ := strings.Cut(l, ";")
		if strings.Contains(l, " present present ") && !strings.Contains(l, "metadata.annotations") {
			all = append(all, edge)
		}
	}
	return all
}

// declared reads the annotations of the definition of a kind.
func declared(t *testing.T, r object.Resource, kinds *object.Kinds, notes map[string]string) annotations.Declaration {
	t.Helper()
	d, findings := annotations.Parse(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: r.String(), Annotations: notes}}, kinds)
	for _, f := range findings {
		t.Errorf("%v", f)
	}
	return d
}

// graphOf returns the edges that rules make of objects, a line each.
func graphOf(rules []relation.Rule, objects []object.Object, kinds *object.Kinds) []string {
	set := relation.NewSet(rules...)
	builder := graph.NewBuilder(set, kinds)
	inv := inventory.New(set.Annotations(), builder.Extract)
	for _, o := range objects {
		inv.Add(o)
	}
	g := builder.Build(inv)
	var all []string
	for n := range g.Nodes() {
		for e := range g.Out(n.ID) {
			all = append(all, fmt.Sprint(g.Ref(e.From), " ", e.Relation, " ", g.Ref(e.To), "; ", e.Field, " ", g.State(e.From), " ", g.State(e.To), " ", e.Optional, e.Inferred))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	for _, g := range got {
		if !slices.Contains(want, g) {
			t.Errorf("%s: too much: %s", what, g)
		}
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("%s: missing: %s", what, strings.TrimSpace(w))
		}
	}
}
