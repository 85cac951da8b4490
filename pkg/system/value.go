package system

import (
	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// value reads what is free: an object, a body of a patch, values of templates.
func (s scope) value(n *yaml.Node) any {
	return strict.Free(n, func(path string, n *yaml.Node, message string) {
		if s.path == "" && path != "" && path[0] == '.' {
			path = path[1:]
		}
		scope{s.r, s.path + path}.report(n, "%s", message)
	})
}

// object reads a free mapping.
func (s scope) object(n *yaml.Node) map[string]any {
	if n.Kind != yaml.MappingNode {
		s.report(n, "expected a mapping of keys to values")
		return nil
	}
	return s.value(n).(map[string]any)
}
