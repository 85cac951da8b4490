package catalog

import (
	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// maxDepth is how deep free values are nested at most.
const maxDepth = 100

// valuesAt reads the values of a chart: what JSON has, with numbers as int64 and float64.
// Aliases and merge keys are not read, so that values are never larger than their text.
func valuesAt(m *strict.Mapping, n *yaml.Node) map[string]any {
	if n.Kind != yaml.MappingNode {
		m.Report(n, "expected a mapping of keys to values")
		return nil
	}
	v := values{Mapping: m, left: maxValuesBytes}
	all, _ := v.nested(n, maxDepth).(map[string]any)
	if v.left < 0 {
		m.Report(n, "the values have more than %d bytes", maxValuesBytes)
		return nil
	}
	return all
}

type values struct {
	*strict.Mapping
	left int // bytes that may still be read
}

func (v *values) nested(n *yaml.Node, depth int) any {
	if depth == 0 {
		v.Report(n, "it is nested more than %d deep", maxDepth)
		return nil
	}
	if v.left -= len(n.Value) + 1; v.left < 0 {
		return nil
	}
	switch n.Kind {
	case yaml.MappingNode:
		return v.mapping(n, depth)
	case yaml.SequenceNode:
		all := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			all = append(all, v.nested(item, depth-1))
		}
		return all
	case yaml.ScalarNode:
		return v.scalar(n)
	}
	v.Report(n, "aliases are not read: write the value out")
	return nil
}

func (v *values) mapping(n *yaml.Node, depth int) map[string]any {
	all := map[string]any{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		v.left -= len(key.Value)
		_, twice := all[key.Value]
		switch {
		case key.ShortTag() == "!!merge":
			v.Report(key, "merge keys are not read: write the fields out")
		case key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str":
			v.Report(key, "the key %s is not a string: put it in quotes", field.Shorten(key.Value))
		case twice:
			v.Report(key, "a second %s: expected one", field.Shorten(key.Value))
		default:
			all[key.Value] = v.nested(value, depth-1)
		}
	}
	return all
}

func (v *values) scalar(n *yaml.Node) any {
	value, ok := strict.Scalar(n)
	if !ok {
		v.Report(n, strict.NoScalar, field.Shorten(n.Value))
	}
	return value
}
