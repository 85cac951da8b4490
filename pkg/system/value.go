package system

import (
	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// maxDepth is how deep free values are nested at most.
const maxDepth = 100

// value reads what is free: an object, a body of a patch, values of templates. The numbers
// are int64 and float64, as they are in objects that come from a cluster. Aliases and merge
// keys are not read, so that a value is never larger than its text.
func (s scope) value(n *yaml.Node) any { return s.nested(n, maxDepth) }

func (s scope) nested(n *yaml.Node, depth int) any {
	if depth == 0 {
		s.report(n, "it is nested more than %d deep", maxDepth)
		return nil
	}
	switch n.Kind {
	case yaml.MappingNode:
		return s.valueMapping(n, depth)
	case yaml.SequenceNode:
		all := make([]any, 0, len(n.Content))
		for i, item := range n.Content {
			all = append(all, s.at(i).nested(item, depth-1))
		}
		return all
	case yaml.ScalarNode:
		return s.scalar(n)
	}
	s.report(n, "aliases are not read: write the value out")
	return nil
}

func (s scope) valueMapping(n *yaml.Node, depth int) map[string]any {
	all := map[string]any{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		_, twice := all[k.Value]
		switch {
		case k.ShortTag() == "!!merge":
			s.report(k, "merge keys are not read: write the fields out")
		case k.Kind != yaml.ScalarNode || k.ShortTag() != "!!str":
			s.report(k, "the key %s is not a string: put it in quotes", field.Shorten(k.Value))
		case twice:
			s.report(k, "a second %s: expected one", field.Shorten(k.Value))
		default:
			all[k.Value] = s.in(field.Shorten(k.Value)).nested(v, depth-1)
		}
	}
	return all
}

func (s scope) scalar(n *yaml.Node) any {
	value, ok := strict.Scalar(n)
	if !ok {
		s.report(n, strict.NoScalar, field.Shorten(n.Value))
	}
	return value
}

// object reads a free mapping.
func (s scope) object(n *yaml.Node) map[string]any {
	if n.Kind != yaml.MappingNode {
		s.report(n, "expected a mapping of keys to values")
		return nil
	}
	return s.nested(n, maxDepth).(map[string]any)
}
