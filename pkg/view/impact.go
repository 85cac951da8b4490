package view

import "github.com/kubectl-sysop/kubectl-sysop/pkg/graph"

// Impact returns the answer of the impact command.
func Impact(g *graph.Graph, id graph.ID, im graph.Impact) Answer {
	doc := ImpactDocument{
		Head: Head{APIVersion, "Impact"}, Object: g.Ref(id).String(), Deleted: refs(g, im.Deleted), Orphaned: refs(g, im.Orphaned),
		Direct: dependents(g, im.Direct), Through: dependents(g, im.Through), Gaps: none(g.Gaps()),
	}
	var ids []graph.ID
	ids = append(append(ids, im.Deleted...), im.Orphaned...)
	for _, list := range [][]graph.Dependent{im.Direct, im.Through} {
		for _, d := range list {
			ids = append(ids, d.ID)
		}
	}
	table := impactTable(im, newNames(g, g.Ref(id).Namespace, append(ids, id)))
	return Answer{Table: table, Wide: table, Document: doc, Names: refs(g, ids)}
}

func impactTable(im graph.Impact, n names) *Table {
	t := &Table{Columns: []Column{
		{Name: "EFFECT"},
		{Name: "OBJECT", Cut: Middle, Least: leastName},
		{Name: "BECAUSE OF", Drop: 1, Cut: Middle, Least: leastName},
		{Name: "WHY", Drop: 2, Cut: Middle, Least: leastWhy},
	}}
	row := func(effect string, tone Tone, id graph.ID, cause, why string) {
		t.Rows = append(t.Rows, []Cell{{effect, tone}, {n.of(id), Plain}, {cause, Faint}, {why, Faint}})
	}
	for _, d := range im.Deleted {
		row("deleted", Bad, d, "", "every owner of it goes")
	}
	for _, d := range im.Orphaned {
		row("loses an owner", Warn, d, "", "another owner is left")
	}
	for _, list := range []struct {
		all  []graph.Dependent
		word string
		tone Tone
	}{{im.Direct, "breaks", Bad}, {im.Through, "suffers", Warn}} {
		for _, d := range list.all {
			word, tone := list.word, list.tone
			if d.Optional {
				word, tone = "misses it", Warn
			}
			if d.Edge.Inferred {
				word += " (inferred)"
			}
			row(word, tone, d.ID, n.of(d.Cause), d.Edge.Why())
		}
	}
	return t
}

func dependents(g *graph.Graph, all []graph.Dependent) []DependentDocument {
	out := []DependentDocument{}
	for _, d := range all {
		out = append(out, DependentDocument{ID: g.Ref(d.ID).String(), Cause: g.Ref(d.Cause).String(), Edge: edgeDocument(g, d.Edge), Optional: d.Optional})
	}
	return out
}

func refs(g *graph.Graph, ids []graph.ID) []string {
	out := []string{}
	for _, id := range ids {
		out = append(out, g.Ref(id).String())
	}
	return out
}
