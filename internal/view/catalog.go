package view

import (
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
)

// CatalogRow is an entry of a catalog.
type CatalogRow struct {
	Entry catalog.Entry
	// Origin is the catalog that it came from.
	Origin string
	// Matched says what was found of a search.
	Matched []string
	// Installed is the version that is on the cluster, where the cluster was read.
	Installed string
}

// CatalogDocument is a list of entries (docs/schema/catalog.json).
type CatalogDocument struct {
	Head    `json:",inline"`
	Entries []CatalogRowDocument `json:"entries"`
}

// CatalogRowDocument is an entry in a list: of its versions and kinds it has the names.
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
	c := ColumnsOf[CatalogRow]{
		{Column: Column{Name: "NAME"}, Value: AsText(func(r CatalogRow) string { return r.Entry.Name })},
		{Column: Column{Name: "VERSION"}, in: tableOnly, Value: func(r CatalogRow) Cell {
			if v, ok := r.Entry.Latest(); ok {
				return Cell{Text: v.Version}
			}
			return Cell{"-", Faint}
		}},
		{Column: Column{Name: "VERSIONS"}, in: wideOnly, Value: AsText(func(r CatalogRow) string { return strings.Join(versionNames(&r.Entry), ", ") })},
		{Column: Column{Name: "KINDS"}, Value: AsText(func(r CatalogRow) string { return fmt.Sprint(len(r.Entry.Kinds)) })},
		{Column: Column{Name: "CATALOG"}, in: wideOnly, Value: AsText(func(r CatalogRow) string { return r.Origin })},
		{Column: Column{Name: "MATCHED"}, in: wideOnly, Value: AsFaint(func(r CatalogRow) string { return strings.Join(r.Matched, ", ") })},
		{Column: Column{Name: "DESCRIPTION", DropOrder: 1, Truncate: End, MinWidth: LeastWhy}, Value: AsText(func(r CatalogRow) string { return r.Entry.Description })},
	}
	doc := CatalogDocument{Head: HeadOf("Catalog")}
	a := Output{Table: c.Table(rows), Wide: c.wideTable(rows)}
	for _, r := range rows {
		e := &r.Entry
		d := CatalogRowDocument{Name: e.Name, Title: e.Title, Description: e.Description, Origin: r.Origin, Versions: versionNames(e), Matched: r.Matched}
		for _, k := range e.Kinds {
			d.Kinds = append(d.Kinds, k.Kind)
		}
		doc.Entries = append(doc.Entries, d)
		a.Names = append(a.Names, e.Name)
	}
	a.Document = doc
	return a
}

func versionNames(e *catalog.Entry) []string {
	names := []string{}
	for i := range e.Versions {
		names = append(names, e.Versions[i].Version)
	}
	return names
}

// CatalogProblemsDocument is what is wrong with a catalogue (docs/schema/catalog-validate.json).
type CatalogProblemsDocument struct {
	Head     `json:",inline"`
	Entries  int      `json:"entries"`
	Problems []string `json:"problems"`
}

// CatalogProblems returns the answer of catalog validate. Names are the problems.
func CatalogProblems(entries int, problems []string) Output {
	c := ColumnsOf[string]{{Column: Column{Name: "PROBLEM", Truncate: End, MinWidth: LeastWhy}, Value: func(p string) Cell { return Cell{p, Bad} }}}
	if problems == nil {
		problems = []string{} // There are names, but none to write.
	}
	t := c.Table(problems)
	return Output{Table: t, Wide: t, Names: problems, Document: CatalogProblemsDocument{Head: HeadOf("CatalogProblems"), Entries: entries, Problems: problems}}
}
