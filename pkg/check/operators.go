package check

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Operators returns the operators of the cluster, as FindOperators finds them the first
// time.
func (w *ClusterState) Operators() []*Operator {
	if w.FindOperators != nil {
		w.operators.once.Do(func() { w.operators.all = w.FindOperators(w) })
	}
	return w.operators.all
}

// OperatorOf returns what acts on the custom resources of a kind; nil where no definition
// of it was read.
func (w *ClusterState) OperatorOf(gk schema.GroupKind) *Operator {
	for _, o := range w.Operators() {
		if slices.Contains(o.Kinds, gk) {
			return o
		}
	}
	return nil
}
