package view

import (
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
)

// CatalogRow is an entry of a catalogue.
type CatalogRow struct {
	Entry catalog.Entry
	// Origin is the catalogue that it came from.
	Origin string
	// Matched says what was found of a search.
	Matched []string
	// Installed is the version that is on the cluster, where that was asked for.
	Installed string
}

// CatalogDocument is a list of entries (docs/schema/catalog.json).
type CatalogDocument struct {
	Head    `json:",inline"`
	Entries []CatalogRowDocument `json:"entries"`
}

// CatalogRowDocument is an entry in a list.
type CatalogRowDocument struct {
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Origin      string   `json:"origin"`
	Versions    []string `json:"versions"`
	Kinds       []string `json:"kinds"`
	Matched     []string `json:"matched,omitempty"`
}

// Catalog returns the answer of a list of entries. Names are those of the entries.
func Catalog(rows []CatalogRow) Output {
	doc := CatalogDocument{Head: Head{APIVersion, "Catalog"}, Entries: []CatalogRowDocument{}}
	t := &Table{Columns: []Column{{Name: "NAME"}, {Name: "VERSION"}, {Name: "KINDS"}, {Name: "DESCRIPTION", DropOrder: 1, Truncate: End, MinWidth: leastWhy}}}
	wide := &Table{Columns: []Column{{Name: "NAME"}, {Name: "VERSIONS"}, {Name: "KINDS"}, {Name: "CATALOG"}, {Name: "MATCHED"}, {Name: "DESCRIPTION"}}}
	a := Output{Table: t, Wide: wide}
	for _, r := range rows {
		e := &r.Entry
		d := CatalogRowDocument{Name: e.Name, Title: e.Title, Description: e.Description, Origin: r.Origin, Versions: []string{}, Kinds: []string{}, Matched: r.Matched}
		for i := range e.Versions {
			d.Versions = append(d.Versions, e.Versions[i].Version)
		}
		for _, k := range e.Kinds {
			d.Kinds = append(d.Kinds, k.Kind)
		}
		doc.Entries = append(doc.Entries, d)
		latest := Cell{"-", Faint}
		if v, ok := e.Latest(); ok {
			latest = Cell{v.Version, Plain}
		}
		t.Rows = append(t.Rows, []Cell{{e.Name, Plain}, latest, {fmt.Sprint(len(e.Kinds)), Plain}, {e.Description, Plain}})
		wide.Rows = append(wide.Rows, []Cell{{e.Name, Plain}, {strings.Join(d.Versions, ", "), Plain}, {fmt.Sprint(len(e.Kinds)), Plain}, {r.Origin, Plain}, {strings.Join(r.Matched, ", "), Faint}, {e.Description, Plain}})
		a.Names = append(a.Names, e.Name)
	}
	a.Document = doc
	return a
}

// CatalogProblemsDocument is what is wrong with a catalogue (docs/schema/catalog-validate.json).
type CatalogProblemsDocument struct {
	Head     `json:",inline"`
	Entries  int      `json:"entries"`
	Problems []string `json:"problems"`
}

// CatalogProblems returns the answer of what is wrong with a catalogue. Names are the problems.
func CatalogProblems(entries int, problems []string) Output {
	if problems == nil {
		problems = []string{}
	}
	t := &Table{Columns: []Column{{Name: "PROBLEM", Truncate: End, MinWidth: leastWhy}}}
	for _, p := range problems {
		t.Rows = append(t.Rows, []Cell{{p, Bad}})
	}
	return Output{Table: t, Wide: t, Names: problems, Document: CatalogProblemsDocument{Head: Head{APIVersion, "CatalogProblems"}, Entries: entries, Problems: problems}}
}
