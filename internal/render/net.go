package render

import "github.com/kubectl-sysop/kubectl-sysop/internal/view"

// namespaceCluster is the nodes of a namespace.
type namespaceCluster struct {
	namespace string
	nodes     []int // by number in the net
}

// districts returns the nodes by namespace, in the order in which they come.
func districts(n *view.Diagram) []namespaceCluster {
	var out []namespaceCluster
	at := map[string]int{}
	for i := range n.Nodes {
		ns := n.Nodes[i].Namespace
		d, ok := at[ns]
		if !ok {
			d = len(out)
			at[ns] = d
			out = append(out, namespaceCluster{namespace: ns})
		}
		out[d].nodes = append(out[d].nodes, i)
	}
	return out
}

// captions are the lines of a node's label.
func captions(n view.DiagramNode) []string {
	lines := []string{n.Kind, n.Name}
	if n.Note != "" {
		lines = append(lines, n.Note)
	}
	return lines
}
