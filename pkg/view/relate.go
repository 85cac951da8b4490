package view

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Path returns the answer of the path command.
func Path(g *graph.Graph, from, to graph.ID, steps []graph.Step, found bool) Answer {
	doc := PathDocument{Head: Head{APIVersion, "Path"}, From: g.Ref(from).String(), To: g.Ref(to).String(), Found: found, Steps: []StepDocument{}, Gaps: none(g.Gaps())}
	table := &Table{Columns: []Column{{Name: "OBJECT"}, {Name: "RELATION"}, {Name: "VIA"}, {Name: "WHY"}}}
	var names []string
	if found {
		names = append(names, doc.From)
		table.Rows = append(table.Rows, []Cell{{doc.From, Plain}, {}, {}, {}})
	}
	net := &Net{}
	for _, s := range steps {
		e := edgeDocument(g, s.Edge)
		doc.Steps = append(doc.Steps, StepDocument{e, s.Against})
		next, arrow := e.To, "─"+e.Relation+"→"
		if s.Against {
			next, arrow = e.From, "←"+e.Relation+"─"
		}
		if e.Inferred {
			arrow += " (inferred)"
		}
		names = append(names, next)
		table.Rows = append(table.Rows, []Cell{{next, Plain}, {arrow, Plain}, {e.Via, Faint}, {e.Why, Faint}})
		net.Edges = append(net.Edges, NetEdge{From: e.From, To: e.To, Label: e.Relation, Dashed: e.Inferred})
	}
	for _, n := range names {
		r, err := object.ParseRef(n)
		if err == nil {
			net.Nodes = append(net.Nodes, NetNode{ID: n, Kind: r.Kind, Name: r.Name, Namespace: r.Namespace})
		}
	}
	return Answer{Table: table, Wide: table, Net: net, Document: doc, Names: names}
}

// Impact returns the answer of the impact command.
func Impact(g *graph.Graph, id graph.ID, im graph.Impact) Answer {
	doc := ImpactDocument{Head: Head{APIVersion, "Impact"}, Object: g.Ref(id).String(), Deleted: refs(g, im.Deleted), Orphaned: refs(g, im.Orphaned), Gaps: none(g.Gaps())}
	table := &Table{Columns: []Column{{Name: "EFFECT"}, {Name: "OBJECT"}, {Name: "BECAUSE OF"}, {Name: "WHY"}}}
	var names []string
	row := func(effect string, tone Tone, object, cause, why string) {
		table.Rows = append(table.Rows, []Cell{{effect, tone}, {object, Plain}, {cause, Faint}, {why, Faint}})
		names = append(names, object)
	}
	for _, r := range doc.Deleted {
		row("deleted", Bad, r, "", "every owner of it goes")
	}
	for _, r := range doc.Orphaned {
		row("loses an owner", Warn, r, "", "another owner is left")
	}
	add := func(all []graph.Dependent, effect string, tone Tone) []DependentDocument {
		out := []DependentDocument{}
		for _, d := range all {
			dd := DependentDocument{ID: g.Ref(d.ID).String(), Cause: g.Ref(d.Cause).String(), Edge: edgeDocument(g, d.Edge), Optional: d.Optional}
			out = append(out, dd)
			word, t := effect, tone
			if d.Optional {
				word, t = "misses it", Warn
			}
			row(word, t, dd.ID, dd.Cause, dd.Edge.Why)
		}
		return out
	}
	doc.Direct = add(im.Direct, "breaks", Bad)
	doc.Through = add(im.Through, "suffers", Warn)
	return Answer{Table: table, Wide: table, Document: doc, Names: names}
}

func refs(g *graph.Graph, ids []graph.ID) []string {
	out := []string{}
	for _, id := range ids {
		out = append(out, g.Ref(id).String())
	}
	return out
}
