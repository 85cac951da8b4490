package colocation

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Settable are the fields of a custom resource by which users can say where its pods
// go.
type Settable struct {
	Resource object.Ref `json:"id"`
	// Paths are those of the schema, the nearest to the top first: spec.nodeSelector.
	Paths []string `json:"fields"`
	// Open is a field in which the schema accepts any setting of pods, where it lists none of them;
	// empty without such a field.
	Open string `json:"open,omitempty"`
	// Read is false where the definition was not read, so that nothing is known.
	Read bool `json:"read"`
}

// PlacedBy returns the custom resources that say where pods of a stack go: the one at its
// top, and the nearest owners of its workloads, in order, each once.
func PlacedBy(w *check.ClusterState, s *check.Stack, custom func(object.Ref) bool) []object.Ref {
	refs := []object.Ref{s.Ref}
	for _, wl := range s.Workloads() {
		if owner, ok := w.Owner(wl.Ref); ok {
			refs = append(refs, owner)
		}
	}
	refs = slices.DeleteFunc(refs, func(r object.Ref) bool { return !custom(r) })
	slices.SortFunc(refs, object.Compare)
	return slices.Compact(refs)
}
