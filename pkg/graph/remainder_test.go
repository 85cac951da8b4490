package graph

import (
	"slices"
	"testing"

	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/simple"
)

// gonum's algorithms see the same in a remainder as in gonum's own graph.
func TestRemainder(t *testing.T) {
	own, theirs := remainder{}, simple.NewDirectedGraph()
	for _, e := range [][2]ID{{1, 2}, {2, 3}, {3, 1}, {3, 4}, {5, 4}} {
		own.add(e[0], e[1])
		theirs.SetEdge(theirs.NewEdge(simple.Node(e[0]), simple.Node(e[1])))
	}
	ids := func(nodes gonum.Nodes) []int64 {
		var out []int64
		for _, n := range gonum.NodesOf(nodes) {
			out = append(out, n.ID())
		}
		slices.Sort(out)
		return out
	}
	if a, b := ids(own.Nodes()), ids(theirs.Nodes()); !slices.Equal(a, b) {
		t.Fatalf("nodes %v, want %v", a, b)
	}
	for from := range int64(7) {
		if (own.Node(from) == nil) != (theirs.Node(from) == nil) {
			t.Errorf("node %d: %v, want %v", from, own.Node(from), theirs.Node(from))
		}
		if a, b := ids(own.From(from)), ids(theirs.From(from)); !slices.Equal(a, b) {
			t.Errorf("from %d: %v, want %v", from, a, b)
		}
		if a, b := ids(own.To(from)), ids(theirs.To(from)); !slices.Equal(a, b) {
			t.Errorf("to %d: %v, want %v", from, a, b)
		}
		for to := range int64(7) {
			if own.HasEdgeBetween(from, to) != theirs.HasEdgeBetween(from, to) || (own.Edge(from, to) == nil) != (theirs.Edge(from, to) == nil) {
				t.Errorf("edge %d to %d differs", from, to)
			}
		}
	}
}
