package view

import "github.com/kubectl-sysop/kubectl-sysop/internal/install"

// InstallDiffDocument is what an install or upgrade would change (docs/schema/install-diff.json).
type InstallDiffDocument struct {
	Head         `json:",inline"`
	Installation string                   `json:"installation"`
	Namespace    string                   `json:"namespace"`
	Objects      []InstallChangedDocument `json:"objects"`
}

// InstallChangedDocument is what would become of an object.
type InstallChangedDocument struct {
	Object string                `json:"object"`
	Change string                `json:"change"`
	Fields []InstallChangedField `json:"fields,omitempty"`
}

// InstallChangedField is a field that would change: Before and After are JSON.
type InstallChangedField struct {
	Path   string `json:"path"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// InstallDiff returns the answer of diff. Names are the objects that would change.
func InstallDiff(of install.Installation, all []install.Difference) Output {
	doc := InstallDiffDocument{Head: Head{APIVersion, "InstallDiff"}, Installation: of.Name, Namespace: of.Namespace}
	t := &Table{Columns: []Column{{Name: "OBJECT", Truncate: Middle, MinWidth: leastName}, {Name: "CHANGE"}, {Name: "FIELD", Truncate: Middle, MinWidth: leastName}, {Name: "WAS", DropOrder: 2, Truncate: End, MinWidth: leastWhy}, {Name: "IS", DropOrder: 1, Truncate: End, MinWidth: leastWhy}}}
	a := Output{Table: t, Wide: t}
	tones := map[string]Tone{install.ObjectAdded: Good, install.ObjectRemoved: Bad, install.ObjectChanged: Warn}
	for i := range all {
		d := &all[i]
		one := InstallChangedDocument{Object: d.Object.String(), Change: d.What}
		if len(d.Fields) == 0 {
			t.Rows = append(t.Rows, []Cell{{one.Object, Plain}, {d.What, tones[d.What]}, {}, {}, {}})
		}
		for _, f := range d.Fields {
			one.Fields = append(one.Fields, InstallChangedField{f.Path, f.Was, f.Is})
			t.Rows = append(t.Rows, []Cell{{one.Object, Plain}, {d.What, tones[d.What]}, {f.Path, Plain}, {f.Was, Faint}, {f.Is, Plain}})
		}
		doc.Objects = append(doc.Objects, one)
		a.Names = append(a.Names, one.Object)
	}
	a.Document = doc
	return a
}
