package regulation_test

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view/regulation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// shopWorld is a shop: web needs db over an alias, worker as declared, edge needs web, and a
// monitor needs nobody.
func shopWorld() *regulate.SystemState {
	ref := func(kind, name string) object.Ref { return object.Ref{Kind: kind, Namespace: "shop", Name: name} }
	return &regulate.SystemState{Apps: []regulate.AppState{
		{Name: "db"},
		{Name: "web", Needs: []regulate.Need{{
			App: "db", From: ref("Deployment", "web"), To: ref("Service", "db"),
			Path: []object.Ref{ref("Deployment", "web"), ref("Service", "alias"), ref("Service", "db")},
			Edge: graph.Edge{Field: "env[0].value", Value: "alias", Rule: "pod-env-host", Inferred: true},
		}}},
		{Name: "worker", Needs: []regulate.Need{{App: "db", Declared: true}}},
		{Name: "edge", Needs: []regulate.Need{{App: "web", Declared: true, Reason: "it leads to it", From: ref("Ingress", "edge"), To: ref("Service", "web"), Edge: graph.Edge{Field: "spec.x"}}}},
		{Name: "monitor"},
	}}
}

// lines is a tree as text, a level an indent, the cells after bars.
func lines(t *view.Tree) string {
	var b strings.Builder
	var write func(l *view.TreeRow, indent string)
	write = func(l *view.TreeRow, indent string) {
		b.WriteString(indent + l.Name.Text)
		for _, c := range l.Cells {
			b.WriteString(" | " + c.Text)
		}
		b.WriteString("\n")
		for _, below := range l.Children {
			write(below, indent+"  ")
		}
	}
	for _, root := range t.Roots {
		write(root, "")
	}
	return b.String()
}

func TestNeighbours(t *testing.T) {
	trouble := regulation.NeighbourRule{Name: "trouble", Signal: "Stop"}
	for name, c := range map[string]struct {
		o    regulation.NeighbourOptions
		want string
	}{
		"no rules": {regulation.NeighbourOptions{Apps: []string{"db"}}, `db |  | 
  web |  | Deployment/web -> Service/alias -> Service/db: env[0].value = "alias" (inferred)
  worker |  | declared: the manifest declares it
`},
		"cascade": {regulation.NeighbourOptions{Apps: []string{"db"}, Cascade: true}, `db |  | 
  web |  | Deployment/web -> Service/alias -> Service/db: env[0].value = "alias" (inferred)
  worker |  | declared: the manifest declares it
  edge |  | edge needs web: declared: it leads to it; Ingress/edge -> Service/web: spec.x; web needs db: Deployment/web -> Service/alias -> Service/db: env[0].value = "alias" (inferred)
  order of Stop |  | worker, edge; then web
  order of Recover |  | web, worker; then edge
`},
		"rules": {regulation.NeighbourOptions{Apps: []string{"db", "monitor"}, Rules: []regulation.NeighbourRule{trouble, {Name: "watch", Signal: "drain", App: "db", To: []string{"monitor", "web", "db"}}, {Name: "other", Signal: "Stop", App: "web"}}}, `db |  | 
  web | Stop (trouble), drain (watch) | Deployment/web -> Service/alias -> Service/db: env[0].value = "alias" (inferred)
  worker | Stop (trouble) | declared: the manifest declares it
  monitor | drain (watch) | the rule names it; it needs nothing of db
monitor |  | no dependents
`},
		"a rule that cascades": {regulation.NeighbourOptions{Apps: []string{"db"}, Rules: []regulation.NeighbourRule{{Name: "all", Signal: "Stop", Cascade: true}}}, `db |  | 
  web | Stop (all) | Deployment/web -> Service/alias -> Service/db: env[0].value = "alias" (inferred)
  worker | Stop (all) | declared: the manifest declares it
  edge | Stop (all) | edge needs web: declared: it leads to it; Ingress/edge -> Service/web: spec.x; web needs db: Deployment/web -> Service/alias -> Service/db: env[0].value = "alias" (inferred)
  order of Stop |  | worker, edge; then web
  order of Recover |  | web, worker; then edge
`},
		"no rule is about it": {regulation.NeighbourOptions{Apps: []string{"web"}, Rules: []regulation.NeighbourRule{{Name: "x", Signal: "Stop", App: "db"}}}, `web |  | 
  edge | no rule | declared: it leads to it; Ingress/edge -> Service/web: spec.x
`},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Namespace = "shop"
			if got := lines(regulation.Neighbours(shopWorld(), c.o).Tree); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// Every shape of the answer has the same neighbours.
func TestNeighbourShapes(t *testing.T) {
	a := regulation.Neighbours(shopWorld(), regulation.NeighbourOptions{Cascade: true})
	doc := a.Document.(regulation.NeighboursDocument)
	if len(doc.Apps) != 5 || len(a.Names) != 3 || len(a.Table.Rows) != 4 || len(a.Diagram.Nodes) != 5 || len(a.Diagram.Edges) != 3 {
		t.Errorf("%d apps, names %v, %d rows, %d nodes, %d edges", len(doc.Apps), a.Names, len(a.Table.Rows), len(a.Diagram.Nodes), len(a.Diagram.Edges))
	}
	edge := doc.Apps[0].Neighbours[2]
	if edge.App != "edge" || len(edge.Path) != 2 || edge.Path[0].To != "web" || edge.Path[1].To != "db" || !edge.Path[1].Inferred || edge.Path[0].Inferred {
		t.Errorf("%+v", edge)
	}
	if w := doc.Apps[0].Neighbours[1].Path[0]; w.Objects != nil || !w.Declared || w.Why != "" {
		t.Errorf("what is only declared has no evidence: %+v", w)
	}
}
