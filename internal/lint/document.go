package lint

import (
	"go.yaml.in/yaml/v3"

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

// node finds what stands at a path of keys and indices: the nearest on the way that is
// there, or nil.
func (d Document) node(at []any) *yaml.Node {
	if d.root == nil {
		return nil
	}
	return strict.Lookup(d.root, at)
}
