package check

import (
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// securityNames lists objects of one kind by namespace and name.
func securityNames(refs []object.Ref) string {
	words := make([]string, 0, len(refs))
	for _, r := range refs {
		words = append(words, r.Namespace+"/"+r.Name)
	}
	return object.ShortList(words)
}

// securityOperated returns the workloads that operators are run by. What these may do is told with
// the operator, and not with the stack that they are in.
func (w *ClusterState) securityOperated() map[object.Ref]bool {
	out := map[object.Ref]bool{}
	for _, o := range w.Operators() {
		for _, wl := range o.Workloads {
			out[wl.Ref] = true
		}
	}
	return out
}

// securityWriter says who writes a workload, where that is a custom resource: then it is the custom
// resource that has to say otherwise.
func (w *ClusterState) securityWriter(wl *Workload) (object.Ref, bool) {
	top := w.Top(wl.Ref)
	if top == wl.Ref {
		return object.Ref{}, false
	}
	r, ok := w.Kinds.Kind(top.GroupKind())
	return top, ok && r.Custom
}

// securityRemedy adds to a remedy where it has to be said.
func (w *ClusterState) securityRemedy(wl *Workload, remedy string) string {
	if top, ok := w.securityWriter(wl); ok {
		return fmt.Sprintf("%s Say so in %s, whose operator writes the %s.", remedy, describe(top), wl.Ref.Kind)
	}
	return remedy
}
