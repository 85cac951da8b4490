package stack

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// TestDeclaredOwner looks at a Secret of which the catalog knows who makes it.
func TestDeclaredOwner(t *testing.T) {
	const base = "apiVersion: cert.example/v1\nkind: Cert\nmetadata: {name: web, namespace: ns, uid: cert}\nspec: {secretName: tls}\n"
	secret := func(name, meta string) string {
		return "---\napiVersion: v1\nkind: Secret\nmetadata: {name: " + name + ", namespace: ns, uid: s" + meta + "}\n"
	}
	rule := func(name string, via relation.Via, inferred bool, target string) relation.Rule {
		return relation.Rule{
			Name: name, From: []schema.GroupKind{{Group: "cert.example", Kind: "Cert"}}, Relation: relation.Owns, Via: via, To: "Secret", Origin: "catalog", Field: name,
			Links: func(o object.Object, emit relation.EmitFunc) {
				emit(relation.Link{Target: relation.Target{Kind: schema.GroupKind{Kind: "Secret"}, Namespace: o.Namespace, Name: target, IfPresent: true}, Field: name, Value: target, Inferred: inferred})
			},
		}
	}
	owner := ", ownerReferences: [{apiVersion: cert.example/v1, kind: Cert, name: web, uid: cert}]"
	for _, tt := range []struct {
		name, yaml string
		rules      []relation.Rule
		want       bool
	}{
		{name: "two pieces of evidence", yaml: secret("tls", ""), rules: []relation.Rule{rule("spec.secretName", relation.Spec, true, "tls"), rule("mark", relation.Annotation, false, "tls")}, want: true},
		{name: "one guess", yaml: secret("tls", ""), rules: []relation.Rule{rule("spec.secretName", relation.Spec, true, "tls")}},
		{name: "a mark and the name", yaml: secret("web-tls", ""), rules: []relation.Rule{rule("mark", relation.Label, false, "web-tls")}, want: true},
		{name: "a mark, and another name", yaml: secret("tls", ""), rules: []relation.Rule{rule("mark", relation.Label, false, "tls")}},
		{name: "it has an owner", yaml: secret("web-tls", owner), rules: []relation.Rule{rule("mark", relation.Label, false, "web-tls")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			snap, err := source.Open("-", strings.NewReader(base+tt.yaml), nil)
			if err != nil {
				t.Fatal(err)
			}
			kinds, err := snap.Kinds(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			b, facts := graph.NewBuilder(relation.NewSet(append(relation.BuiltIn(), tt.rules...)...), kinds), check.NewCollector()
			inv := inventory.New(nil, b.Extract, func(o object.Object) func(*inventory.Inventory, inventory.ID) { facts.Add(o); return nil })
			if err := snap.Reading(checktest.TypedDetail).Read(context.Background(), source.Query{All: true}, inv); err != nil {
				t.Fatal(err)
			}
			w := &checktest.World{ClusterState: check.NewWorld(b.Build(inv), facts, kinds, func(schema.GroupKind, string) bool { return true }), T: t}
			r := checktest.Only(t, Rules(), "owner-set", w.Stack("Cert.cert.example/ns/web").Check)
			if got := len(r.Findings) == 1; got != tt.want || got && (r.Findings[0].Severity != check.Info || !strings.Contains(r.Findings[0].Message, "Cert.cert.example/web creates it")) {
				t.Errorf("got %+v", r.Findings)
			}
		})
	}
}
