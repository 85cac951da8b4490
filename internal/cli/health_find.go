package cli

import (
	"context"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// foundStack is a stack that is asked about, or that was found.
type foundStack struct {
	metrics.Stack
	apart map[graph.ID]graph.ID
}

// readAll reads the namespace, or the cluster, and what stacks there lead to.
func (s *session) readAll(ctx context.Context, opts graph.StackOptions) (*graph.Graph, error) {
	first := source.Ask{All: true}
	if !s.c.allNamespaces && s.namespace != "" {
		first = source.Ask{Namespaces: []string{s.namespace}, Kinds: s.rules.Crossing()}
	}
	return s.read(ctx, first, s.everything, opts)
}

func (s *session) find(g *graph.Graph, opts graph.StackOptions) []foundStack {
	var pods []graph.ID
	for id := range g.OfKind(podKind) {
		pods = append(pods, id)
	}
	var out []foundStack
	for _, id := range g.Apexes(pods, opts) {
		out = append(out, foundStack{Stack: metrics.Stack{Ref: g.Ref(id), Roots: []graph.ID{id}}})
	}
	return out
}
