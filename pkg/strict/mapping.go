// Package strict reads YAML that people write, strictly: a key that is unknown,
// repeated, missing or of another type is a Problem with its place, and all problems
// of a text are reported at once. Files of rules, entries of the catalog, price books
// and System manifests are read by it.
//
// A Mapping reads by a table of its keys. Struct makes that table of the tags of a
// struct, and StructNode writes the struct again.
package strict

import (
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Mapping reads one YAML mapping strictly: a key that is unknown, repeated, missing
// or of another type is a Problem with its place.
type Mapping struct {
	Fields   []Field
	Problems []Problem
	// Nodes are the values that were read, by key.
	Nodes map[string]*yaml.Node
}

// Field is a key of a Mapping, and the function that takes its value.
type Field struct {
	Name     string
	Required bool
	Set      func(*yaml.Node)
}

// Report notes a problem at a node.
func (m *Mapping) Report(n *yaml.Node, format string, args ...any) {
	m.Problems = append(m.Problems, At(n, format, args...))
}

// Read passes each value of n to its field.
func (m *Mapping) Read(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		m.Report(n, "expected a mapping of keys to values")
		return
	}
	m.Nodes = map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		f := slices.IndexFunc(m.Fields, func(f Field) bool { return f.Name == key.Value })
		switch {
		case key.Kind != yaml.ScalarNode || f < 0:
			m.Report(key, "unknown key %q%s", field.Shorten(key.Value), object.DidYouMean(object.Nearest(key.Value, m.names())))
		case m.Nodes[key.Value] != nil:
			m.Report(key, "a second %s: expected one", key.Value)
		case value.Kind == yaml.AliasNode:
			m.Report(value, "aliases are not read: write the value out")
		default:
			m.Nodes[key.Value] = value
			m.Fields[f].Set(value)
		}
	}
	for _, f := range m.Fields {
		if f.Required && m.Nodes[f.Name] == nil {
			m.Report(n, "%s is missing", f.Name)
		}
	}
}

// KeyOf is the key whose value a node is.
func (m *Mapping) KeyOf(n *yaml.Node) string {
	for key, value := range m.Nodes {
		if value == n {
			return key
		}
	}
	return ""
}

func (m *Mapping) names() []string {
	var all []string
	for _, f := range m.Fields {
		all = append(all, f.Name)
	}
	return all
}

// Text returns a text, which must not be empty.
func (m *Mapping) Text(n *yaml.Node) string {
	switch {
	case n.Kind != yaml.ScalarNode || n.Tag == "!!null":
		m.Report(n, "expected a string")
		return ""
	case n.Value == "":
		m.Report(n, "the string is empty")
	}
	return n.Value
}

// Bool returns true or false.
func (m *Mapping) Bool(n *yaml.Node) bool {
	var b bool
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" || n.Decode(&b) != nil {
		m.Report(n, "expected true or false")
	}
	return b
}

// Texts returns a list of texts; one text is a list of one.
func (m *Mapping) Texts(n *yaml.Node) []string {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	var all []string
	for _, item := range items {
		if t := m.Text(item); t != "" {
			all = append(all, t)
		}
	}
	return all
}

// apiVersion is the name of a version of an API.
var apiVersion = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)

// IsAPIVersion says whether a text is the name of a version of an API: v1, v1beta2.
func IsAPIVersion(text string) bool { return apiVersion.MatchString(text) }

// APIVersions returns a list of names of API versions, which must not be empty.
func (m *Mapping) APIVersions(n *yaml.Node) []string {
	all := m.Texts(n)
	for _, v := range all {
		if !IsAPIVersion(v) {
			m.Report(n, "%q is not an API version: expected v1, v1beta2 or the like", field.Shorten(v))
		}
	}
	if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		m.Report(n, "the list of versions is empty")
	}
	return all
}

// Want reports a text that is not the expected one.
func (m *Mapping) Want(n *yaml.Node, want string) {
	if n.Kind != yaml.ScalarNode || n.Value != want {
		m.Report(n, "got %q: expected %s", field.Shorten(n.Value), want)
	}
}

// Head returns the fields by which a document says what it is, both required.
func (m *Mapping) Head(apiVersion, kind string) []Field {
	return []Field{
		{Name: "apiVersion", Required: true, Set: func(n *yaml.Node) { m.Want(n, apiVersion) }},
		{Name: "kind", Required: true, Set: func(n *yaml.Node) { m.Want(n, kind) }},
	}
}

// Entries passes on the keys and values of a mapping whose keys are free. Each key
// occurs once.
func (m *Mapping) Entries(n *yaml.Node, each func(key string, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		m.Report(n, "expected a mapping of names to values")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || key.Value == "":
			m.Report(key, "expected a name")
		case seen[key.Value]:
			m.Report(key, "a second %s: expected one", field.Shorten(key.Value))
		case value.Kind == yaml.AliasNode:
			m.Report(value, "aliases are not read: write the value out")
		default:
			seen[key.Value] = true
			each(key.Value, value)
		}
	}
}
