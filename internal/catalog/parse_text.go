package catalog

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// inlineAt reads manifests that stand in the entry.
func inlineAt(m *strict.Mapping, n *yaml.Node) string {
	text, _ := manifestsAt(m, n, maxInlineBytes)
	return text
}

// manifestsAt reads a text that is YAML of objects, of most bytes.
func manifestsAt(m *strict.Mapping, n *yaml.Node, most int) (string, []*yaml.Node) {
	text := m.Text(n)
	if text == "" {
		return "", nil
	}
	if len(text) > most {
		m.Report(n, "the text has %d bytes: expected at most %d", len(text), most)
		return "", nil
	}
	documents, problem := strict.Documents([]byte(text))
	if problem != nil {
		m.Report(n, "in line %d of the text: %s", problem.Line, problem.Message)
		return text, nil
	}
	var objects []*yaml.Node
	for _, d := range documents {
		switch wrong := notObject(d); {
		case d.Kind == yaml.ScalarNode && d.ShortTag() == "!!null":
		case wrong != "":
			m.Report(n, "in line %d of the text: %s", max(d.Line, 1), wrong)
		default:
			objects = append(objects, d)
		}
	}
	if len(documents) == 0 {
		m.Report(n, "the text has no object")
	}
	return text, objects
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

// parseExamples reads custom resources of the APIs that a version brings.
func parseExamples(m *strict.Mapping, n *yaml.Node, apis []solve.API) []string {
	var examples []string
	for _, item := range items(m, n, "expected a list of custom resources, each as text", maxItems) {
		text, objects := manifestsAt(m, item, maxExampleBytes)
		for _, o := range objects {
			if wrong := notExample(o, apis); wrong != "" {
				m.Report(item, "%s", wrong)
			}
		}
		examples = append(examples, text)
	}
	return examples
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

var (
	imageReference = pattern(`^[a-zA-Z0-9][a-zA-Z0-9.-]*(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127})?(@sha256:[0-9a-f]{64})?$`)
	platform       = pattern(`^[a-z0-9]{1,20}/[a-z0-9_]{1,20}(/[a-z0-9.]{1,20})?$`)
)

// parseImages reads images, each by itself or with its platforms.
func parseImages(all *strict.Mapping, n *yaml.Node) []Image {
	var images []Image
	for _, item := range items(all, n, "expected a list of images", maxItems) {
		var i Image
		if item.Kind == yaml.ScalarNode {
			i.Image = imageAt(all, item)
		} else {
			part(all, item, func(m *strict.Mapping) []strict.Field {
				return []strict.Field{
					{Name: "image", Required: true, Set: func(n *yaml.Node) { i.Image = imageAt(m, n) }},
					{Name: "platforms", Set: func(n *yaml.Node) { i.Platforms = platformsAt(m, n) }},
				}
			})
		}
		if i.Image != "" && slices.ContainsFunc(images, func(o Image) bool { return o.Image == i.Image }) {
			all.Report(item, "a second %s: expected one", field.Shorten(i.Image))
		}
		images = append(images, i)
	}
	return images
}

func imageAt(m *strict.Mapping, n *yaml.Node) string {
	text := short(m, n)
	if text != "" && !imageReference().MatchString(text) {
		m.Report(n, "%q is not an image: expected REGISTRY/PATH:TAG@sha256:HEX", field.Shorten(text))
	}
	return text
}

func platformsAt(m *strict.Mapping, n *yaml.Node) []string {
	var all []string
	for _, item := range items(m, n, "expected a list of platforms: [linux/amd64, linux/arm64]", maxItems) {
		text := short(m, item)
		switch {
		case text == "":
		case !platform().MatchString(text):
			m.Report(item, "%q is not a platform: expected OS/ARCHITECTURE, as linux/arm64", field.Shorten(text))
		case slices.Contains(all, text):
			m.Report(item, "a second %s: expected one", text)
		default:
			all = append(all, text)
		}
	}
	return all
}

// pluralAt reads the resource name of a kind.
func pluralAt(m *strict.Mapping, n *yaml.Node) string {
	text := m.Text(n)
	if text != "" && len(validation.IsDNS1035Label(text)) > 0 {
		m.Report(n, "%q is not a resource name: expected that of the CRD, widgets", field.Shorten(text))
	}
	return text
}

func kindAt(m *strict.Mapping, n *yaml.Node) string {
	text := m.Text(n)
	if wrong := declare.CheckKind(text); text != "" && wrong != "" {
		m.Report(n, "%q %s", field.Shorten(text), wrong)
	}
	return text
}
