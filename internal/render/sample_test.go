package render_test

import (
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func plain(texts ...string) []view.Cell {
	cells := make([]view.Cell, len(texts))
	for i, t := range texts {
		cells[i].Text = t
	}
	return cells
}

func line(name string, cells []view.Cell, below ...*view.TreeRow) *view.TreeRow {
	return &view.TreeRow{Name: view.Cell{Text: name}, Cells: cells, Children: below}
}

func marked(l *view.TreeRow, mark string, tone view.Tone) *view.TreeRow {
	l.Mark = view.Cell{Text: mark, Tone: tone}
	return l
}

// shop is the stack of a shop, with one of everything that a tree can show.
func shop(why bool) *view.Tree {
	t := &view.Tree{Columns: []view.Column{
		{Name: "OBJECT", Truncate: view.Middle, MinWidth: 24},
		{Name: "RELATION", DropOrder: 1},
		{Name: "VIA", DropOrder: 2},
	}}
	if why {
		t.Columns = append(t.Columns, view.Column{Name: "WHY", Truncate: view.Middle, MinWidth: 32, OwnLine: true})
	}
	cells := func(how, via, evidence string) []view.Cell {
		c := []view.Cell{{Text: how}, {Text: via, Tone: view.Faint}}
		if why {
			c = append(c, view.Cell{Text: evidence, Tone: view.Faint})
		}
		return c
	}
	uid := `metadata.ownerReferences[0].uid = "e8eda8e8-de75-463e-a48f-3e847944b12e"`
	pod := line("Pod/shop-web-6c9f7d5b8-x2x7q", cells("owns", "owner", uid), line("Node/worker-a", cells("needs", "spec", `spec.nodeName = "worker-a"`)))
	pod.Children[0].Name.Tone = view.Faint
	set := line("ReplicaSet/shop-web-6c9f7d5b8", cells("owns", "owner", uid), pod)
	set.Hidden = 2
	claim := line("PersistentVolumeClaim/data-shop-database-primary-0", cells("owns (inferred)", "spec", `spec.volumeClaimTemplates[0].metadata.name = "data"`),
		marked(line("PersistentVolume/pvc-f5ab274a-28e1-40eb-9536-ea5112b4658f", cells("needs", "spec", `spec.volumeName = "pvc-f5ab274a-28e1-40eb-9536-ea5112b4658f"`)), "⇄ shared", view.Plain))
	t.Roots = []*view.TreeRow{
		line("Shop.example.com/shop", cells("", "", ""),
			line("Deployment/shop-web", cells("owns", "owner", uid), set,
				marked(line("ConfigMap/shop-theme", cells("needs (optional)", "spec", `spec.template.spec.containers[0].envFrom[0].configMapRef.name = "shop-theme"`)), "✖ missing", view.Bad)),
			marked(line("Secret/other-namespace/shop-tls", cells("needs", "spec", `spec.tls[0].secretName = "shop-tls"`)), "? unread", view.Warn),
			line("Service/数据库-主节点-高可用-集群-生产环境", cells("needs", "spec", `spec.host = "数据库"`),
				line("StatefulSet/shop-database-primary", cells("serves", "label", ""), claim)),
			line("Role/🚀-launch\x1b[31m\u202e\nred", cells("served by", "annotation", "metadata.annotations = \"\u200b\""))),
		line("Pod/alone", cells("", "", "")),
	}
	return t
}

// people is a table with a number column, a priority for each column, and text
// that is wide or unsafe.
func people() *view.Table {
	return &view.Table{
		Columns: []view.Column{
			{Name: "EFFECT"},
			{Name: "OBJECT", Truncate: view.Middle, MinWidth: 24},
			{Name: "$/MO", Right: true},
			{Name: "BECAUSE OF", DropOrder: 1, Truncate: view.Middle, MinWidth: 24},
			{Name: "MESSAGE", DropOrder: 2, Truncate: view.End, MinWidth: 20},
		},
		Rows: [][]view.Cell{
			{{Text: "breaks", Tone: view.Bad}, {Text: "Pod/shop-web-6c9f7d5b8-x2x7q"}, {Text: "7.20"}, {Text: "Secret/shop-database-credentials", Tone: view.Faint}, {Text: "back-off 5m0s restarting failed container"}},
			{{Text: "misses it", Tone: view.Warn}, {Text: "Service/数据库-主节点-高可用-集群-生产环境"}, {Text: "1130.00"}, {}, {Text: "two\nlines\tand a tab"}},
			{{Text: "suffers"}, {Text: "Role/🚀-launch\x1b[31m\u202e"}, {}, {Text: "Secret/a", Tone: view.Good}, {}},
		},
	}
}

func drawing() *view.Diagram {
	return &view.Diagram{
		Nodes: []view.DiagramNode{
			{ID: "Shop.example.com/web/shop", Kind: "Shop", Name: "shop", Namespace: "web", Root: true},
			{ID: "Secret/web/tls", Kind: "Secret", Name: "tls", Namespace: "web", Tone: view.Bad, Note: "✖ missing"},
			{ID: "ConfigMap/db/settings", Kind: "ConfigMap", Name: "settings", Namespace: "db", Tone: view.Warn, Note: "? unread"},
			{ID: "Node/worker-a", Kind: "Node", Name: "worker-a", Boundary: true},
			{ID: `Role/web/a"b\c&lt;]; end`, Kind: "Role", Name: `a"b\c&lt;]; end`, Namespace: "web", Note: "⇄ shared"},
		},
		Edges: []view.DiagramEdge{
			{From: "Shop.example.com/web/shop", To: "Secret/web/tls", Label: "needs"},
			{From: "Shop.example.com/web/shop", To: "ConfigMap/db/settings", Label: "needs", Dashed: true},
			{From: `Role/web/a"b\c&lt;]; end`, To: "Node/worker-a", Label: "serves"},
		},
	}
}

// document is a small one of the real kind.
func document(message string) view.GraphDocument {
	return view.GraphDocument{
		Head:  view.Head{APIVersion: view.APIVersion, Kind: "Graph"},
		Roots: []string{"Shop.example.com/web/shop"},
		Nodes: []view.NodeDocument{{ID: "Shop.example.com/web/shop", Kind: "Shop", Namespace: "web", Name: "shop", State: "present"}},
		Edges: []view.EdgeDocument{{From: "Shop.example.com/web/shop", To: "Secret/web/tls", Relation: "needs", Via: "spec", Why: `spec.tls = "a<b>&c"`, Rule: "shop-tls"}},
		Problems: []graph.Problem{
			{Object: object.Ref{Group: "example.com", Kind: "Shop", Namespace: "web", Name: "shop"}, Severity: graph.Warning, Reason: "OwnerAbsent", Message: message},
		},
		Gaps: []object.Gap{},
	}
}
