package catalog

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// documentKind is the kind that an entry says it is of.
const documentKind = "Operator"

// Parse reads an entry, which is kept in the file name.yaml. All that is wrong is told, with
// its place; of an entry with problems nothing is to be used.
func Parse(name string, data []byte) (Entry, []strict.Problem) {
	if len(data) > maxEntryBytes {
		return Entry{}, []strict.Problem{{Line: 1, Column: 1, Message: fmt.Sprintf("the entry has %d bytes: expected at most %d", len(data), maxEntryBytes)}}
	}
	root, problem := strict.Document(data)
	switch {
	case problem != nil:
		return Entry{}, []strict.Problem{*problem}
	case root == nil:
		return Entry{}, []strict.Problem{{Line: 1, Column: 1, Message: "the file is empty"}}
	}
	var e Entry
	m := &strict.Mapping{}
	more := func(problems []strict.Problem) { m.Problems = append(m.Problems, problems...) }
	var versions *yaml.Node
	installable := strict.Value(root, "versions") != nil
	m.Fields = []strict.Field{
		{Name: "apiVersion", Required: true, Set: func(n *yaml.Node) { m.Want(n, declare.APIVersion) }},
		{Name: "kind", Required: true, Set: func(n *yaml.Node) { m.Want(n, documentKind) }},
		{Name: "name", Required: true, Set: func(n *yaml.Node) { e.Name = nameAt(m, n, name) }},
		{Name: "title", Required: true, Set: func(n *yaml.Node) { e.Title = m.Text(n) }},
		{Name: "description", Required: true, Set: func(n *yaml.Node) { e.Description = m.Text(n) }},
		{Name: "source", Required: true, Set: func(n *yaml.Node) { e.Source = m.Texts(n) }},
		{Name: "kinds", Required: !installable, Set: func(n *yaml.Node) {
			var problems []strict.Problem
			e.Kinds, problems = parseKinds(n, data, installable)
			more(problems)
		}},
		{Name: "signals", Set: func(n *yaml.Node) {
			var problems []strict.Problem
			e.Signals, problems = parsePatterns(n)
			more(problems)
		}},
		{Name: "relations", Required: !installable, Set: func(n *yaml.Node) {
			var problems []strict.Problem
			e.Relations, problems = declare.FromNode(n, declare.Options{})
			more(problems)
		}},
		{Name: "versions", Set: func(n *yaml.Node) { versions = n }},
	}
	m.Read(root)
	if versions != nil {
		var problems []strict.Problem
		e.Versions, problems = parseVersions(versions, e.Kinds)
		more(problems)
	}
	return e, m.Problems
}

// nameAt reads the name of the entry, which is that of its file.
func nameAt(m *strict.Mapping, n *yaml.Node, name string) string {
	before := len(m.Problems)
	if m.Want(n, name); len(m.Problems) == before {
		labelAt(m, n)
	}
	return n.Value
}

// parseKinds reads the kinds of an entry. An entry that can be installed may have none.
func parseKinds(n *yaml.Node, text []byte, none bool) ([]Kind, []strict.Problem) {
	all := &strict.Mapping{}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 && !none {
		all.Report(n, "expected a list of the kinds that the operator defines")
		return nil, all.Problems
	}
	var kinds []Kind
	first := map[string]bool{}
	for _, item := range n.Content {
		var k Kind
		m := &strict.Mapping{}
		m.Fields = kindFields(m, &k, text)
		m.Read(item)
		switch {
		case !strings.Contains(k.Kind, "."):
			m.Report(item, "a custom kind is written Kind.group")
		case first[k.Kind]:
			m.Report(item, "a second %s: expected one", field.Shorten(k.Kind))
		}
		first[k.Kind] = true
		all.Problems = append(all.Problems, m.Problems...)
		kinds = append(kinds, k)
	}
	return kinds, all.Problems
}

// kindFields are the keys of a kind.
func kindFields(m *strict.Mapping, k *Kind, text []byte) []strict.Field {
	return []strict.Field{
		{Name: "kind", Required: true, Set: func(n *yaml.Node) { k.Kind = kindAt(m, n) }},
		{Name: "plural", Set: func(n *yaml.Node) { k.Plural = pluralAt(m, n) }},
		{Name: "versions", Required: true, Set: func(n *yaml.Node) { k.Versions = m.Texts(n) }},
		{Name: "clusterScoped", Set: func(n *yaml.Node) { k.ClusterScoped = m.Bool(n) }},
		{Name: "composes", Set: func(n *yaml.Node) {
			if n.Kind != yaml.SequenceNode {
				m.Report(n, "expected a list of kinds")
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
}
