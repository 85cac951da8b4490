package check

// Operators finds the operators of the cluster: the workloads that act on the custom
// resources of each definition. A definition of which that is not known makes an operator
// without workloads, together with the others of its group.
func (w *World) Operators() []*Operator {
	return nil
}
