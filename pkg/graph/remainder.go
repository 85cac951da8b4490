package graph

import (
	"maps"
	"slices"

	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/iterator"
)

// remainder is a graph for gonum's algorithms: the successors of each node, in order. gonum's
// package simple would do, but it imports LAPACK, which adds 2 MB to the binary.
type remainder map[int64][]gonum.Node

type remainderNode int64

func (n remainderNode) ID() int64 { return int64(n) }

type remainderEdge struct{ from, to gonum.Node }

func (e remainderEdge) From() gonum.Node { return e.from }
func (e remainderEdge) To() gonum.Node   { return e.to }

func (e remainderEdge) ReversedEdge() gonum.Edge { return remainderEdge{from: e.to, to: e.from} }

func (r remainder) add(from, to ID) {
	r[int64(from)] = append(r[int64(from)], remainderNode(to))
	if _, ok := r[int64(to)]; !ok {
		r[int64(to)] = nil
	}
}

func (r remainder) Node(id int64) gonum.Node {
	if _, ok := r[id]; !ok {
		return nil
	}
	return remainderNode(id)
}

func (r remainder) Nodes() gonum.Nodes {
	nodes := make([]gonum.Node, 0, len(r))
	for _, id := range slices.Sorted(maps.Keys(r)) {
		nodes = append(nodes, remainderNode(id))
	}
	return iterator.NewOrderedNodes(nodes)
}

func (r remainder) From(id int64) gonum.Nodes {
	if len(r[id]) == 0 {
		return gonum.Empty
	}
	return iterator.NewOrderedNodes(r[id])
}

func (r remainder) To(id int64) gonum.Nodes {
	var nodes []gonum.Node
	for from := range r {
		if r.HasEdgeFromTo(from, id) {
			nodes = append(nodes, remainderNode(from))
		}
	}
	return iterator.NewOrderedNodes(nodes)
}

func (r remainder) HasEdgeFromTo(from, to int64) bool {
	return slices.Contains(r[from], gonum.Node(remainderNode(to)))
}

func (r remainder) HasEdgeBetween(a, b int64) bool {
	return r.HasEdgeFromTo(a, b) || r.HasEdgeFromTo(b, a)
}

func (r remainder) Edge(from, to int64) gonum.Edge {
	if !r.HasEdgeFromTo(from, to) {
		return nil
	}
	return remainderEdge{from: remainderNode(from), to: remainderNode(to)}
}
