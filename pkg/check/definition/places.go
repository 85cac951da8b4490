package definition

import (
	"cmp"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// Places returns the fields by which users can place the pods of a custom resource: node
// selectors, affinity, tolerations and spread, in the storage version. The parts of an
// affinity come as one. Open is set where there are none, and a field accepts anything.
func Places(d *check.Definition) (paths []string, open string) {
	depth := map[string]int{}
	for _, top := range schemaDesired(d.Storage()) {
		top.walk(func(n *schemaNode) bool {
			if isExtraContainers(n) {
				return false
			}
			if !slices.ContainsFunc([]setting{setsNodes, setsPodAffinity, setsSpread, setsTolerations}, func(s setting) bool { return settableShapes[s](n) }) {
				return true
			}
			at := n
			if n.up != nil && n.up.name == "affinity" && slices.Contains([]string{"nodeAffinity", "podAffinity", "podAntiAffinity"}, n.name) {
				at = n.up
			}
			depth[at.path()] = at.depth()
			return false
		})
	}
	for path := range depth {
		paths = append(paths, path)
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Or(cmp.Compare(depth[a], depth[b]), cmp.Compare(a, b)) })
	if len(paths) > 0 {
		return paths, ""
	}
	if open, ok := settableOpen(d); ok {
		return nil, open
	}
	if root := schemaOf(d.Storage()); root == nil || schemaOpen(root.props) {
		return nil, "spec" // The schema is open: the server keeps any field.
	}
	return nil, ""
}
