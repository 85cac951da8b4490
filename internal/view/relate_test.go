package view_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func rows(t *view.Table) string {
	var b strings.Builder
	for _, r := range t.Rows {
		for i, c := range r {
			if i > 0 {
				b.WriteString(" | ")
			}
			b.WriteString(c.Text)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func route(t *testing.T, from, to string) view.Output {
	t.Helper()
	g := build(t, web)
	ends := find(t, g, from, to)
	steps, found := g.Path(ends[0], ends[1], graph.StackOptions{})
	return view.Path(g, ends[0], ends[1], steps, found)
}

func TestPath(t *testing.T) {
	a := route(t, "Shop.example.com/web/shop", "StatefulSet.apps/db/pg")
	if got, want := rows(a.Table), `Shop/shop |  |  | 
Service/db/pg | ─needs→ (inferred) | spec | spec.needs = "pg"
Pod/db/pg-0 | ─serves→ | label | spec.serves = "pg-0"
StatefulSet/db/pg | ←owns─ | owner | spec.owns = "pg-0"
`; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got, want := outline(a.Tree), `Shop/shop
  Service/db/pg | needs (inferred) | spec | spec.needs = "pg"
    Pod/db/pg-0 | serves | label | spec.serves = "pg-0"
      StatefulSet/db/pg | owned by | owner | spec.owns = "pg-0"
`; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	step := func(from, to, relation, via, why string, inferred, against bool) view.StepDocument {
		return view.StepDocument{EdgeDocument: view.EdgeDocument{From: from, To: to, Relation: relation, Via: via, Why: why, Rule: "test-" + relation, Inferred: inferred}, Reversed: against}
	}
	want := view.PathDocument{
		Head: view.Head{APIVersion: view.APIVersion, Kind: "Path"}, From: "Shop.example.com/web/shop", To: "StatefulSet.apps/db/pg", Found: true,
		Steps: []view.StepDocument{
			step("Shop.example.com/web/shop", "Service/db/pg", "needs", "spec", `spec.needs = "pg"`, true, false),
			step("Service/db/pg", "Pod/db/pg-0", "serves", "label", `spec.serves = "pg-0"`, false, false),
			step("StatefulSet.apps/db/pg", "Pod/db/pg-0", "owns", "owner", `spec.owns = "pg-0"`, false, true),
		},
		Gaps: []object.Gap{{Resource: "secrets", Namespace: "web", Reason: "Forbidden", Message: "not allowed"}},
	}
	if !reflect.DeepEqual(a.Document, want) {
		t.Errorf("document %+v, want %+v", a.Document, want)
	}
	if names := []string{"Shop.example.com/web/shop", "Service/db/pg", "Pod/db/pg-0", "StatefulSet.apps/db/pg"}; !slices.Equal(a.Names, names) {
		t.Errorf("names %v", a.Names)
	}
	if len(a.Diagram.Nodes) != 4 || len(a.Diagram.Edges) != 3 || !a.Diagram.Nodes[0].Root || a.Diagram.Nodes[1].Root || !a.Diagram.Nodes[3].Root {
		t.Errorf("net %+v", a.Diagram)
	}
}

func TestPathToWhatIsMissing(t *testing.T) {
	a := route(t, "Deployment.apps/web/shop", "ConfigMap/web/theme")
	if got, want := rows(a.Table), "Deployment/shop |  |  | \nConfigMap/theme ✖ missing | ─needs→ (optional) | spec | spec.needs = \"theme\"\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if a.Diagram.Nodes[1].Tone != view.Bad {
		t.Errorf("net %+v", a.Diagram.Nodes)
	}
}

func TestPathNotFound(t *testing.T) {
	g := build(t, "have Pod/a Pod/b")
	ends := find(t, g, "Pod/a", "Pod/b")
	a := view.Path(g, ends[0], ends[1], nil, false)
	doc := a.Document.(view.PathDocument)
	if doc.Found || len(doc.Steps) > 0 || a.Names == nil || len(a.Table.Rows)+len(a.Tree.Roots)+len(a.Diagram.Nodes) > 0 {
		t.Errorf("answer %+v", a)
	}
	if a = view.Path(g, ends[0], ends[0], nil, true); len(a.Names) != 1 || len(a.Table.Rows) != 1 {
		t.Errorf("an object and itself: %+v", a)
	}
}

func TestImpact(t *testing.T) {
	const words = `
have App/shop/a Set/shop/a Pod/shop/a-0 Pod/shop/b Secret/shop/s Pod.other.io/far/c Job/shop/j
App/shop/a owns Set/shop/a
Set/shop/a owns Pod/shop/a-0
App/shop/a owns Pod/shop/b
Job/shop/j owns Pod/shop/b
Pod/shop/b needs Set/shop/a optional
Pod.other.io/far/c needs Pod/shop/a-0 inferred
Job/shop/j needs Pod.other.io/far/c
`
	g := build(t, words)
	id := find(t, g, "App/shop/a")[0]
	a := view.Impact(view.ImpactOf{Graph: g, Impact: g.Impact(id, graph.ImpactOptions{})})
	if got, want := rows(a.Table), `deleted | Pod/a-0 | Set/a | all its owners are deleted
deleted | Set/a | App/a | all its owners are deleted
stays | Pod/b | App/a | another owner remains
may break (inferred) | Pod.other.io/far/c | Pod/a-0 | spec.needs = "a-0"
does without | Pod/b | Set/a | spec.needs = "a"
may break (inferred) | Job/j | Pod.other.io/far/c | spec.needs = "c"
`; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	doc := a.Document.(view.ImpactDocument)
	if doc.Object != "App/shop/a" || doc.Kind != "Impact" || !slices.Equal(doc.Deleted, []string{"Pod/shop/a-0", "Set/shop/a"}) || !slices.Equal(doc.Retained, []view.RetainedDocument{{ID: "Pod/shop/b", Cause: "App/shop/a", Reason: "another owner"}}) {
		t.Errorf("document %+v", doc)
	}
	want := view.DependentDocument{
		ID: "Pod/shop/b", Effect: "does without", Cause: "Set/shop/a", Optional: true, Controlled: []string{}, Edge: view.EdgeDocument{
			From: "Pod/shop/b", To: "Set/shop/a", Relation: "needs", Via: "spec", Why: `spec.needs = "a"`, Rule: "test-needs", Optional: true,
		},
	}
	if !slices.ContainsFunc(doc.Direct, func(d view.DependentDocument) bool { return reflect.DeepEqual(d, want) }) || len(doc.Direct) != 2 || len(doc.Indirect) != 1 {
		t.Errorf("direct %+v, through %+v", doc.Direct, doc.Indirect)
	}
	if !slices.Equal(a.Names, []string{"Job/shop/j", "Pod/shop/a-0", "Pod/shop/b", "Set/shop/a", "Pod.other.io/far/c"}) {
		t.Errorf("names %v", a.Names)
	}
}

func TestImpactOfNothing(t *testing.T) {
	g := build(t, "have Pod/a")
	id := find(t, g, "Pod/a")[0]
	a := view.Impact(view.ImpactOf{Graph: g, Impact: g.Impact(id, graph.ImpactOptions{})})
	doc := a.Document.(view.ImpactDocument)
	if len(doc.Deleted)+len(doc.Retained)+len(doc.Direct)+len(doc.Indirect) > 0 || a.Names == nil || len(a.Table.Rows) > 0 {
		t.Errorf("answer %+v", a)
	}
}
