package chart

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// growth returns the limit of what the aliases of one stream may add to it.
func growth() *strict.Growth { return &strict.Growth{Left: strict.MaxGrowth} }

// document is one object of a template.
type document struct {
	template string
	number   int // from 1
	object   *unstructured.Unstructured
}

func (d document) String() string {
	if d.number == 0 {
		return d.template
	}
	return fmt.Sprintf("%s, document %d", d.template, d.number)
}

// readFile reads the documents of a rendered template, split as Helm does. It charges the growth by
// aliases to grows.
func readFile(template, text string, grows *strict.Growth) ([]document, error) {
	parts := releaseutil.SplitManifests(text)
	keys := make([]string, 0, len(parts))
	for k := range parts {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		switch o := releaseutil.BySplitManifestsOrder([]string{a, b}); {
		case o.Less(0, 1):
			return -1
		case o.Less(1, 0):
			return 1
		}
		return 0
	})
	var docs []document
	for i, k := range keys {
		d := document{template: template, number: i + 1}
		fields, err := readDocument([]byte(parts[k]), grows)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d, err)
		}
		if fields == nil {
			continue
		}
		d.object = &unstructured.Unstructured{Object: fields}
		flat, err := flatten(d)
		if err != nil {
			return nil, err
		}
		docs = append(docs, flat...)
	}
	return docs, nil
}

// readDocument reads one YAML document strictly; nil if it is empty.
func readDocument(text []byte, grows *strict.Growth) (map[string]any, error) {
	n, err := oneNode(text, grows)
	if err != nil || n == nil {
		return nil, err
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil, nil
	}
	if n.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: expected an object (a mapping with apiVersion, kind and metadata), got %s", n.Line, shape(n))
	}
	asJSON, err := sigsyaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := utiljson.Unmarshal(asJSON, &fields); err != nil {
		return nil, err
	}
	return fields, nil
}

func shape(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	text := n.Value
	if len(text) > 40 {
		text = text[:40] + "..."
	}
	return fmt.Sprintf("the text %q", text)
}

func oneNode(text []byte, grows *strict.Growth) (*yaml.Node, error) {
	if err := strict.CheckNodes(text); err != nil {
		return nil, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, next yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, plainYAML(err)
	}
	if err := dec.Decode(&next); !errors.Is(err, io.EOF) {
		if err != nil {
			return nil, plainYAML(err)
		}
		return nil, fmt.Errorf("line %d: expected one document, got another", next.Line)
	}
	return doc.Content[0], grows.Take(doc.Content[0])
}

func plainYAML(err error) error { return errors.New(strings.TrimPrefix(err.Error(), "yaml: ")) }

// checkYAML checks all documents of a text for excessive growth by aliases.
func checkYAML(text []byte, grows *strict.Growth) error {
	if err := strict.CheckNodes(text); err != nil {
		return err
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return plainYAML(err)
		}
		for _, n := range doc.Content {
			if n.Kind != yaml.MappingNode && n.Tag != "!!null" {
				return fmt.Errorf("line %d: expected a mapping, got %s", n.Line, shape(n))
			}
			if err := grows.Take(n); err != nil {
				return err
			}
		}
	}
}

// flatten replaces a list by its objects.
func flatten(d document) ([]document, error) {
	items, ok := d.object.Object["items"].([]any)
	kind, _, _ := unstructured.NestedString(d.object.Object, "kind")
	if !ok || !strings.HasSuffix(kind, "List") {
		return []document{d}, nil
	}
	var docs []document
	for i, item := range items {
		fields, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s: items[%d] of the %s is not an object", d, i, kind)
		}
		if single := strings.TrimSuffix(kind, "List"); single != "" && fields["kind"] == nil {
			fields["kind"], fields["apiVersion"] = single, d.object.Object["apiVersion"]
		}
		inner := document{template: d.template, number: d.number, object: &unstructured.Unstructured{Object: fields}}
		if file := d.object.GetAnnotations()[filenameAnnotation]; file != "" {
			annotate(inner.object, map[string]string{filenameAnnotation: file})
		}
		flat, err := flatten(inner)
		if err != nil {
			return nil, err
		}
		docs = append(docs, flat...)
	}
	return docs, nil
}
