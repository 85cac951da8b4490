package check

import (
	"cmp"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// SettablePlaces are the fields of a custom resource by which users can say where its pods
// go.
type SettablePlaces struct {
	Resource object.Ref
	// Paths are those of the schema, the nearest to the top first: spec.nodeSelector.
	Paths []string
	// Open is a field in which the schema takes anything about pods, where it names none of
	// these; empty where there is no such field.
	Open string
	// Unread says that the definition was not read, so that nothing is known.
	Unread bool
}

// PlacedBy returns the custom resources that say where pods of a stack go: the one at its
// top, and the nearest owners of its workloads, in order, each once.
func (w *ClusterState) PlacedBy(s *Stack, custom func(object.Ref) bool) []object.Ref {
	refs := []object.Ref{s.Ref}
	for _, wl := range s.Workloads() {
		if owner, ok := w.owner(wl.Ref); ok {
			refs = append(refs, owner)
		}
	}
	refs = slices.DeleteFunc(refs, func(r object.Ref) bool { return !custom(r) })
	slices.SortFunc(refs, object.Compare)
	return slices.Compact(refs)
}

// Places returns the fields by which users can say where the pods of a custom resource
// go: node selectors, affinity, tolerations and spread, in the version in which it is
// stored. The parts of an affinity come as one. Open is told where there are none, and a
// field takes anything.
func (d *Definition) Places() (paths []string, open string) {
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
	if open, ok := d.settableOpen(); ok {
		return nil, open
	}
	if root := schemaOf(d.Storage()); root == nil || schemaOpen(root.props) {
		return nil, "spec" // The schema says nothing, so that whatever is written is kept.
	}
	return nil, ""
}
