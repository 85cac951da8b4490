package strict

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Pairs are the keys and values of a mapping that is written, in their order. What has nothing
// in it is not written.
type Pairs []*yaml.Node

// Put adds a key with a value; nothing where that is nil.
func (p Pairs) Put(name string, value *yaml.Node) Pairs {
	if value == nil {
		return p
	}
	return append(p, KeyNode(name), value)
}

// Text adds a text.
func (p Pairs) Text(name, text string) Pairs {
	if text == "" {
		return p
	}
	return p.Put(name, TextNode(text))
}

// True adds a key that is true.
func (p Pairs) True(name string, set bool) Pairs {
	if !set {
		return p
	}
	return p.Put(name, ValueNode(true))
}

// List adds a list of n items.
func (p Pairs) List(name string, n int, each func(int) *yaml.Node) Pairs {
	if n == 0 {
		return p
	}
	return p.Put(name, ListNode(n, each))
}

// Texts adds a list of texts.
func (p Pairs) Texts(name string, all []string) Pairs {
	if len(all) == 0 {
		return p
	}
	return p.Put(name, TextsNode(all))
}

// Node is the mapping; nil where it is empty.
func (p Pairs) Node() *yaml.Node {
	if len(p) == 0 {
		return nil
	}
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: p}
}

// TableNode writes a mapping of free keys, in their order; nil where it is empty.
func TableNode[V any](all map[string]V, each func(V) *yaml.Node) *yaml.Node {
	var p Pairs
	for _, k := range slices.Sorted(maps.Keys(all)) {
		p = p.Put(k, each(all[k]))
	}
	return p.Node()
}

// TextsNode writes a list of texts, on one line where they are short and need no quotes there.
func TextsNode(all []string) *yaml.Node {
	list := ListNode(len(all), func(i int) *yaml.Node { return TextNode(all[i]) })
	if !slices.ContainsFunc(all, func(t string) bool { return len(t) > 40 || strings.ContainsAny(t, "\n:,[]{}") }) {
		list.Style = yaml.FlowStyle
	}
	return list
}

// Encode writes a node as a document. The error is that of the encoder.
func Encode(n *yaml.Node) ([]byte, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(n); err != nil {
		return nil, err
	}
	return out.Bytes(), encoder.Close()
}

// Flow puts a node on one line: {a: b}. Text that means something else there is quoted.
func Flow(n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.ScalarNode {
		n.Style = yaml.FlowStyle
	} else if n.Style == yaml.LiteralStyle || n.Style == 0 && n.Tag == "!!str" && strings.ContainsAny(n.Value, ",[]{}?") {
		n.Style = yaml.DoubleQuotedStyle
	}
	for _, child := range n.Content {
		Flow(child)
	}
	return n
}
