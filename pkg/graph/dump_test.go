package graph_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

// names formats nodes in alphabetical order.
func names(g *graph.Graph, ids []graph.ID) string {
	var out []string
	for _, id := range ids {
		out = append(out, nameOf(g.Ref(id)))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// edgeText formats an edge as a line of a world, with its evidence.
func edgeText(g *graph.Graph, e graph.Edge) string {
	flags := ""
	if e.Optional {
		flags += " optional"
	}
	if e.Inferred {
		flags += " inferred"
	}
	return fmt.Sprintf("%s %s %s (%s %s)%s", nameOf(g.Ref(e.From)), e.Relation, nameOf(g.Ref(e.To)), e.Rule, e.Why(), flags)
}

// dump formats a whole graph.
func dump(g *graph.Graph) string {
	var b strings.Builder
	for n := range g.Nodes() {
		fmt.Fprintf(&b, "%d %s %s %q %q %v\n", n.ID, n.Ref, n.State, n.APIVersion, n.UID, n.Boundary)
		for e := range g.Out(n.ID) {
			fmt.Fprintf(&b, "  %s\n", edgeText(g, e))
		}
		for e := range g.In(n.ID) {
			fmt.Fprintf(&b, "  < %s\n", edgeText(g, e))
		}
	}
	for _, p := range g.Problems() {
		fmt.Fprintf(&b, "%s: %s: %s\n", p.Object, p.Reason, p.Message)
	}
	return b.String()
}

func out(g *graph.Graph, id graph.ID) []string {
	var lines []string
	for e := range g.Out(id) {
		lines = append(lines, edgeText(g, e))
	}
	return lines
}
