package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/manual"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ManualDocument is the manual of a kind (docs/schema/man.json).
type ManualDocument struct {
	Head          `json:",inline"`
	manual.Manual `json:",inline"`
	Gaps          []object.Gap `json:"gaps"`
}

// Manual returns the answer of the man command.
func Manual(m manual.Manual, gaps []object.Gap) Output {
	doc := ManualDocument{Head: headOf("Manual"), Manual: m, Gaps: gaps}
	page := &Page{}
	for _, s := range []Section{
		nameSection(m), operatorSection(m), compositionSection(m), relationshipsSection(m), fieldsSection(m), columnsSection(m), usageSection(m), signalsSection(m), exampleSection(m), notesSection(m),
	} {
		if len(s.Blocks) > 0 {
			page.Sections = append(page.Sections, s)
		}
	}
	return Output{Page: page, Document: doc}
}

// pairsOf leaves out terms of which there is nothing to say.
func pairsOf(all ...Pair) []Block {
	var pairs []Pair
	for _, p := range all {
		if p.Text != "" {
			pairs = append(pairs, p)
		}
	}
	if pairs == nil {
		return nil
	}
	return []Block{{Pairs: pairs}}
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
	var names []string
	for _, name := range append([]string{r.Plural, r.Singular}, r.ShortNames...) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	s.Blocks = append(s.Blocks, pairsOf(
		Pair{"Names", strings.Join(names, ", ")}, Pair{"Group", group}, Pair{"Versions", versions(r)}, Pair{"Scope", scope},
		Pair{"Categories", strings.Join(r.Categories, ", ")}, Pair{"Definition", r.Definition}, Pair{"Instances", instances(m)},
	)...)
	return s
}

// versions tells them, the one that is described first.
func versions(r manual.Resource) string {
	text, served, gone := r.Version, []string{}, []string{}
	for _, v := range r.Versions {
		switch words := say(v); {
		case v.Name == r.Version:
			text = words
			if v.Warning != "" {
				text += ": " + v.Warning
			}
		case v.Served:
			served = append(served, words)
		default:
			gone = append(gone, words)
		}
	}
	if len(served) > 0 {
		text += "; also served: " + strings.Join(served, ", ")
	}
	if len(gone) > 0 {
		text += "; not served: " + strings.Join(gone, ", ")
	}
	return text
}

func say(v manual.Version) string {
	var words []string
	for _, w := range []struct {
		is   bool
		word string
	}{{v.Stored, "stored"}, {v.WasStored, "objects may be stored in it"}, {v.Deprecated, "deprecated"}} {
		if w.is {
			words = append(words, w.word)
		}
	}
	if words == nil {
		return v.Name
	}
	return v.Name + " (" + strings.Join(words, ", ") + ")"
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
			text = "unknown"
		}
	}
	return text + scopeText(m)
}

// scopeText says where instances were looked for.
func scopeText(m manual.Manual) string {
	switch {
	case !m.Resource.Namespaced && m.Instances.Namespace == "":
		return ""
	case m.Instances.Namespace == "":
		return " in all namespaces"
	case !m.Resource.Namespaced:
		return "; their parts: in namespace " + m.Instances.Namespace
	}
	return " in namespace " + m.Instances.Namespace
}

func operatorSection(m manual.Manual) Section {
	s := Section{Title: "OPERATOR"}
	if o := m.Operator; o.Name != "" {
		s.Blocks = append(s.Blocks, Block{Text: o.Title + ". " + o.Description})
		s.Blocks = append(s.Blocks, pairsOf(Pair{"Catalog", o.Name}, Pair{"Source", strings.Join(o.Source, " ")})...)
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
	t := &Table{Columns: []Column{{Name: "KIND", Truncate: Middle, MinWidth: leastName}, {Name: "DECLARED BY", DropOrder: 1, Truncate: End, MinWidth: 12}}}
	if looked {
		t.Columns = append(t.Columns, Column{Name: "OWNED", Right: true})
	}
	through := slices.ContainsFunc(m.Composition, func(p manual.Part) bool { return p.Via != "" })
	if through {
		t.Columns = append(t.Columns, Column{Name: "VIA", DropOrder: 2, Truncate: Middle, MinWidth: leastName})
	}
	for _, p := range m.Composition {
		origins, tone := "", Plain
		for _, d := range p.Declared {
			word, _, _ := strings.Cut(d, " ")
			origins = strings.TrimPrefix(origins+", "+word, ", ")
		}
		if origins == "" {
			origins, tone = "-", Faint
		}
		row := []Cell{{p.Kind, Plain}, {origins, tone}}
		if looked {
			count := Cell{fmt.Sprint(p.Observed), Plain}
			if p.Observed == 0 {
				count.Tone = Faint
			}
			row = append(row, count)
		}
		if through {
			row = append(row, Cell{p.Via, Faint})
		}
		t.Rows = append(t.Rows, row)
	}
	s.Blocks = append(s.Blocks, Block{Table: t})
	if looked {
		caption := fmt.Sprintf("OWNED counts the parts of the %d instances%s.", m.Instances.Count, scopeText(m))
		if m.Instances.Count == 1 {
			caption = "OWNED counts the parts of the one instance" + scopeText(m) + "."
		}
		s.Blocks = append(s.Blocks, Block{Text: caption})
	} else if m.Instances != (manual.Instances{}) && m.Instances.Complete {
		s.Blocks = append(s.Blocks, Block{Text: "OWNED is empty: no instance exists."})
	}
	return s
}
