// Package manpage lays the manual of a kind out as a page of sections.
package manpage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/manual"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// leastName is how much of a name is left where it is cut.
const leastName = 24

// Document is the manual of a kind (docs/schema/man.json).
type Document struct {
	view.Head     `json:",inline"`
	manual.Manual `json:",inline"`
	Gaps          []object.Gap `json:"gaps"`
}

// New returns the answer of the man command.
func New(m manual.Manual, gaps []object.Gap) view.Output {
	doc := Document{Head: view.Head{APIVersion: view.APIVersion, Kind: "Manual"}, Manual: m, Gaps: gaps}
	page := &view.Page{}
	for _, s := range []view.Section{
		nameSection(m), operatorSection(m), compositionSection(m), relationshipsSection(m), fieldsSection(m), columnsSection(m), usageSection(m), signalsSection(m), exampleSection(m), notesSection(m),
	} {
		if len(s.Blocks) > 0 {
			page.Sections = append(page.Sections, s)
		}
	}
	return view.Output{Page: page, Document: doc}
}

func nameSection(m manual.Manual) view.Section {
	r := m.Resource
	s := view.Section{Title: "NAME"}
	for i, paragraph := range strings.Split(strings.TrimSpace(r.Description), "\n\n") {
		switch {
		case i > 0:
			s.Blocks = append(s.Blocks, view.Block{Text: paragraph})
		case paragraph != "":
			s.Blocks = append(s.Blocks, view.Block{Text: r.Kind + " - " + paragraph})
		default:
			s.Blocks = append(s.Blocks, view.Block{Text: r.Kind})
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
	s.Blocks = append(s.Blocks, view.PairsOf(
		"Names", strings.Join(names, ", "), "Group", group, "Versions", versions(r), "Scope", scope,
		"Categories", strings.Join(r.Categories, ", "), "Definition", r.Definition, "Instances", instances(m),
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

func operatorSection(m manual.Manual) view.Section {
	s := view.Section{Title: "OPERATOR"}
	if o := m.Operator; o.Name != "" {
		s.Blocks = append(s.Blocks, view.Block{Text: o.Title + ". " + o.Description})
		s.Blocks = append(s.Blocks, view.PairsOf("Catalog", o.Name, "Source", strings.Join(o.Source, " "))...)
	}
	for _, r := range m.Running {
		s.Blocks = append(s.Blocks, view.PairsOf(
			"Running", r.Workload, "Image", strings.Join(r.Images, ", "), "Version", r.Version, "Evidence", strings.Join(r.Evidence, "; "),
		)...)
	}
	return s
}

func compositionSection(m manual.Manual) view.Section {
	s := view.Section{Title: "COMPOSITION"}
	if len(m.Composition) == 0 {
		return s
	}
	looked := m.Instances.Count > 0
	t := &view.Table{Columns: []view.Column{{Name: "KIND", Truncate: view.Middle, MinWidth: leastName}, {Name: "DECLARED BY", DropOrder: 1, Truncate: view.End, MinWidth: 12}}}
	if looked {
		t.Columns = append(t.Columns, view.Column{Name: "OWNED", Right: true})
	}
	through := slices.ContainsFunc(m.Composition, func(p manual.Part) bool { return p.Via != "" })
	if through {
		t.Columns = append(t.Columns, view.Column{Name: "VIA", DropOrder: 2, Truncate: view.Middle, MinWidth: leastName})
	}
	for _, p := range m.Composition {
		origins, tone := "", view.Plain
		for _, d := range p.Declared {
			word, _, _ := strings.Cut(d, " ")
			origins = strings.TrimPrefix(origins+", "+word, ", ")
		}
		if origins == "" {
			origins, tone = "-", view.Faint
		}
		row := []view.Cell{{Text: p.Kind}, {Text: origins, Tone: tone}}
		if looked {
			count := view.Cell{Text: fmt.Sprint(p.Observed)}
			if p.Observed == 0 {
				count.Tone = view.Faint
			}
			row = append(row, count)
		}
		if through {
			row = append(row, view.Cell{Text: p.Via, Tone: view.Faint})
		}
		t.Rows = append(t.Rows, row)
	}
	s.Blocks = append(s.Blocks, view.Block{Table: t})
	if looked {
		caption := fmt.Sprintf("OWNED counts the parts of the %d instances%s.", m.Instances.Count, scopeText(m))
		if m.Instances.Count == 1 {
			caption = "OWNED counts the parts of the one instance" + scopeText(m) + "."
		}
		s.Blocks = append(s.Blocks, view.Block{Text: caption})
	} else if m.Instances != (manual.Instances{}) && m.Instances.Complete {
		s.Blocks = append(s.Blocks, view.Block{Text: "OWNED is empty: no instance exists."})
	}
	return s
}

// signalsSection tells in a manual how an object is paused and stopped.
func signalsSection(m manual.Manual) view.Section {
	s := view.Section{Title: "SIGNALS"}
	for _, signal := range m.Signals {
		text := signal.Effect
		if signal.Caveat != "" {
			text += "; " + signal.Caveat
		}
		needs := ""
		if signal.AllowStop {
			needs = " (needs allowStop)"
		}
		s.Blocks = append(s.Blocks, view.Block{Pairs: []view.Pair{{Term: signal.Preset, Text: signal.Writes + needs}, {Text: signal.Mode + ": " + text}}})
	}
	if len(s.Blocks) > 0 {
		s.Blocks = append(s.Blocks, view.Block{Text: "kubectl sysop regulate signals has the sources."})
	}
	return s
}
