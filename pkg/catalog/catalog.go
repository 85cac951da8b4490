// Package catalog is what the project knows of operators: an entry an operator,
// written as YAML in catalog/, compiled into the binary.
//
// entries.go is made of the YAML by go generate, since to parse all of it takes
// longer than to answer a question; a test holds the two equal.
package catalog

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

//go:generate go test . -run TestCompiled -update
//go:generate go test . -run TestPage -update
//go:generate go test . -run TestSignalsPage -update

// Entry is what is known of one operator.
type Entry struct {
	// Name is that of the file: cert-manager.
	Name string `json:"name"`
	// Title is its name for people, Description one sentence of what it does.
	Title       string `json:"title"`
	Description string `json:"description"`
	// Source says where its API is published.
	Source []string `json:"source"`
	Kinds  []Kind   `json:"kinds"`
	// Signals are those of kinds that no entry can name, by pattern: *.kro.run.
	Signals []regulate.Signal `json:"signals,omitempty"`
	// Relations are the relationship rules, by themselves not bound to a cluster.
	Relations []declare.Spec `json:"relations"`
}

// Kind is a custom kind that an operator defines.
type Kind struct {
	// Kind is written Kind.group.
	Kind     string   `json:"kind"`
	Versions []string `json:"versions"`
	// ClusterScoped says that its objects have no namespace.
	ClusterScoped bool `json:"clusterScoped,omitempty"`
	// Composes lists the kinds of objects that the operator makes for an instance
	// and owns. It is a statement, from which no edge follows.
	Composes []string `json:"composes,omitempty"`
	// Health says how the objects fare, after the operator's API; without a kind and an
	// origin, which Health fills in.
	Health health.Rule `json:"health,omitzero"`
	// Signals say how an object is held, after the operator's API; without a kind and an
	// origin, which Signals fills in.
	Signals []regulate.Signal `json:"signals,omitempty"`
}

// All returns every entry, by name. The entries are shared: they must not be
// changed.
func All() []Entry { return entries }

// Of returns the entries of the operators that define a served kind.
func Of(kinds *object.Kinds) []Entry {
	var out []Entry
	for _, e := range entries {
		if slices.ContainsFunc(e.Kinds, func(k Kind) bool { return served(k.Kind, kinds) }) {
			out = append(out, e)
		}
	}
	return out
}

// KindOf returns what is known of a kind, and of whose it is.
func KindOf(r object.Resource) (Entry, Kind, bool) {
	for _, e := range entries {
		for _, k := range e.Kinds {
			if k.Kind == r.GroupKind().String() {
				return e, k, true
			}
		}
	}
	return Entry{}, Kind{}, false
}

// Rules returns the rules of the operators that are there: of each entry of which
// the cluster serves a kind, the relations that read something it serves.
func Rules(kinds *object.Kinds) []relation.Rule {
	var rules []relation.Rule
	for _, e := range Of(kinds) {
		rules = append(rules, e.Rules(kinds)...)
	}
	return rules
}

// Rules returns the rules of the entry that read a kind which the cluster serves.
func (e Entry) Rules(kinds *object.Kinds) []relation.Rule {
	specs := make([]*declare.Spec, 0, len(e.Relations))
	there := map[string]bool{declare.Any: true}
	for i := range e.Relations {
		read, _ := e.Relations[i].Reader()
		for _, kind := range read {
			is, known := there[kind]
			if !known {
				is = served(kind, kinds)
				there[kind] = is
			}
			if is {
				specs = append(specs, &e.Relations[i])
				break
			}
		}
	}
	if e.Name == "crossplane" {
		more := crossplane(kinds)
		for i := range more {
			specs = append(specs, &more[i])
		}
	}
	return declare.RulesOf(specs, e.Name, e.Origin(), kinds)
}

// Origin is how the rules of the entry are told from others.
func (e Entry) Origin() string { return "catalogue " + e.Name }

func served(kind string, kinds *object.Kinds) bool {
	_, ok := kinds.Kind(declare.GroupKind(kind))
	return ok
}

// Parse reads an entry, which is kept in the file name.yaml.
func Parse(name string, data []byte) (Entry, []strict.Problem) {
	root, problem := strict.Document(data)
	switch {
	case problem != nil:
		return Entry{}, []strict.Problem{*problem}
	case root == nil:
		return Entry{}, []strict.Problem{{Line: 1, Column: 1, Message: "the file is empty"}}
	}
	var e Entry
	m := &strict.Mapping{}
	var more []strict.Problem
	m.Fields = []strict.Field{
		{Name: "apiVersion", Required: true, Set: func(n *yaml.Node) { m.Want(n, declare.APIVersion) }},
		{Name: "kind", Required: true, Set: func(n *yaml.Node) { m.Want(n, "Operator") }},
		{Name: "name", Required: true, Set: func(n *yaml.Node) { m.Want(n, name); e.Name = n.Value }},
		{Name: "title", Required: true, Set: func(n *yaml.Node) { e.Title = m.Text(n) }},
		{Name: "description", Required: true, Set: func(n *yaml.Node) { e.Description = m.Text(n) }},
		{Name: "source", Required: true, Set: func(n *yaml.Node) { e.Source = m.Texts(n) }},
		{Name: "kinds", Required: true, Set: func(n *yaml.Node) { e.Kinds, more = parseKinds(n, data); m.Problems = append(m.Problems, more...) }},
		{Name: "signals", Set: func(n *yaml.Node) { e.Signals, more = parsePatterns(n); m.Problems = append(m.Problems, more...) }},
		{Name: "relations", Required: true, Set: func(n *yaml.Node) {
			e.Relations, more = declare.FromNode(n, declare.Options{})
			m.Problems = append(m.Problems, more...)
		}},
	}
	m.Read(root)
	return e, m.Problems
}

func parseKinds(n *yaml.Node, text []byte) ([]Kind, []strict.Problem) {
	all := &strict.Mapping{}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		all.Report(n, "want a list of the kinds that the operator defines")
	}
	var kinds []Kind
	for _, item := range n.Content {
		var k Kind
		m := &strict.Mapping{}
		m.Fields = []strict.Field{
			{Name: "kind", Required: true, Set: func(n *yaml.Node) { k.Kind = kindAt(m, n) }},
			{Name: "versions", Required: true, Set: func(n *yaml.Node) { k.Versions = m.Texts(n) }},
			{Name: "clusterScoped", Set: func(n *yaml.Node) { k.ClusterScoped = m.Bool(n) }},
			{Name: "composes", Set: func(n *yaml.Node) {
				if n.Kind != yaml.SequenceNode {
					m.Report(n, "want a list of kinds")
				}
				for _, item := range n.Content {
					k.Composes = append(k.Composes, kindAt(m, item))
				}
			}},
			{Name: "health", Set: func(n *yaml.Node) {
				var problems []strict.Problem
				k.Health, problems = parseHealth(n, text)
				m.Problems = append(m.Problems, problems...)
			}},
			{Name: "signals", Set: func(n *yaml.Node) {
				var problems []strict.Problem
				k.Signals, problems = regulate.ParseSignals(n)
				m.Problems = append(m.Problems, problems...)
			}},
		}
		m.Read(item)
		if !strings.Contains(k.Kind, ".") {
			m.Report(item, "a custom kind is written Kind.group")
		}
		all.Problems = append(all.Problems, m.Problems...)
		kinds = append(kinds, k)
	}
	return kinds, all.Problems
}

func kindAt(m *strict.Mapping, n *yaml.Node) string {
	text := m.Text(n)
	if wrong := declare.CheckKind(text); text != "" && wrong != "" {
		m.Report(n, "%q %s", text, wrong)
	}
	return text
}

// String returns the title with the name.
func (e Entry) String() string { return fmt.Sprintf("%s (%s)", e.Title, e.Name) }
