package krew

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// read says whether there is a manifest to judge.
func (l *linter) read(text []byte) bool {
	l.lines = map[string]int{"": 1}
	const remedy = "write one YAML document with apiVersion, kind, metadata and spec"
	root, problem := strict.Document(text)
	if problem != nil {
		l.lines[""] = problem.Line
		l.add(ruleDocument, "", remedy, "%s", problem.Message)
		return false
	}
	if root == nil || root.Kind != yaml.MappingNode {
		l.add(ruleDocument, "", remedy, "no manifest in it")
		return false
	}
	l.walk("", root, field.OfType(reflect.TypeFor[Manifest]()))
	m, err := Parse(text)
	if err != nil {
		l.add(ruleDocument, "", remedy, "krew cannot read it: %s", oneLine(err.Error()))
		return false
	}
	l.manifest = m
	return true
}

// walk notes the lines of all fields below a node, and tells of those that there are not.
func (l *linter) walk(path string, n *yaml.Node, shape field.Shape) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.SequenceNode:
		item, ok := shape.Item()
		for i, v := range n.Content {
			at := field.Item(path, i)
			l.lines[at] = v.Line
			if ok {
				l.walk(at, v, item)
			}
		}
	case yaml.MappingNode:
		l.walkMapping(path, n, shape)
	}
}

func (l *linter) walkMapping(path string, n *yaml.Node, shape field.Shape) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := field.Join(path, key.Value)
		if _, twice := l.lines[at]; twice {
			l.lines[at] = key.Line
			l.add(ruleUnknownField, at, "leave one of them", "written twice: krew takes the last")
		}
		l.lines[at] = key.Line
		inner, ok := shape.Field(key.Value)
		if !ok {
			l.add(ruleUnknownField, at, "one of: "+strings.Join(shape.Names(), ", "), "no field of a manifest")
			continue
		}
		if at == "metadata" {
			inner = field.OfType(reflect.TypeFor[metav1.ObjectMeta]())
		}
		l.walk(at, value, inner)
	}
}

// line is that of a field or, where it is missing, of what it is missing in.
func (l *linter) line(path string) int {
	for path != "" {
		if n, ok := l.lines[path]; ok {
			return n
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return l.lines[""]
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
