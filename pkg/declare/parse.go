package declare

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Options say how declarations are read.
type Options struct {
	// Self is the kind of a from or to that is left out, as in the
	// annotation of a definition; empty where both must be written.
	Self string
	// Kinds are those of the cluster, which a kind may be named after without its
	// group; nil where no cluster is known.
	Kinds *object.Kinds
}

// maxSpecs bounds a list, and its problems.
const maxSpecs = 1000

// ParseList reads a YAML list of relations. A relation with problems is left out,
// and its problems are returned.
func ParseList(text []byte, o Options) ([]Spec, []strict.Problem) {
	root, problem := strict.Document(text)
	switch {
	case problem != nil:
		return nil, []strict.Problem{*problem}
	case root == nil:
		return nil, []strict.Problem{{Line: 1, Column: 1, Message: "the value is empty: expected a list of relations"}}
	}
	return FromNode(root, o)
}

// ParseFile reads a document of kind Relationships.
func ParseFile(data []byte) ([]Spec, []strict.Problem) {
	root, problem := strict.Document(data)
	switch {
	case problem != nil:
		return nil, []strict.Problem{*problem}
	case root == nil || root.Kind != yaml.MappingNode:
		return nil, []strict.Problem{{Line: 1, Column: 1, Message: "expected a document of apiVersion " + APIVersion + ", kind " + FileKind + ", with relations"}}
	}
	var specs []Spec
	var relations *yaml.Node
	d := strict.Mapping{}
	d.Fields = append(d.Head(APIVersion, FileKind), strict.Field{Name: "relations", Required: true, Set: func(n *yaml.Node) { relations = n }})
	d.Read(root)
	if relations != nil {
		list, problems := FromNode(relations, Options{})
		specs, d.Problems = list, append(d.Problems, problems...)
	}
	return specs, d.Problems
}

// What a file of rules says it is.
const (
	APIVersion = "sysop.dev/v1alpha1"
	FileKind   = "Relationships"
)

// FromNode reads a list of relations that is part of a larger document.
func FromNode(n *yaml.Node, o Options) ([]Spec, []strict.Problem) {
	if n.Kind != yaml.SequenceNode {
		return nil, []strict.Problem{strict.At(n, "expected a list of relations")}
	}
	var specs []Spec
	var problems []strict.Problem
	for i, item := range n.Content {
		if i == maxSpecs {
			problems = append(problems, strict.At(item, "%d relations in a list: expected at most %d; the rest is ignored", len(n.Content), maxSpecs))
			break
		}
		p := parser{o: o}
		s := p.relation(item)
		if len(p.Problems) > 0 {
			problems = append(problems, p.Problems...)
			continue
		}
		specs = append(specs, s)
	}
	return specs, problems
}

// parser reads one relation.
type parser struct {
	strict.Mapping
	o Options
}

func (p *parser) relation(n *yaml.Node) Spec {
	s := Spec{Line: n.Line, Column: n.Column}
	p.Fields = p.FieldsOf(&s, strict.Formats{"kinds": p.kinds, "versions": (*strict.Mapping).APIVersions, "conditions": conditions})
	p.Read(n)
	if len(p.Problems) == 0 {
		p.check(&s, n)
	}
	return s
}

// kinds reads a kind or a list of kinds.
func (p *parser) kinds(_ *strict.Mapping, n *yaml.Node) []string {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	if len(items) == 0 {
		p.Report(n, "the list of kinds is empty")
	}
	var all []string
	for _, item := range items {
		text := p.Text(item)
		if text == "" {
			continue
		}
		kind, wrong := checkKind(text, p.o.Kinds)
		switch {
		case wrong != "":
			p.Report(item, "%q %s", field.Shorten(text), wrong)
		case slices.Contains(all, kind):
			p.Report(item, "%s occurs twice", kind)
		default:
			all = append(all, kind)
		}
	}
	if len(all) > 1 && slices.Contains(all, Any) {
		p.Report(n, `"*" is every kind: it excludes others`)
	}
	return all
}

func conditions(m *strict.Mapping, n *yaml.Node) []Condition {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		m.Report(n, "expected {PATH: VALUE}")
		return nil
	}
	var all []Condition
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		c := Condition{Path: key.Value}
		if _, _, err := parsePath(c.Path); err != nil {
			m.Report(key, "%v", err)
		}
		items := []*yaml.Node{value}
		if value.Kind == yaml.SequenceNode {
			items = value.Content
		}
		for _, item := range items {
			switch {
			case item.Kind != yaml.ScalarNode:
				m.Report(item, "expected a value or a list of values")
			case item.Tag != "!!null":
				c.Values = append(c.Values, item.Value)
			case value.Kind == yaml.SequenceNode:
				c.Values = append(c.Values, "") // absent, or one of the others
			}
		}
		all = append(all, c)
	}
	return all
}
