package view

import (
	"github.com/kubectl-sysop/kubectl-sysop/internal/diff"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
)

// InstallDiffDocument is what an install or upgrade would change (docs/schema/install-diff.json).
type InstallDiffDocument struct {
	Head         `json:",inline"`
	Installation string            `json:"installation"`
	Namespace    string            `json:"namespace"`
	Objects      []diff.Difference `json:"objects"`
}

// changedField is a field of an object that would change; empty for an object without fields.
type changedField struct {
	of *diff.Difference
	diff.Field
}

// InstallDiff returns the answer of diff. Names are the objects that would change.
func InstallDiff(release install.Installation, all []diff.Difference) Output {
	tones := map[string]Tone{diff.Added: Good, diff.Removed: Bad, diff.Changed: Warn}
	c := ColumnsOf[changedField]{
		{Column: Column{Name: "OBJECT", Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(f changedField) string { return f.of.Object.String() })},
		{Column: Column{Name: "CHANGE"}, Value: func(f changedField) Cell { return Cell{f.of.What, tones[f.of.What]} }},
		{Column: Column{Name: "FIELD", Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(f changedField) string { return f.Path })},
		{Column: Column{Name: "WAS", DropOrder: 2, Truncate: End, MinWidth: LeastWhy}, Value: AsFaint(func(f changedField) string { return f.Was })},
		{Column: Column{Name: "IS", DropOrder: 1, Truncate: End, MinWidth: LeastWhy}, Value: AsText(func(f changedField) string { return f.Is })},
	}
	a := Output{Document: InstallDiffDocument{HeadOf("InstallDiff"), release.Name, release.Namespace, all}}
	var rows []changedField
	for i := range all {
		d := &all[i]
		if len(d.Fields) == 0 {
			rows = append(rows, changedField{of: d})
		}
		for _, f := range d.Fields {
			rows = append(rows, changedField{d, f})
		}
		a.Names = append(a.Names, d.Object.String())
	}
	a.Table = c.Table(rows)
	a.Wide = a.Table
	return a
}
