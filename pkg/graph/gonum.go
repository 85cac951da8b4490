package graph

import (
	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/simple"
)

// view shows neighbours and costs to gonum's shortest path, as a traverse.Graph
// with weights: it touches what it walks over, and not every node. Neighbours
// come by number, so results do not depend on the run.
type view struct {
	from func(ID) []ID
	cost func(from, to ID) float64
}

func (v view) From(id int64) graph.Nodes {
	ids := v.from(ID(id))
	if len(ids) == 0 {
		return graph.Empty
	}
	nodes := make([]graph.Node, len(ids))
	for i, id := range ids {
		nodes[i] = simple.Node(id)
	}
	return iterator.NewOrderedNodes(nodes)
}

func (v view) Edge(x, y int64) graph.Edge {
	return simple.WeightedEdge{F: simple.Node(x), T: simple.Node(y), W: v.cost(ID(x), ID(y))}
}

func (v view) Weight(x, y int64) (float64, bool) { return v.cost(ID(x), ID(y)), true }
