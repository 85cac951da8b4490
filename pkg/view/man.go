package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/manual"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ManualDocument is the manual of a kind (docs/schema/man.json).
type ManualDocument struct {
	Head          `json:",inline"`
	manual.Manual `json:",inline"`
	Gaps          []object.Gap `json:"gaps"`
}

// Manual returns the answer of the man command.
func Manual(m manual.Manual, gaps []object.Gap) Answer {
	doc := ManualDocument{Head: Head{APIVersion, "Manual"}, Manual: m, Gaps: none(gaps)}
	page := &Page{}
	for _, s := range []Section{
		nameSection(m), operatorSection(m), compositionSection(m), relationshipsSection(m), fieldsSection(m), columnsSection(m), usageSection(m), exampleSection(m), notesSection(m),
	} {
		if len(s.Blocks) > 0 {
			page.Sections = append(page.Sections, s)
		}
	}
	return Answer{Page: page, Document: doc}
}

// pairsOf leaves out terms of which there is nothing to say.
func pairsOf(all ...Pair) []Block {
	var said []Pair
	for _, p := range all {
		if p.Text != "" {
			said = append(said, p)
		}
	}
	if said == nil {
		return nil
	}
	return []Block{{Pairs: said}}
}

func nameSection(m manual.Manual) Section {
	r := m.Resource
	s := Section{Title: "NAME"}
	for i, paragraph := range strings.Split(strings.TrimSpace(r.Description), "\n\n") {
		switch {
		case i > 0:
			s.Blocks = append(s.Blocks, Block{Text: paragraph})
		case paragraph != "":
			s.Blocks = append(s.Blocks, Block{Text: r.Kind + " - " + paragraph})
		default:
			s.Blocks = append(s.Blocks, Block{Text: r.Kind})
		}
	}
	scope, group := "cluster", r.Group
	if r.Namespaced {
		scope = "namespaced"
	}
	if group == "" {
		group = "core"
	}
	names := strings.Join(append([]string{r.Plural}, r.ShortNames...), ", ")
	if r.Singular != "" && r.Singular != r.Plural {
		names = strings.Join(append([]string{r.Plural, r.Singular}, r.ShortNames...), ", ")
	}
	s.Blocks = append(s.Blocks, pairsOf(
		Pair{"Names", names}, Pair{"Group", group}, Pair{"Versions", versions(r)}, Pair{"Scope", scope},
		Pair{"Categories", strings.Join(r.Categories, ", ")}, Pair{"Definition", r.Definition}, Pair{"Instances", instances(m)},
	)...)
	return s
}

// versions tells them, the one that is described first.
func versions(r manual.Resource) string {
	text, others, gone := r.Version, []string{}, []string{}
	for _, v := range r.Versions {
		switch said := say(v); {
		case v.Name == r.Version:
			text = said
			if v.Warning != "" {
				text += ": " + v.Warning
			}
		case v.Served:
			others = append(others, said)
		default:
			gone = append(gone, said)
		}
	}
	if len(others) > 0 {
		text += "; also served: " + strings.Join(others, ", ")
	}
	if len(gone) > 0 {
		text += "; not served: " + strings.Join(gone, ", ")
	}
	return text
}

func say(v manual.Version) string {
	var is []string
	for _, w := range []struct {
		is   bool
		word string
	}{{v.Stored, "stored"}, {v.WasStored, "objects may be stored in it"}, {v.Deprecated, "deprecated"}} {
		if w.is {
			is = append(is, w.word)
		}
	}
	if is == nil {
		return v.Name
	}
	return v.Name + " (" + strings.Join(is, ", ") + ")"
}

func instances(m manual.Manual) string {
	i := m.Instances
	if i == (manual.Instances{}) {
		return ""
	}
	text := fmt.Sprint(i.Count)
	if !i.Complete {
		text = "at least " + text
		if i.Count == 0 {
			text = "not known"
		}
	}
	return text + where(m)
}

// where says where instances were looked for.
func where(m manual.Manual) string {
	switch {
	case !m.Resource.Namespaced && m.Instances.Namespace == "":
		return ""
	case m.Instances.Namespace == "":
		return " in all namespaces"
	case !m.Resource.Namespaced:
		return "; what they own: in namespace " + m.Instances.Namespace
	}
	return " in namespace " + m.Instances.Namespace
}

func operatorSection(m manual.Manual) Section {
	s := Section{Title: "OPERATOR"}
	if o := m.Operator; o.Name != "" {
		s.Blocks = append(s.Blocks, Block{Text: o.Title + ". " + o.Description})
		s.Blocks = append(s.Blocks, pairsOf(Pair{"Catalogue", o.Name}, Pair{"Source", strings.Join(o.Source, " ")})...)
	}
	for _, r := range m.Running {
		s.Blocks = append(s.Blocks, pairsOf(
			Pair{"Running", r.Workload}, Pair{"Image", strings.Join(r.Images, ", ")}, Pair{"Version", r.Version}, Pair{"Evidence", strings.Join(r.Evidence, "; ")},
		)...)
	}
	return s
}

func compositionSection(m manual.Manual) Section {
	s := Section{Title: "COMPOSITION"}
	if len(m.Composition) == 0 {
		return s
	}
	looked := m.Instances.Count > 0
	t := &Table{Columns: []Column{{Name: "KIND", Cut: Middle, Least: leastName}, {Name: "DECLARED BY", Drop: 1, Cut: End, Least: 12}}}
	if looked {
		t.Columns = append(t.Columns, Column{Name: "OWNED", Right: true})
	}
	through := slices.ContainsFunc(m.Composition, func(p manual.Part) bool { return p.Through != "" })
	if through {
		t.Columns = append(t.Columns, Column{Name: "THROUGH", Drop: 2, Cut: Middle, Least: leastName})
	}
	for _, p := range m.Composition {
		by, tone := "", Plain
		for _, d := range p.Declared {
			word, _, _ := strings.Cut(d, " ")
			by = strings.TrimPrefix(by+", "+word, ", ")
		}
		if by == "" {
			by, tone = "-", Faint
		}
		row := []Cell{{p.Kind, Plain}, {by, tone}}
		if looked {
			count := Cell{fmt.Sprint(p.Observed), Plain}
			if p.Observed == 0 {
				count.Tone = Faint
			}
			row = append(row, count)
		}
		if through {
			row = append(row, Cell{p.Through, Faint})
		}
		t.Rows = append(t.Rows, row)
	}
	s.Blocks = append(s.Blocks, Block{Table: t})
	if looked {
		what := fmt.Sprintf("OWNED counts what the %d instances%s really own.", m.Instances.Count, where(m))
		if m.Instances.Count == 1 {
			what = "OWNED counts what the one instance" + where(m) + " really owns."
		}
		s.Blocks = append(s.Blocks, Block{Text: what})
	} else if m.Instances != (manual.Instances{}) && m.Instances.Complete {
		s.Blocks = append(s.Blocks, Block{Text: "There is no instance here to see what it really owns."})
	}
	return s
}

// words say a relation from the side of the one that it is done to.
var words = map[string]string{"owns": "owned by", "needs": "needed by", "serves": "served by"}

func relationshipsSection(m manual.Manual) Section {
	s := Section{Title: "RELATIONSHIPS"}
	if len(m.Relationships) == 0 {
		return s
	}
	s.Blocks = append(s.Blocks, Block{Items: relationshipItems(m.Relationships)})
	return s
}

// relationshipItems says what several rules say of one field once, and brings
// fields together of which the same rules say the same.
func relationshipItems(all []manual.Relationship) []Item {
	var said []Item
	for _, r := range all {
		head, field := r.Relation, r.Field
		if r.Reversed {
			head = words[r.Relation]
		}
		if r.OnOther {
			field = "its " + field
		}
		head += " " + strings.Join(r.Kinds, ", ")
		i := slices.IndexFunc(said, func(one Item) bool { return one.Head == head && one.Text == field })
		if i < 0 {
			said = append(said, Item{head, r.Origin, field})
		} else if said[i].Note != r.Origin {
			said[i].Note += ", " + r.Origin
		}
	}
	var items []Item
	for _, one := range said {
		one.Note = "(" + one.Note + ")"
		i := slices.IndexFunc(items, func(other Item) bool { return other.Head == one.Head && other.Note == one.Note })
		if i < 0 {
			items = append(items, one)
		} else {
			items[i].Text += ", " + one.Text
		}
	}
	return items
}

func fieldsSection(m manual.Manual) Section {
	s := Section{Title: "FIELDS"}
	var items []Item
	for _, f := range m.Fields {
		items = append(items, Item{f.Path, noteOf(f), strings.Join(strings.Fields(f.Description), " ")})
	}
	if items != nil {
		s.Blocks = append(s.Blocks, Block{Items: items})
	}
	if m.FieldsLeftOut > 0 {
		s.Blocks = append(s.Blocks, Block{Text: fmt.Sprintf("%d more: --fields all, or --fields PATH for what is below one.", m.FieldsLeftOut)})
	}
	return s
}

// noteOf says in a few words what a field may hold.
func noteOf(f manual.Field) string {
	note := []string{f.Type}
	switch {
	case f.Required && f.Within != "":
		note = append(note, "required if "+f.Within+" is set")
	case f.Required:
		note = append(note, "required")
	}
	if f.Default != "" {
		note = append(note, "default "+f.Default)
	}
	if len(f.Enum) > 0 {
		note = append(note, "one of "+strings.Join(f.Enum, " | "))
	}
	if f.Below > 0 {
		note = append(note, fmt.Sprintf("with %d more in it", f.Below))
	}
	return strings.Join(note, ", ")
}

func columnsSection(m manual.Manual) Section {
	s := Section{Title: "STATUS COLUMNS"}
	if len(m.Columns) == 0 {
		return s
	}
	t := &Table{Columns: []Column{{Name: "COLUMN"}, {Name: "TYPE", Drop: 1}, {Name: "FIELD", Cut: Middle, Least: leastName}}}
	var items []Item
	said := false
	for _, c := range m.Columns {
		name := c.Name
		if c.Wide {
			name += " (-o wide)"
		}
		t.Rows = append(t.Rows, []Cell{{name, Plain}, {c.Type, Faint}, {c.Path, Plain}})
		items = append(items, Item{name, c.Type + " at " + c.Path, c.Description})
		said = said || c.Description != ""
	}
	s.Blocks = append(s.Blocks, Block{Table: t})
	if said {
		s.Blocks[0] = Block{Items: items}
	}
	return s
}

func usageSection(m manual.Manual) Section {
	s := Section{Title: "USAGE"}
	switch u := m.Usage; {
	case u == (manual.Usage{}):
	case u.Problem != "":
		s.Blocks = []Block{{Text: "The manual could not be read: " + u.Problem + "."}}
	default:
		s.Blocks = []Block{{Verbatim: u.Text}, {Text: fmt.Sprintf("(from %s, key %s)", u.ConfigMap, u.Key)}}
	}
	return s
}

func exampleSection(m manual.Manual) Section {
	s := Section{Title: "EXAMPLE"}
	if m.Example.Manifest == "" {
		return s
	}
	s.Blocks = []Block{{Text: "(" + m.Example.Origin + ")"}, {Verbatim: m.Example.Manifest}}
	for _, n := range m.Example.Notes {
		s.Blocks = append(s.Blocks, Block{Text: "Note: " + n + "."})
	}
	return s
}

func notesSection(m manual.Manual) Section {
	s := Section{Title: "NOTES"}
	for _, n := range m.Notes {
		s.Blocks = append(s.Blocks, Block{Text: n})
	}
	return s
}
