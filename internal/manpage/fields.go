package manpage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/manual"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// words say a relation from the side of the one that it is done to.
var words = map[string]string{"owns": "owned by", "needs": "needed by", "serves": "served by"}

func relationshipsSection(m manual.Manual) view.Section {
	s := view.Section{Title: "RELATIONSHIPS"}
	if len(m.Relationships) == 0 {
		return s
	}
	s.Blocks = append(s.Blocks, view.Block{Items: relationshipItems(m.Relationships)})
	return s
}

// relationshipItems says what several rules say of one field once, and brings
// fields together of which the same rules say the same.
func relationshipItems(all []manual.Relationship) []view.Item {
	var list []view.Item
	for _, r := range all {
		head, field := r.Relation, r.Field
		if r.Reversed {
			head = words[r.Relation]
		}
		if r.OnOther {
			field = "its " + field
		}
		head += " " + strings.Join(r.Kinds, ", ")
		i := slices.IndexFunc(list, func(one view.Item) bool { return one.Head == head && one.Text == field })
		if i < 0 {
			list = append(list, view.Item{Head: head, Note: r.Origin, Text: field})
		} else if list[i].Note != r.Origin {
			list[i].Note += ", " + r.Origin
		}
	}
	var items []view.Item
	for _, one := range list {
		one.Note = "(" + one.Note + ")"
		i := slices.IndexFunc(items, func(other view.Item) bool { return other.Head == one.Head && other.Note == one.Note })
		if i < 0 {
			items = append(items, one)
		} else {
			items[i].Text += ", " + one.Text
		}
	}
	return items
}

func fieldsSection(m manual.Manual) view.Section {
	s := view.Section{Title: "FIELDS"}
	var items []view.Item
	for _, f := range m.Fields {
		items = append(items, view.Item{Head: f.Path, Note: noteOf(f), Text: strings.Join(strings.Fields(f.Description), " ")})
	}
	if items != nil {
		s.Blocks = append(s.Blocks, view.Block{Items: items})
	}
	if m.FieldsLeftOut > 0 {
		s.Blocks = append(s.Blocks, view.Block{Text: fmt.Sprintf("%d more: --fields all, or --fields PATH for the fields below one.", m.FieldsLeftOut)})
	}
	return s
}

// noteOf says in a few words what a field may hold.
func noteOf(f manual.Field) string {
	note := []string{f.Type}
	switch {
	case f.Required && f.OptionalParent != "":
		note = append(note, "required if "+f.OptionalParent+" is set")
	case f.Required:
		note = append(note, "required")
	}
	if f.Default != "" {
		note = append(note, "default "+f.Default)
	}
	if len(f.Enum) > 0 {
		note = append(note, "one of "+strings.Join(f.Enum, " | "))
	}
	if f.HiddenFields > 0 {
		note = append(note, fmt.Sprintf("with %d more in it", f.HiddenFields))
	}
	return strings.Join(note, ", ")
}

func columnsSection(m manual.Manual) view.Section {
	s := view.Section{Title: "STATUS COLUMNS"}
	if len(m.Columns) == 0 {
		return s
	}
	t := &view.Table{Columns: []view.Column{{Name: "COLUMN"}, {Name: "TYPE", DropOrder: 1}, {Name: "FIELD", Truncate: view.Middle, MinWidth: leastName}}}
	var items []view.Item
	described := false
	for _, c := range m.Columns {
		name := c.Name
		if c.Wide {
			name += " (-o wide)"
		}
		t.Rows = append(t.Rows, []view.Cell{{Text: name}, {Text: c.Type, Tone: view.Faint}, {Text: c.Path}})
		items = append(items, view.Item{Head: name, Note: c.Type + " at " + c.Path, Text: c.Description})
		described = described || c.Description != ""
	}
	s.Blocks = append(s.Blocks, view.Block{Table: t})
	if described {
		s.Blocks[0] = view.Block{Items: items}
	}
	return s
}

func usageSection(m manual.Manual) view.Section {
	s := view.Section{Title: "USAGE"}
	switch u := m.Usage; {
	case u == (manual.Usage{}):
	case u.Problem != "":
		s.Blocks = []view.Block{{Text: "The manual could not be read: " + u.Problem + "."}}
	default:
		s.Blocks = []view.Block{{Verbatim: u.Text}, {Text: fmt.Sprintf("(from %s, key %s)", u.ConfigMap, u.Key)}}
	}
	return s
}

func exampleSection(m manual.Manual) view.Section {
	s := view.Section{Title: "EXAMPLE"}
	if m.Example.Manifest == "" {
		return s
	}
	s.Blocks = []view.Block{{Text: "(" + m.Example.Origin + ")"}, {Verbatim: m.Example.Manifest}}
	for _, n := range m.Example.Notes {
		s.Blocks = append(s.Blocks, view.Block{Text: "Note: " + n + "."})
	}
	return s
}

func notesSection(m manual.Manual) view.Section {
	s := view.Section{Title: "NOTES"}
	for _, n := range m.Notes {
		s.Blocks = append(s.Blocks, view.Block{Text: n})
	}
	return s
}
