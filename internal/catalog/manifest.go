package catalog

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// maxDepth is how deep manifests are nested at most.
const maxDepth = 100

func inlineProblem(text string) string {
	_, wrong := manifests(text, maxInlineBytes)
	return wrong
}

func exampleProblem(text string) string {
	_, wrong := manifests(text, maxExampleBytes)
	return wrong
}

// manifests reads a text that is YAML of objects, of most bytes, and says what is wrong with it.
func manifests(text string, most int) ([]*yaml.Node, string) {
	if len(text) > most {
		return nil, fmt.Sprintf("the text has %d bytes: expected at most %d", len(text), most)
	}
	documents, problem := strict.Documents([]byte(text))
	if problem != nil {
		return nil, fmt.Sprintf("in line %d of the text: %s", problem.Line, problem.Message)
	}
	if len(documents) == 0 {
		return nil, "the text has no object"
	}
	var objects []*yaml.Node
	var problems []string
	for _, d := range documents {
		switch wrong := notObject(d); {
		case d.Kind == yaml.ScalarNode && d.ShortTag() == "!!null":
		case wrong != "":
			problems = append(problems, fmt.Sprintf("in line %d of the text: %s", max(d.Line, 1), wrong))
		default:
			objects = append(objects, d)
		}
	}
	return objects, strings.Join(problems, "; ")
}

// notObject says why a document is no object; empty where it is one.
func notObject(d *yaml.Node) string {
	switch {
	case d.Kind != yaml.MappingNode:
		return "expected an object: a mapping with apiVersion and kind"
	case textOf(d, "apiVersion") == "" || textOf(d, "kind") == "":
		return "the object has no apiVersion or no kind"
	case !plainYAML(d, maxDepth):
		return "aliases, and content nested more than 100 deep, are not read: write the values out"
	}
	return ""
}

// plainYAML says that a node has no aliases in it and is not nested too deep.
func plainYAML(n *yaml.Node, depth int) bool {
	if depth == 0 || n.Kind == yaml.AliasNode {
		return false
	}
	return !slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return !plainYAML(c, depth-1) })
}

// textOf returns the text at a key of a mapping; empty where there is none.
func textOf(n *yaml.Node, key string) string {
	if v := strict.Value(n, key); v != nil && v.Kind == yaml.ScalarNode && v.ShortTag() != "!!null" {
		return v.Value
	}
	return ""
}

// exampleKinds checks that examples are of the APIs that a version provides.
func exampleKinds(m *strict.Mapping, list *yaml.Node, apis []solve.API) {
	for _, item := range list.Content {
		objects, _ := manifests(item.Value, maxExampleBytes)
		for _, o := range objects {
			if wrong := notExample(o, apis); wrong != "" {
				m.Report(item, "%s", wrong)
			}
		}
	}
}

// notExample says why an object is none of the APIs; empty where it is of one.
func notExample(o *yaml.Node, apis []solve.API) string {
	group, version, ok := strings.Cut(textOf(o, "apiVersion"), "/")
	if !ok {
		group, version = "", group
	}
	kind := textOf(o, "kind")
	if group != "" {
		kind += "." + group
	}
	i := slices.IndexFunc(apis, func(a solve.API) bool { return a.Kind == kind })
	if i < 0 {
		var names []string
		for _, a := range apis {
			names = append(names, a.Kind)
		}
		return "the example is a " + field.Shorten(kind) + ", which the version does not provide" + object.DidYouMean(object.Nearest(kind, names))
	}
	if !slices.Contains(apis[i].Versions, version) {
		return "the example is of version " + field.Shorten(version) + ": " + kind + " has " + strings.Join(apis[i].Versions, ", ")
	}
	if metadata := strict.Value(o, "metadata"); metadata == nil || textOf(metadata, "name")+textOf(metadata, "generateName") == "" {
		return "the example, a " + kind + ", has no name"
	}
	return ""
}

// free reads a value that may be anything that JSON has.
func free(m *strict.Mapping, n *yaml.Node) any {
	return strict.Free(n, func(_ string, n *yaml.Node, message string) { m.Report(n, "%s", message) })
}

// chartValues reads the values of a chart.
func chartValues(m *strict.Mapping, n *yaml.Node) map[string]any {
	switch {
	case n.Kind != yaml.MappingNode:
		m.Report(n, "expected a mapping of keys to values")
		return nil
	case textSize(n) > maxValuesBytes:
		m.Report(n, "the values have more than %d bytes", maxValuesBytes)
		return nil
	}
	return free(m, n).(map[string]any)
}

// textSize is about how many bytes a node has.
func textSize(n *yaml.Node) int {
	size := len(n.Value) + 1
	for _, child := range n.Content {
		size += textSize(child)
	}
	return size
}
