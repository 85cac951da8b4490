package graph

import (
	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/simple"
)

// view shows some nodes and edges of a Graph to gonum's algorithms, as a
// graph.WeightedDirected. gonum orders by number, and so do we: results do not
// depend on the run.
type view struct {
	n    int
	from func(ID) []ID
	to   func(ID) []ID
	cost func(from, to ID) float64
}

func (v view) Node(id int64) graph.Node {
	if id < 0 || id >= int64(v.n) {
		return nil
	}
	return simple.Node(id)
}

func (v view) Nodes() graph.Nodes {
	nodes := make([]graph.Node, v.n)
	for i := range nodes {
		nodes[i] = simple.Node(i)
	}
	return iterator.NewOrderedNodes(nodes)
}

func (v view) From(id int64) graph.Nodes { return nodesOf(v.from(ID(id))) }

func (v view) To(id int64) graph.Nodes { return nodesOf(v.to(ID(id))) }

func nodesOf(ids []ID) graph.Nodes {
	if len(ids) == 0 {
		return graph.Empty
	}
	nodes := make([]graph.Node, len(ids))
	for i, id := range ids {
		nodes[i] = simple.Node(id)
	}
	return iterator.NewOrderedNodes(nodes)
}

func (v view) HasEdgeFromTo(x, y int64) bool {
	for _, id := range v.from(ID(x)) {
		if id == ID(y) {
			return true
		}
	}
	return false
}

func (v view) HasEdgeBetween(x, y int64) bool { return v.HasEdgeFromTo(x, y) || v.HasEdgeFromTo(y, x) }

func (v view) Edge(x, y int64) graph.Edge { return v.WeightedEdge(x, y) }

func (v view) WeightedEdge(x, y int64) graph.WeightedEdge {
	if !v.HasEdgeFromTo(x, y) {
		return nil
	}
	return simple.WeightedEdge{F: simple.Node(x), T: simple.Node(y), W: v.cost(ID(x), ID(y))}
}

func (v view) Weight(x, y int64) (float64, bool) {
	if x == y {
		return 0, true
	}
	return v.cost(ID(x), ID(y)), true
}
