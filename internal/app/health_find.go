package app

import (
	"context"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// readAll reads the namespace, or the cluster, and all that its stacks reference.
func (s *Session) readAll(ctx context.Context, opts graph.StackOptions) (*graph.Graph, error) {
	first := source.Query{All: true}
	if !s.Input.AllNamespaces && s.Namespace != "" {
		first = source.Query{Namespaces: []string{s.Namespace}, Kinds: s.Rules.Crossing()}
	}
	return s.Read(ctx, first, s.Everything, opts)
}

// find finds the stacks of the namespace, or of the cluster.
func (s *Session) find(g *graph.Graph, opts graph.StackOptions) []metrics.Stack {
	var out []metrics.Stack
	for _, f := range s.Applications(g, opts).Stacks {
		if !s.IsClusterSystem(g, f) {
			out = append(out, metrics.Stack{Ref: f.Ref(g), Roots: f.Roots})
		}
	}
	return out
}
