package view

import "github.com/kubectl-sysop/kubectl-sysop/internal/catalog"

// Outdated returns the answer of catalog outdated. Names are those of entries with newer versions.
func Outdated(rows []catalog.Published) Output {
	c := ColumnsOf[catalog.Published]{
		{Column: Column{Name: "OPERATOR"}, Value: AsText(func(r catalog.Published) string { return r.Name })},
		{Column: Column{Name: "CATALOG"}, Value: AsText(func(r catalog.Published) string { return r.Has })},
		{Column: Column{Name: "PUBLISHED"}, Value: func(r catalog.Published) Cell {
			switch {
			case r.Unread != "":
				return Cell{}
			case len(r.Newer) == 0:
				return Cell{r.Has, Faint}
			}
			return Cell{r.Newer[0], Warn}
		}},
		{Column: Column{Name: "FROM", Truncate: Middle, MinWidth: LeastName, DropOrder: 1}, Value: AsFaint(func(r catalog.Published) string { return r.From })},
		{Column: Column{Name: "NOTE", Truncate: End, MinWidth: LeastWhy}, Value: func(r catalog.Published) Cell {
			switch {
			case r.Unread != "":
				return Cell{r.Unread, Warn}
			case len(r.Newer) == 0:
				return Cell{"current", Faint}
			}
			return Cell{Text: counted(len(r.Newer), "newer version")}
		}},
	}
	a := Output{Table: c.Table(rows)}
	a.Wide = a.Table
	for _, r := range rows {
		if len(r.Newer) > 0 {
			a.Names = append(a.Names, r.Name)
		}
	}
	return a
}
