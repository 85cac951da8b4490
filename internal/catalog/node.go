package catalog

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// fields are the keys and values of a mapping that is written, in their order.
type fields []*yaml.Node

// put adds a field, but for one that has nothing in it.
func (f fields) put(name string, value *yaml.Node) fields {
	if value == nil {
		return f
	}
	return append(f, strict.KeyNode(name), value)
}

func (f fields) text(name, text string) fields {
	if text == "" {
		return f
	}
	return f.put(name, strict.TextNode(text))
}

func (f fields) yes(name string, set bool) fields {
	if !set {
		return f
	}
	return f.put(name, strict.ValueNode(true))
}

func (f fields) list(name string, n int, each func(int) *yaml.Node) fields {
	if n == 0 {
		return f
	}
	return f.put(name, strict.ListNode(n, each))
}

// texts adds a list of texts; a short one stands on one line.
func (f fields) texts(name string, all []string) fields {
	if len(all) == 0 {
		return f
	}
	list := strict.ListNode(len(all), func(i int) *yaml.Node { return strict.TextNode(all[i]) })
	if !slices.ContainsFunc(all, func(t string) bool { return len(t) > 40 || strings.Contains(t, "\n") }) {
		list.Style = yaml.FlowStyle
	}
	return f.put(name, list)
}

// node is the mapping; nil where it is empty.
func (f fields) node() *yaml.Node {
	if len(f) == 0 {
		return nil
	}
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: f}
}

// flow is the mapping, on one line.
func (f fields) flow() *yaml.Node {
	n := f.node()
	if n != nil {
		n.Style = yaml.FlowStyle
	}
	return n
}
