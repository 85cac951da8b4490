package app

import (
	"context"

	"github.com/kubectl-sysop/kubectl-sysop/internal/drain"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// DrainResult is what a drain of a node would do. AllPods says that the pods of all namespaces could be
// listed.
type DrainResult struct {
	*drain.Outcome
	Session *Session
	Graph   *graph.Graph
	AllPods bool
}

// Drain predicts what a drain of a node would do. Pods of every namespace may run there.
func (c *Input) Drain(ctx context.Context, name string) (*DrainResult, error) {
	facts := c.CollectFacts()
	s, err := c.Open(ctx)
	if err != nil {
		return nil, err
	}
	opts := c.StackOptions()
	g, err := s.Read(ctx, source.Query{All: true}, func(*graph.Graph) []graph.ID { return nil }, opts)
	if err != nil {
		return nil, err
	}
	node, err := s.Kinds.Find("nodes")
	if err != nil {
		return nil, err
	}
	root := Root{Text: "node/" + name, Kind: node, Name: name}
	if err := s.Missing(g, []Root{root}, nil); err != nil {
		return nil, err
	}
	defer c.Clock.Stage("drain")()
	w := s.CheckWorld(g, facts, s.Kinds, s.Inventory)
	var stacks []*check.Stack
	for _, f := range g.FindStacks("", opts).Stacks {
		stacks = append(stacks, &check.Stack{World: w, Ref: f.Ref(g), Stack: g.Stack(f.Roots, opts)})
	}
	d := drain.Predict(w, name, stacks)
	elsewhere := drain.Elsewhere(w, d)
	d.Elsewhere = &elsewhere
	return &DrainResult{Outcome: d, Session: s, Graph: g, AllPods: s.Inventory.Covered(PodKind, "")}, nil
}
