package view_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func stack(t *testing.T, words string, o view.StackOptions, roots ...string) view.Output {
	t.Helper()
	g := build(t, words)
	return view.Stack(g.Stack(find(t, g, roots...), graph.StackOptions{}), o)
}

// outline is a tree in lines: indent, name, mark, cells, what is hidden.
func outline(tree *view.Tree) string {
	var b strings.Builder
	var put func(l *view.TreeRow, depth int)
	put = func(l *view.TreeRow, depth int) {
		words := []string{l.Name.Text, l.Mark.Text}
		for _, c := range l.Cells {
			words = append(words, c.Text)
		}
		words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
		fmt.Fprintf(&b, "%s%s\n", strings.Repeat("  ", depth), strings.Join(words, " | "))
		for _, below := range l.Children {
			put(below, depth+1)
		}
		if l.Hidden > 0 {
			fmt.Fprintf(&b, "%s+%d\n", strings.Repeat("  ", depth+1), l.Hidden)
		}
	}
	for _, l := range tree.Roots {
		put(l, 0)
	}
	return b.String()
}

func secrets(r object.Ref) bool { return r.Kind == "Secret" }

// trees are what is shown of the web, by what is asked for.
var trees = map[string]struct {
	options view.StackOptions
	roots   []string
	want    string
}{
	"whole": {view.StackOptions{Namespace: "web"}, []string{"Shop.example.com/web/shop"}, `
Shop/shop
  Deployment/shop | owns | owner
    Pod/shop-0 | owns | owner
      Secret/tls | needs | spec
      Secret/unread | ? unread | needs | spec
      Pod.metrics.k8s.io/shop-0 | served by | label
    ConfigMap/theme | ✖ missing | needs (optional) | spec
  Service/db/pg | needs (inferred) | spec
    StatefulSet/db/pg | serves | label
      Pod/db/pg-0 | owns | owner
`},
	"no home, with boundary": {view.StackOptions{Boundary: true}, []string{"Pod/web/shop-0"}, `
Pod/web/shop-0
  Node/worker | needs | spec
  Secret/web/tls | needs | spec
  Secret/web/unread | ? unread | needs | spec
  Pod.metrics.k8s.io/web/shop-0 | served by | label
`},
	"depth and evidence": {view.StackOptions{Namespace: "web", Depth: 1, Why: true}, []string{"Shop.example.com/web/shop"}, `
Shop/shop
  Deployment/shop | owns | owner | spec.owns = "shop"
    +5
  Service/db/pg | needs (inferred) | spec | spec.needs = "pg"
    +2
`},
	"kinds": {view.StackOptions{Namespace: "web", Kinds: secrets}, []string{"Shop.example.com/web/shop"}, `
Shop/shop
  Deployment/shop | owns | owner
    Pod/shop-0 | owns | owner
      Secret/tls | needs | spec
      Secret/unread | ? unread | needs | spec
`},
	"two roots": {view.StackOptions{Namespace: "web", Kinds: secrets}, []string{"Shop.example.com/web/shop", "Shop.example.com/web/other"}, `
Shop/other
  Secret/tls | ⇄ shared | needs | spec
Shop/shop
  Deployment/shop | owns | owner
    Pod/shop-0 | owns | owner
      Secret/tls | ⇄ shared (see above) | needs | spec
      Secret/unread | ? unread | needs | spec
`},
}

func TestStackTree(t *testing.T) {
	for name, c := range trees {
		if got := outline(stack(t, web, c.options, c.roots...).Tree); got != c.want[1:] {
			t.Errorf("%s: got\n%swant\n%s", name, got, c.want[1:])
		}
	}
}

func TestStackEvidenceBehindService(t *testing.T) {
	got := outline(stack(t, web, view.StackOptions{Namespace: "db", Why: true}, "Service/db/pg").Tree)
	if want := `StatefulSet/pg | serves | label | spec.serves = "pg-0"`; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}

func TestMentionBelow(t *testing.T) {
	const words = `
have App/a App/b Secret/s Pod/b
App/a needs Pod/b
App/b owns Pod/b
`
	got := outline(stack(t, words, view.StackOptions{}, "App/a", "App/b").Tree)
	if want := "App/a\n  Pod/b | ⇄ shared (see below) | needs | spec\n"; !strings.HasPrefix(got, want) {
		t.Errorf("got\n%swant first\n%s", got, want)
	}
}

func TestStackDocument(t *testing.T) {
	a := stack(t, web, view.StackOptions{Namespace: "web"}, "Deployment.apps/web/shop")
	doc := a.Document.(view.GraphDocument)
	if doc.APIVersion != "sysop.dev/v1alpha1" || doc.Kind != "Graph" {
		t.Errorf("head %v", doc.Head)
	}
	if want := []string{"Deployment.apps/web/shop"}; !slices.Equal(doc.Roots, want) {
		t.Errorf("roots %v", doc.Roots)
	}
	nodes := map[string]view.NodeDocument{}
	for _, n := range doc.Nodes {
		nodes[n.ID] = n
	}
	for _, want := range []view.NodeDocument{
		{ID: "Deployment.apps/web/shop", APIVersion: "apps/v1", Kind: "Deployment", Namespace: "web", Name: "shop", UID: "uid-Deployment.apps/web/shop", State: "present"},
		{ID: "ConfigMap/web/theme", APIVersion: "v1", Kind: "ConfigMap", Namespace: "web", Name: "theme", State: "missing"},
		{ID: "Secret/web/unread", APIVersion: "v1", Kind: "Secret", Namespace: "web", Name: "unread", State: "unread"},
		{ID: "Node/worker", APIVersion: "v1", Kind: "Node", Name: "worker", UID: "uid-Node/worker", State: "present", Boundary: true},
	} {
		if nodes[want.ID] != want {
			t.Errorf("node %+v, want %+v", nodes[want.ID], want)
		}
	}
	for _, want := range []view.EdgeDocument{
		{From: "Deployment.apps/web/shop", To: "ConfigMap/web/theme", Relation: "needs", Via: "spec", Why: `spec.needs = "theme"`, Rule: "test-needs", Optional: true},
		{From: "Pod/web/shop-0", To: "Node/worker", Relation: "needs", Via: "spec", Why: `spec.needs = "worker"`, Rule: "test-needs"},
		{From: "Pod.metrics.k8s.io/web/shop-0", To: "Pod/web/shop-0", Relation: "serves", Via: "label", Why: `spec.serves = "shop-0"`, Rule: "test-serves"},
	} {
		if !slices.Contains(doc.Edges, want) {
			t.Errorf("no edge %+v in %+v", want, doc.Edges)
		}
	}
	var above []string
	for _, n := range doc.Context {
		above = append(above, n.ID)
	}
	if want := []string{"Shop.example.com/web/shop", "Fleet.example.com/all"}; !slices.Equal(above, want) {
		t.Errorf("context %v, want %v", above, want)
	}
	if want := (object.Gap{Resource: "secrets", Namespace: "web", Reason: "Forbidden", Message: "not allowed"}); len(doc.Gaps) != 1 || doc.Gaps[0] != want {
		t.Errorf("gaps %v", doc.Gaps)
	}
	if slices.Contains(a.Names, "Node/worker") || !slices.Contains(a.Names, "Secret/web/tls") {
		t.Errorf("names %v", a.Names)
	}
}

func TestStackOfNothing(t *testing.T) {
	doc := stack(t, web, view.StackOptions{}).Document.(view.GraphDocument)
	if len(doc.Roots)+len(doc.Nodes)+len(doc.Edges)+len(doc.Problems) > 0 {
		t.Errorf("a stack of nothing has %+v", doc)
	}
}

func TestStackKindsHoldEverywhere(t *testing.T) {
	kinds := func(r object.Ref) bool { return r.Kind == "Pod" && r.Group == "" || r.Kind == "Node" }
	a := stack(t, web, view.StackOptions{Kinds: kinds}, "Shop.example.com/web/shop", "Shop.example.com/web/other")
	if want := []string{"Pod/db/pg-0", "Pod/web/shop-0"}; !slices.Equal(a.Names, want) {
		t.Errorf("names %v, want %v", a.Names, want)
	}
	if doc := a.Document.(view.GraphDocument); len(doc.Nodes) != 5 || len(doc.Edges) != 1 {
		t.Errorf("document %+v", doc)
	}
	if len(a.Table.Rows) != 2 || len(a.Wide.Rows) != 0 || len(a.Diagram.Nodes) != 2 || len(a.Diagram.Edges) != 0 {
		t.Errorf("table %d, wide %d, net %d, %d", len(a.Table.Rows), len(a.Wide.Rows), len(a.Diagram.Nodes), len(a.Diagram.Edges))
	}
}

func TestStackNet(t *testing.T) {
	n := stack(t, web, view.StackOptions{Boundary: true}, "Shop.example.com/web/shop", "Shop.example.com/web/other").Diagram
	nodes := map[string]view.DiagramNode{}
	for _, node := range n.Nodes {
		nodes[node.ID] = node
	}
	for _, want := range []view.DiagramNode{
		{ID: "Shop.example.com/web/shop", Kind: "Shop", Name: "shop", Namespace: "web", Root: true},
		{ID: "ConfigMap/web/theme", Kind: "ConfigMap", Name: "theme", Namespace: "web", Tone: view.Bad, Note: "✖ missing"},
		{ID: "Secret/web/tls", Kind: "Secret", Name: "tls", Namespace: "web", Note: "⇄ shared"},
		{ID: "Node/worker", Kind: "Node", Name: "worker", Boundary: true},
	} {
		if nodes[want.ID] != want {
			t.Errorf("node %+v, want %+v", nodes[want.ID], want)
		}
	}
	if want := (view.DiagramEdge{From: "Shop.example.com/web/shop", To: "Service/db/pg", Label: "needs", Dashed: true}); !slices.Contains(n.Edges, want) {
		t.Errorf("no edge %+v in %+v", want, n.Edges)
	}
}
