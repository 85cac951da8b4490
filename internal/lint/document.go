package lint

import (
	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Document is the YAML in which something stands. The zero value is that of what was
// compiled in: nothing has a place in it.
type Document struct {
	root *yaml.Node
	text []byte
}

// ReadDocument reads a text. What is no YAML has no places: who parses it says so.
func ReadDocument(text []byte) Document {
	root, _ := strict.Document(text)
	return Document{root, text}
}

// node returns the node at a path of keys and indices: the deepest one that exists, or nil.
func (d Document) node(at []any) *yaml.Node {
	if d.root == nil {
		return nil
	}
	return strict.Lookup(d.root, at)
}

// relation is the index of a relation in the document. One that is wrong has none in a list of
// relations, so that those after it stand further on.
func (d Document) relation(i int, s *declare.Spec) int {
	if d.root == nil {
		return i
	}
	list := strict.Value(d.root, "relations")
	if list == nil {
		return i
	}
	for n, item := range list.Content {
		if item.Line == s.Line && item.Column == s.Column {
			return n
		}
	}
	return i
}
