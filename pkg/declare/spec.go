// Package declare reads relationship rules that are written as data: in
// catalog entries, in files of users, in the annotation
// sysop.dev/relationships of a CustomResourceDefinition. docs/rules-file.md is
// its grammar.
//
// The words of the package:
//
//   - Spec, one declared relationship as it is written, checked.
//   - Evidence, the key that says how the relationship is known: field, selector,
//     host, label, annotation, name, template, podSpec.
//   - Reader, the end that is read; the other end is what it names.
//   - Reference, what a field holds: the text of a name, or an object with name,
//     namespace, kind and group.
//
// Parse computes and does not fetch. What a Spec says becomes rules by Rules.
package declare

import (
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Any is whatever kind a reference says, or every kind that is read.
const Any = "*"

// Spec is one declared relationship. Kinds are written Kind.group, paths and
// templates as docs/rules-file.md has them. The zero value of a field means that
// it was left out.
type Spec struct {
	From     []string `json:"from,omitempty" read:"kinds"`
	To       []string `json:"to,omitempty" read:"kinds"`
	Relation string   `json:"relation,omitempty"`

	// Exactly one of these is set.
	Field      string `json:"field,omitempty"`
	Selector   string `json:"selector,omitempty"`
	Host       string `json:"host,omitempty"`
	Label      string `json:"label,omitempty"`
	Annotation string `json:"annotation,omitempty"`
	Name       string `json:"name,omitempty"`
	Template   string `json:"template,omitempty"`
	PodSpec    string `json:"podSpec,omitempty"`

	Value      string `json:"value,omitempty"`
	Read       string `json:"read,omitempty"`
	Namespace  string `json:"namespace,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Group      string `json:"group,omitempty"`
	NameField  string `json:"nameField,omitempty"`
	Format     string `json:"format,omitempty"`
	Namespaces string `json:"namespaces,omitempty"`
	Empty      string `json:"empty,omitempty"`
	Absent     string `json:"absent,omitempty"`

	EmptyNamespaces string `json:"emptyNamespaces,omitempty"`
	Deletes         string `json:"deletes,omitempty"`

	// Versions are the API versions of objects that are read; none means every one.
	Versions []string    `json:"versions,omitempty" read:"versions"`
	When     []Condition `json:"when,omitempty" read:"conditions"`

	List       bool `json:"list,omitempty"`
	Everywhere bool `json:"everywhere,omitempty"`
	Optional   bool `json:"optional,omitempty"`
	Inferred   bool `json:"inferred,omitempty"`
	IfPresent  bool `json:"ifPresent,omitempty"`
	Terminal   bool `json:"leaf,omitempty"`
	Manages    bool `json:"manages,omitempty"`
	Crosses    bool `json:"crosses,omitempty"`
	Exposes    bool `json:"exposes,omitempty"`

	Rule   string `json:"rule,omitempty"`
	Source string `json:"source,omitempty"`
	// Line and Column are where the relation begins in its text, from 1.
	Line   int `json:"-"`
	Column int `json:"-"`
}

// Condition wants the field at Path to have one of Values, or to be absent where
// there are none.
type Condition struct {
	Path   string   `json:"path"`
	Values []string `json:"values,omitempty"`
}

// evidence names the key that says how the relationship is known, its value, and
// how an edge of it is known.
func (s *Spec) evidence() (key, value string, via relation.Via) {
	for _, e := range []struct {
		key, value string
		via        relation.Via
	}{
		{"field", s.Field, relation.Spec},
		{"selector", s.Selector, relation.Label},
		{"host", s.Host, relation.Spec},
		{"label", s.Label, relation.Label},
		{"annotation", s.Annotation, relation.Annotation},
		{"name", s.Name, relation.Spec},
		{"template", s.Template, relation.Spec},
		{"podSpec", s.PodSpec, relation.Spec},
	} {
		if e.value != "" {
			return e.key, e.value, e.via
		}
	}
	return "", "", 0
}

// Reader returns the kinds that are read, and the kinds that they name.
func (s *Spec) Reader() (read, named []string) {
	if s.Read == "to" {
		return s.To, s.From
	}
	return s.From, s.To
}

// Path returns the path that is read, for people: spec.secretName, or the label
// or annotation.
func (s *Spec) Path() string {
	key, value, _ := s.evidence()
	switch key {
	case "label":
		return field.Key("metadata.labels", value)
	case "annotation":
		return field.Key("metadata.annotations", value)
	case "name":
		return "metadata.name"
	}
	return value
}

// Paths returns the paths that begin at the object that is read, those of
// templates among them.
func (s *Spec) Paths() []string {
	var all []string
	for _, p := range []string{s.Field, s.Selector, s.Host, s.Template, s.PodSpec, s.Namespace, s.Kind, s.Group, s.Namespaces} {
		if p != "" && p[0] != '.' {
			all = append(all, p)
		}
	}
	if s.NameField != "" {
		all = append(all, s.Field+"."+strings.TrimPrefix(s.NameField, "."))
	}
	for _, c := range s.When {
		if c.Path[0] != '.' {
			all = append(all, c.Path)
		}
	}
	for _, text := range []string{s.Value, s.Name} {
		t, err := parseTemplate(text)
		if text == "" || err != nil {
			continue
		}
		for _, p := range t.paths {
			all = append(all, p.String())
		}
	}
	return all
}
