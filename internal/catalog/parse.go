package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// documentKind is the kind that an entry says it is of.
const documentKind = "Operator"

// parser reads one entry.
type parser struct {
	name string
	text []byte
	// read are the versions before the one that is read, by their number without build metadata.
	read map[string]string
	// later are checks of examples, which need the kinds of the whole entry.
	later []func(*strict.Mapping, []Kind)
}

// Parse reads an entry, which is kept in the file name.yaml. All that is wrong is reported,
// with its place; of an entry with problems nothing is to be used.
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
	p := &parser{name: name, text: data, read: map[string]string{}}
	var e Entry
	m := &strict.Mapping{}
	keys := m.Struct(root, &e, p.formats(), m.Head(declare.APIVersion, documentKind)...).Nodes
	// An entry that can be installed may be without kinds and relations.
	for _, key := range []string{"kinds", "relations"} {
		switch {
		case root.Kind != yaml.MappingNode || keys["versions"] != nil:
		case keys[key] == nil:
			m.Report(root, "%s is missing", key)
		case key == "kinds" && keys[key].Kind == yaml.SequenceNode && len(e.Kinds) == 0:
			m.Report(keys[key], "expected a list of the kinds that the operator defines")
		}
	}
	for _, check := range p.later {
		check(m, e.Kinds)
	}
	if len(m.Problems) == 0 {
		checkBackups(m, root, e.Kinds)
	}
	return e, m.Problems
}

// checkBackups checks that each backup is made by an object, or by hand.
func checkBackups(m *strict.Mapping, root *yaml.Node, kinds []Kind) {
	for i := range kinds {
		for j, b := range kinds[i].Backup {
			if (b.Object.Kind == "") == (b.Manual == "") {
				m.Report(strict.Lookup(root, []any{"kinds", i, "backup", j}), "expected an object that makes the backup, or manual, which says how it is made without one")
			}
		}
	}
}

// formats are what the tags of an entry name.
func (p *parser) formats() strict.Formats {
	all := textFormats()
	maps.Copy(all, strict.Formats{
		"name": p.entryName, "health": p.health, "signals": list(signals.Parse), "patterns": list(parsePatterns),
		"relations": list(func(n *yaml.Node) ([]declare.Spec, []strict.Problem) { return declare.FromNode(n, declare.Options{}) }),
		"version":   p.version, "requires": parseRequirement, "conflicts": parseConflict,
		"source": p.source, "chart": p.chart, "manifest": parseManifest, "image": parseImage, "values": chartValues,
	})
	return all
}

// list makes a reader of a list that returns its problems one of a field.
func list[T any](read func(*yaml.Node) ([]T, []strict.Problem)) func(*strict.Mapping, *yaml.Node) []T {
	return func(m *strict.Mapping, n *yaml.Node) []T {
		all, problems := read(n)
		m.Problems = append(m.Problems, problems...)
		return all
	}
}

// entryName reads the name of the entry, which is that of its file.
func (p *parser) entryName(m *strict.Mapping, n *yaml.Node) string {
	before := len(m.Problems)
	if m.Want(n, p.name); len(m.Problems) > before {
		return n.Value
	}
	if wrong := textFormats()["label"].(func(string) string)(n.Value); wrong != "" {
		m.Report(n, "%s", wrong)
	}
	return n.Value
}

// health reads the health of a kind: a rule, or a list of them for different versions.
func (p *parser) health(m *strict.Mapping, n *yaml.Node) []health.Rule {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = m.Items(n, "expected a rule, or a list of rules for different versions", 0)
	}
	var rules []health.Rule
	for _, item := range items {
		var r health.Rule
		one := &strict.Mapping{}
		one.Fields = health.RuleFields(one, &r, p.text)
		i := slices.IndexFunc(one.Fields, func(f strict.Field) bool { return f.Name == "source" })
		one.Fields[i].Required = true
		one.Read(item)
		if len(one.Problems) == 0 && r.Empty() {
			one.Report(item, "it is empty: expected degraded, progressing, suspended or healthy")
		}
		m.Problems = append(m.Problems, one.Problems...)
		if message := r.Second(rules); message != "" {
			m.Report(item, "%s", message)
		}
		rules = append(rules, r)
	}
	return rules
}

// isPattern says whether a text is a pattern of kinds: *.group, *.*.group.
func isPattern(text string) bool {
	group, ok := strings.CutPrefix(strings.TrimPrefix(text, "*."), "*.")
	if !ok {
		group, ok = strings.CutPrefix(text, "*.")
	}
	return ok && group != "" && !strings.Contains("."+group+".", "..") && !strings.Contains(group, "*")
}
