package cli

import (
	"context"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// readAll reads the namespace, or the cluster, and what stacks there lead to.
func (s *session) readAll(ctx context.Context, opts graph.StackOptions) (*graph.Graph, error) {
	first := source.Query{All: true}
	if !s.c.allNamespaces && s.namespace != "" {
		first = source.Query{Namespaces: []string{s.namespace}, Kinds: s.rules.Crossing()}
	}
	return s.read(ctx, first, s.everything, opts)
}

// find finds the stacks of the namespace, or of the cluster.
func (s *session) find(g *graph.Graph, opts graph.StackOptions) []metrics.Stack {
	var out []metrics.Stack
	for _, f := range s.applications(g, opts).Stacks {
		if !s.isClusterSystem(g, f) {
			out = append(out, metrics.Stack{Ref: f.Ref(g), Roots: f.Roots})
		}
	}
	return out
}
