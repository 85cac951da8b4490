package view

import "strconv"

// OutdatedRow is an entry of a catalogue, and what its own source lists beyond it.
type OutdatedRow struct {
	Name string
	// Has is the newest version of the chart that the entry has, Newer what is published after
	// it, newest first.
	Has   string
	Newer []string
	From  string
	// Unread says why the source tells nothing. Empty where it does.
	Unread string
}

// Outdated returns the answer of catalog outdated. The names are those of entries that are behind.
func Outdated(rows []OutdatedRow) Output {
	t := &Table{Columns: []Column{
		{Name: "OPERATOR"},
		{Name: "CATALOG"},
		{Name: "PUBLISHED"},
		{Name: "FROM", Truncate: Middle, MinWidth: leastName, DropOrder: 1},
		{Name: "NOTE", Truncate: End, MinWidth: leastWhy},
	}}
	var names []string
	for _, r := range rows {
		published, note, tone := Cell{r.Has, Faint}, "current", Faint
		switch {
		case r.Unread != "":
			published, note, tone = Cell{"", Faint}, r.Unread, Warn
		case len(r.Newer) == 1:
			published, note, tone = Cell{r.Newer[0], Warn}, "1 newer version", Plain
		case len(r.Newer) > 1:
			published, note, tone = Cell{r.Newer[0], Warn}, strconv.Itoa(len(r.Newer))+" newer versions", Plain
		}
		if len(r.Newer) > 0 {
			names = append(names, r.Name)
		}
		t.Rows = append(t.Rows, []Cell{{r.Name, Plain}, {r.Has, Plain}, published, {r.From, Faint}, {note, tone}})
	}
	return Output{Table: t, Wide: t, Names: names}
}
