package strict

import (
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// maxFreeDepth is how deep free values are nested at most.
const maxFreeDepth = 100

// Free reads a value that may be anything that JSON has, with numbers as int64 and float64, as
// they are in objects that come from a cluster. Aliases and merge keys are not read, so that a
// value is never larger than its text. What is wrong is reported with the path below the value:
// .spec.ports[1].
func Free(n *yaml.Node, report func(path string, n *yaml.Node, message string)) any {
	return free{report}.value("", n, maxFreeDepth)
}

type free struct {
	report func(path string, n *yaml.Node, message string)
}

func (f free) value(path string, n *yaml.Node, depth int) any {
	if depth == 0 {
		f.report(path, n, fmt.Sprintf("it is nested more than %d deep", maxFreeDepth))
		return nil
	}
	switch n.Kind {
	case yaml.MappingNode:
		return f.mapping(path, n, depth)
	case yaml.SequenceNode:
		all := make([]any, 0, len(n.Content))
		for i, item := range n.Content {
			all = append(all, f.value(path+"["+strconv.Itoa(i)+"]", item, depth-1))
		}
		return all
	case yaml.ScalarNode:
		value, ok := Scalar(n)
		if !ok {
			f.report(path, n, field.Shorten(n.Value)+" is not a JSON value: expected a string, a number, true, false or null")
		}
		return value
	}
	f.report(path, n, "aliases are not read: write the value out")
	return nil
}

func (f free) mapping(path string, n *yaml.Node, depth int) map[string]any {
	all := map[string]any{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		_, twice := all[key.Value]
		switch {
		case key.ShortTag() == "!!merge":
			f.report(path, key, "merge keys are not read: write the fields out")
		case key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str":
			f.report(path, key, "the key "+field.Shorten(key.Value)+" is not a string: put it in quotes")
		case twice:
			f.report(path, key, "a second "+field.Shorten(key.Value)+": expected one")
		default:
			all[key.Value] = f.value(path+"."+field.Shorten(key.Value), value, depth-1)
		}
	}
	return all
}
