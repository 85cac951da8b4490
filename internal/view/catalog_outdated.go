package view

import "github.com/kubectl-sysop/kubectl-sysop/internal/catalog"

// Outdated returns the answer of catalog outdated. Names are those of entries with newer versions.
func Outdated(rows []catalog.Published) Output {
	c := columns[catalog.Published]{
		{Column: Column{Name: "OPERATOR"}, cell: text(func(r catalog.Published) string { return r.Name })},
		{Column: Column{Name: "CATALOG"}, cell: text(func(r catalog.Published) string { return r.Has })},
		{Column: Column{Name: "PUBLISHED"}, cell: func(r catalog.Published) Cell {
			switch {
			case r.Unread != "":
				return Cell{}
			case len(r.Newer) == 0:
				return Cell{r.Has, Faint}
			}
			return Cell{r.Newer[0], Warn}
		}},
		{Column: Column{Name: "FROM", Truncate: Middle, MinWidth: leastName, DropOrder: 1}, cell: faint(func(r catalog.Published) string { return r.From })},
		{Column: Column{Name: "NOTE", Truncate: End, MinWidth: leastWhy}, cell: func(r catalog.Published) Cell {
			switch {
			case r.Unread != "":
				return Cell{r.Unread, Warn}
			case len(r.Newer) == 0:
				return Cell{"current", Faint}
			}
			return Cell{Text: counted(len(r.Newer), "newer version")}
		}},
	}
	a := Output{Table: c.table(rows)}
	a.Wide = a.Table
	for _, r := range rows {
		if len(r.Newer) > 0 {
			a.Names = append(a.Names, r.Name)
		}
	}
	return a
}
