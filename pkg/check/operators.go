package check

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Operators returns the operators of the cluster. It calls FindOperators once.
func (w *ClusterState) Operators() []*Operator {
	if w.FindOperators != nil {
		w.operators.once.Do(func() { w.operators.all = w.FindOperators(w) })
	}
	return w.operators.all
}

// OperatorOf returns the operator of a kind; nil where no definition of it was read.
func (w *ClusterState) OperatorOf(gk schema.GroupKind) *Operator {
	for _, o := range w.Operators() {
		if slices.Contains(o.Kinds, gk) {
			return o
		}
	}
	return nil
}

// OperatorWorkloads returns the workloads of operators. Their permissions are reported for the
// operator, and not for the stack that has them.
func (w *ClusterState) OperatorWorkloads() map[object.Ref]bool {
	out := map[object.Ref]bool{}
	for _, o := range w.Operators() {
		for _, wl := range o.Workloads {
			out[wl.Ref] = true
		}
	}
	return out
}
