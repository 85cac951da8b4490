package app

import (
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
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

// Impact computes the impact of a deletion, and what it does to the stacks of all that was read.
func Impact(g *graph.Graph, id graph.ID, o graph.ImpactOptions) view.Output {
	im := g.Impact(id, o)
	stacks := im.StacksOf(g, g.FindStacks("", o.StackOptions).Stacks, o.StackOptions)
	return view.Impact(view.ImpactOf{Graph: g, Impact: im, Stacks: stacks, Cascade: o.Cascade})
}
