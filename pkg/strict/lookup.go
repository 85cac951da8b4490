package strict

import "go.yaml.in/yaml/v3"

// Lookup finds a node below another one, at a path of keys (string) and indices (int): the
// nearest one on the way that exists. A single item may be written for a list of one.
func Lookup(n *yaml.Node, at []any) *yaml.Node {
	for _, step := range at {
		var next *yaml.Node
		switch step := step.(type) {
		case string:
			next = Value(n, step)
		case int:
			if n.Kind == yaml.SequenceNode && step < len(n.Content) {
				next = n.Content[step]
			}
		}
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// Value returns the value of a key of a mapping; nil where there is none.
func Value(n *yaml.Node, key string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
