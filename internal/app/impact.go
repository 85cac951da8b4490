package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ParseCascade is the propagation policy of a name.
func ParseCascade(name string) (graph.Cascade, error) {
	var names []string
	for _, c := range graph.Cascades() {
		if c.String() == name {
			return c, nil
		}
		names = append(names, c.String())
	}
	return 0, hint.With(fmt.Errorf("unknown propagation policy %q", name), "--cascade takes one of "+strings.Join(names, ", "))
}

// Deletion reads an object, and what goes along with it.
func (c *Input) Deletion(ctx context.Context, name string, o graph.ImpactOptions) (*Session, *graph.Graph, graph.ID, error) {
	c.Definitions, c.MoreRoots = true, deletedWith(o)
	s, g, ids, err := c.Objects(ctx, []string{name}, o.StackOptions)
	if err != nil {
		return nil, nil, 0, err
	}
	return s, g, ids[0], nil
}

// deletedWith finds what goes along with an object: the volume of a claim in a namespace says itself
// whether it does. Objects of CRDs may be converted by a Service that goes.
func deletedWith(o graph.ImpactOptions) func(*graph.Graph, []graph.ID) ([]graph.ID, []schema.GroupKind) {
	return func(g *graph.Graph, roots []graph.ID) (along []graph.ID, kinds []schema.GroupKind) {
		for _, id := range roots {
			im := g.Impact(id, o)
			along = append(along, im.Gone()...)
		}
		if slices.ContainsFunc(along, func(id graph.ID) bool { return g.Ref(id).GroupKind() == schema.GroupKind{Kind: "Service"} }) {
			kinds = append(kinds, DefinitionKind)
		}
		return along, kinds
	}
}

// Impact computes the impact of a deletion, and what it does to the stacks of all that was read.
func Impact(g *graph.Graph, id graph.ID, o graph.ImpactOptions) view.Output {
	im := g.Impact(id, o)
	stacks := im.StacksOf(g, g.FindStacks("", o.StackOptions).Stacks, o.StackOptions)
	return view.Impact(view.ImpactOf{Graph: g, Impact: im, Stacks: stacks, Cascade: o.Cascade})
}
