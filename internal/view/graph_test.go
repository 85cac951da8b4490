package view_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// web is a shop and its database in another namespace. Pods are of two groups,
// so that a kind alone does not tell them apart where both are in the answer.
const web = `
have Shop.example.com/web/shop Deployment.apps/web/shop Pod/web/shop-0 Secret/web/tls
have Service/db/pg Pod/db/pg-0 StatefulSet.apps/db/pg Node/worker Pod.metrics.k8s.io/web/shop-0 Fleet.example.com/all Shop.example.com/web/other
absent ConfigMap/web/theme

Fleet.example.com/all owns Shop.example.com/web/shop
Shop.example.com/web/shop owns Deployment.apps/web/shop
Deployment.apps/web/shop owns Pod/web/shop-0
Deployment.apps/web/shop needs ConfigMap/web/theme optional
Pod/web/shop-0 needs Node/worker
Pod/web/shop-0 needs Secret/web/tls
Pod/web/shop-0 needs Secret/web/unread
Pod.metrics.k8s.io/web/shop-0 serves Pod/web/shop-0
Shop.example.com/web/shop needs Service/db/pg inferred
Shop.example.com/web/other needs Secret/web/tls
Service/db/pg serves Pod/db/pg-0
StatefulSet.apps/db/pg owns Pod/db/pg-0
`

// statement is a line of a graph in words: A owns B.
type statement struct {
	to                 object.Ref
	relation           string
	optional, inferred bool
}

// rules read what the words say of an object.
func rules(said map[object.Ref][]statement) *relation.Set {
	var all []relation.Rule
	for _, r := range relation.Relations() {
		via := map[relation.Relation]relation.Via{relation.Owns: relation.Owner, relation.Needs: relation.Spec, relation.Serves: relation.Label}[r]
		all = append(all, relation.Rule{Name: "test-" + r.String(), Relation: r, Via: via, Links: func(o object.Object, emit relation.EmitFunc) {
			for _, s := range said[o.Ref] {
				if s.relation == r.String() {
					emit(relation.Link{
						Target: relation.Target{Kind: s.to.GroupKind(), Namespace: s.to.Namespace, Name: s.to.Name},
						Field:  "spec." + s.relation, Value: s.to.Name, Optional: s.optional, Inferred: s.inferred,
					})
				}
			}
		}})
	}
	return relation.NewSet(all...)
}

// build returns the graph of the words.
func build(t testing.TB, words string) *graph.Graph {
	t.Helper()
	said := map[object.Ref][]statement{}
	var have, absent []object.Ref
	var kinds []object.Resource
	ref := func(id string) object.Ref {
		r, err := object.ParseRef(id)
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, object.Resource{Group: r.Group, Version: "v1", Kind: r.Kind, Plural: strings.ToLower(r.Kind) + "s", Namespaced: r.Namespace != ""})
		return r
	}
	for line := range strings.Lines(words) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case f[0] == "have":
			for _, id := range f[1:] {
				have = append(have, ref(id))
			}
		case f[0] == "absent":
			absent = append(absent, ref(f[1]))
		default:
			from := ref(f[0])
			said[from] = append(said[from], statement{relation: f[1], to: ref(f[2]), optional: slices.Contains(f, "optional"), inferred: slices.Contains(f, "inferred")})
		}
	}
	b := graph.NewBuilder(rules(said), object.NewKinds(kinds))
	inv := inventory.New(nil, b.Extract)
	for _, r := range have {
		inv.Add(object.Object{Ref: r, Version: "v1", Meta: &metav1.ObjectMeta{Name: r.Name, Namespace: r.Namespace, UID: types.UID("uid-" + r.String())}})
	}
	for _, r := range absent {
		inv.Absent(r)
	}
	inv.Gap(object.Gap{Resource: "secrets", Namespace: "web", Reason: "Forbidden", Message: "not allowed"})
	return b.Build(inv)
}

func find(t testing.TB, g *graph.Graph, ids ...string) []graph.ID {
	t.Helper()
	var out []graph.ID
	for _, id := range ids {
		r, err := object.ParseRef(id)
		if err != nil {
			t.Fatal(err)
		}
		n, ok := g.Find(r)
		if !ok {
			t.Fatalf("no %s in the graph", id)
		}
		out = append(out, n)
	}
	return out
}
