package declare

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// evidenceKeys in the order in which messages list them.
const evidenceKeys = "field, selector, host, label, annotation, name, template or podSpec"

// goes says with which evidence a key means something.
var goes = map[string][]string{
	"value":      {"label", "annotation"},
	"list":       {"label", "annotation"},
	"namespace":  {"field", "label", "annotation", "name"},
	"kind":       {"field"},
	"group":      {"field"},
	"nameField":  {"field"},
	"format":     {"field", "host"},
	"namespaces": {"selector", "label", "annotation"},
	"empty":      {"selector"},
	"absent":     {"selector"},

	"emptyNamespaces": {"selector", "label", "annotation"},

	"everywhere": {"selector", "label", "annotation"},
	"read":       {"field", "label", "annotation", "name"},
}

// check says what is wrong with a relation whose keys are all right by
// themselves.
func (p *parser) check(s *Spec, n *yaml.Node) {
	key, _, _ := s.evidence()
	if !p.one(key, n) {
		return
	}
	p.ends(s, key, n)
	for _, k := range slices.Sorted(maps.Keys(goes)) {
		if given := p.Nodes[k]; given != nil && !slices.Contains(goes[k], key) {
			p.Report(given, "%s has no effect beside %s", k, key)
		}
	}
	for _, c := range []struct {
		key, got string
		choices  []string
	}{
		{"read", s.Read, []string{"from", "to"}},
		{"format", s.Format, formats(key)},
		{"empty", s.Empty, []string{"all", "none"}},
		{"absent", s.Absent, []string{"all", "none"}},
		{"emptyNamespaces", s.EmptyNamespaces, []string{"all", "own"}},
	} {
		if c.got != "" && !slices.Contains(c.choices, c.got) {
			p.Report(p.Nodes[c.key], "unknown %s %q: expected %s", c.key, field.Shorten(c.got), strings.Join(c.choices, " or "))
		}
	}
	p.paths(s, key)
	if s.Manages && s.Relation != "owns" {
		p.Report(p.Nodes["manages"], "manages goes with relation: owns")
	}
	p.deletes(s)
	if s.Exposes && s.Relation != "serves" {
		p.Report(p.Nodes["exposes"], "exposes goes with relation: serves")
	}
	if s.Value != "" && s.List {
		p.Report(p.Nodes["list"], "list has no effect beside value")
	}
	if s.Namespaces != "" && s.Everywhere {
		p.Report(p.Nodes["everywhere"], "everywhere and namespaces exclude each other")
	}
}

// deletes checks what becomes of an object when its owner is deleted.
func (p *parser) deletes(s *Spec) {
	n := p.Nodes["deletes"]
	switch {
	case n == nil:
	case s.Relation != "owns":
		p.Report(n, "deletes goes with relation: owns")
	case s.Deletes == relation.Always, s.Deletes == relation.Never:
	case len(content.IsLabelKey(s.Deletes)) > 0:
		p.Report(n, "%q is not a finalizer: expected %s, %s, or the finalizer of from by which its controller deletes to", field.Shorten(s.Deletes), relation.Always, relation.Never)
	}
}

// formats are those in which the text of an evidence may be written.
func formats(key string) []string {
	if key == "host" {
		return []string{"fqdn"}
	}
	return []string{"inventory"}
}

// one says whether there is exactly one evidence.
func (p *parser) one(first string, n *yaml.Node) bool {
	if first == "" {
		p.Report(n, "the evidence of the relation is missing: expected one of %s", evidenceKeys)
		return false
	}
	for _, k := range []string{"field", "selector", "host", "label", "annotation", "name", "template", "podSpec"} {
		if p.Nodes[k] != nil && k != first {
			p.Report(p.Nodes[k], "%s and %s exclude each other: expected one of them", first, k)
			return false
		}
	}
	return true
}

// ends checks from, to and relation.
func (p *parser) ends(s *Spec, key string, n *yaml.Node) {
	pods := key == "template" || key == "podSpec"
	switch {
	case p.o.Self == "":
	case s.From == nil:
		s.From = []string{p.o.Self}
	case s.To == nil && !pods && key != "host":
		s.To = []string{p.o.Self}
	case !slices.Contains(s.From, p.o.Self) && !slices.Contains(s.To, p.o.Self):
		p.Report(n, "neither from nor to is %s, whose CRD has this", p.o.Self)
	}
	if s.From == nil {
		p.Report(n, "from is missing")
	}
	if pods || key == "host" {
		if s.To != nil {
			p.Report(p.Nodes["to"], "to has no effect beside %s", key)
		}
	} else if s.To == nil {
		p.Report(n, "to is missing")
	}
	switch _, ok := relation.ParseRelation(s.Relation); {
	case pods && s.Relation != "":
		p.Report(p.Nodes["relation"], "relation has no effect beside %s: the rules of pods have their own", key)
	case pods, ok:
	case s.Relation == "":
		p.Report(n, "relation is missing: expected owns, needs or serves")
	default:
		p.Report(p.Nodes["relation"], "unknown relation %q: expected owns, needs or serves", field.Shorten(s.Relation))
	}
	read, named := s.Reader()
	if slices.Contains(read, Any) && key != "label" && key != "annotation" {
		p.Report(n, `"*" is read by its labels and annotations only`)
	}
	if slices.Contains(named, Any) && key != "field" {
		p.Report(n, `"*" is named by a reference only: expected field`)
	}
}

// paths checks what is written in the languages of paths and templates.
func (p *parser) paths(s *Spec, key string) {
	for _, f := range []struct{ key, text string }{
		{"field", s.Field},
		{"selector", s.Selector},
		{"host", s.Host},
		{"template", s.Template},
		{"podSpec", s.PodSpec},
		{"namespace", s.Namespace},
		{"kind", s.Kind},
		{"group", s.Group},
		{"nameField", s.NameField},
		{"namespaces", s.Namespaces},
	} {
		if f.text == "" {
			continue
		}
		_, relative, err := parsePath(f.text)
		switch own := f.key == key; {
		case err != nil:
			p.Report(p.Nodes[f.key], "%v", err)
		case relative && (own || key != "field"):
			p.Report(p.Nodes[f.key], "a path that starts with a dot is relative to a reference: there is none")
		}
	}
	for _, c := range s.When {
		if c.Path[0] == '.' && slices.Contains([]string{"label", "annotation", "name"}, key) {
			p.Report(p.Nodes["when"], "when: a path that starts with a dot is relative to a reference: there is none")
		}
	}
	for _, f := range []struct{ key, text string }{{"value", s.Value}, {"name", s.Name}} {
		if f.text == "" {
			continue
		}
		if _, err := parseTemplate(f.text); err != nil {
			p.Report(p.Nodes[f.key], "%v", err)
		}
	}
	for _, f := range []struct{ key, text string }{{"label", s.Label}, {"annotation", s.Annotation}} {
		if f.text != "" && len(content.IsLabelKey(strings.ToLower(f.text))) > 0 {
			p.Report(p.Nodes[f.key], "%q is not a valid key: expected prefix/name", field.Shorten(f.text))
		}
	}
}
