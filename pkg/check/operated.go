package check

import (
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// OperatorWorkloads returns the workloads that operators are run by. What these may do is told with
// the operator, and not with the stack that they are in.
func (w *ClusterState) OperatorWorkloads() map[object.Ref]bool {
	out := map[object.Ref]bool{}
	for _, o := range w.Operators() {
		for _, wl := range o.Workloads {
			out[wl.Ref] = true
		}
	}
	return out
}

// CustomOwner says who writes a workload, where that is a custom resource: then it is the custom
// resource that has to say otherwise.
func (w *ClusterState) CustomOwner(wl *Workload) (object.Ref, bool) {
	top := w.Top(wl.Ref)
	if top == wl.Ref {
		return object.Ref{}, false
	}
	r, ok := w.Kinds.Kind(top.GroupKind())
	return top, ok && r.Custom
}

// RemedyFor adds to a remedy where it has to be said.
func (w *ClusterState) RemedyFor(wl *Workload, remedy string) string {
	if top, ok := w.CustomOwner(wl); ok {
		return fmt.Sprintf("%s Say so in %s, whose operator writes the %s.", remedy, Describe(top), wl.Ref.Kind)
	}
	return remedy
}
