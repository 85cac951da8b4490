package graph

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Edge says that From owns, needs or serves To, and why.
type Edge struct {
	From, To ID
	Relation relation.Relation
	Via      relation.Via
	// Field and Value are the evidence, in the object that declares the edge (the child of an owner
	// reference).
	Field string
	Value string
	// Rule is the name of its rule.
	Rule string
	// Origin is the source of the rule: empty for the built-in ones.
	Origin   string
	Inferred bool
	Optional bool
	// Backward is set if To is the object that was read and declares the edge.
	Backward bool
	// Peer, Leaf and Manages are those of its rule (relation.Rule): how far a stack follows it.
	Peer    bool
	Leaf    bool
	Manages bool
	// Template is set if a selector of pods matches the pod template of To, which has no pods yet.
	Template bool
}

// Why returns the evidence in one line: spec.volumes[0].secret.secretName = "tls".
func (e Edge) Why() string {
	if e.Value == "" {
		return e.Field
	}
	var b strings.Builder
	b.WriteString(e.Field)
	b.WriteString(" = ")
	b.WriteString(strconv.Quote(e.Value))
	if e.Template {
		b.WriteString(" in its pod template")
	}
	return b.String()
}

// edge is an Edge in 20 bytes.
type edge struct {
	from, to ID
	field    uint32
	value    uint32
	rule     uint16
	flags    linkFlags
}

// Out yields the edges from a node, by relation and target.
func (g *Graph) Out(id ID) iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		for _, e := range g.edges[g.out[id]:g.out[id+1]] {
			if !yield(g.edge(e)) {
				return
			}
		}
	}
}

// In yields the edges to a node, by source.
func (g *Graph) In(id ID) iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		for _, i := range g.into[g.in[id]:g.in[id+1]] {
			if !yield(g.edge(g.edges[i])) {
				return
			}
		}
	}
}

// Between yields the edges from one node to another.
func (g *Graph) Between(from, to ID) iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		for e := range g.between(from, to) {
			if !yield(g.edge(*e)) {
				return
			}
		}
	}
}

// between yields the edges from one node to another, by binary search: a node may have a hundred
// thousand.
func (g *Graph) between(from, to ID) iter.Seq[*edge] {
	return func(yield func(*edge) bool) {
		all := g.edges[g.out[from]:g.out[from+1]]
		for _, r := range relation.Relations() {
			i, _ := slices.BinarySearchFunc(all, to, func(e edge, to ID) int {
				return cmp.Or(cmp.Compare(g.relation(&e), r), cmp.Compare(e.to, to))
			})
			for ; i < len(all) && all[i].to == to && g.relation(&all[i]) == r; i++ {
				if !yield(&all[i]) {
					return
				}
			}
		}
	}
}

func (g *Graph) relation(e *edge) relation.Relation { return g.rules[e.rule].Relation }

// owns reports whether stacks follow the edge as ownership. The edge of a manager counts only if
// the manager is a root.
func (g *Graph) owns(e *edge) bool {
	r := &g.rules[e.rule]
	return r.Relation == relation.Owns && !r.Manages
}

func (g *Graph) manages(e *edge) bool { return g.rules[e.rule].Manages }

// isConfirmed reports whether the manager has the finalizer with which it deletes what it manages.
// An edge that comes from labels of the managed object is not proof: anyone can write labels.
func (g *Graph) isConfirmed(manager ID, e *edge) bool {
	r := &g.rules[e.rule]
	return !r.Backward || r.Deletes == "" || slices.Contains(g.Finalizers(manager), r.Deletes)
}

// collects reports whether the edge leads from a shared reader to what it selects in other
// namespaces: part of its stack if the reader is a root, and not if others merely need it.
func (g *Graph) collects(e *edge) bool {
	r := &g.rules[e.rule]
	return r.Terminal && r.Namespaces
}

func (g *Graph) edge(e edge) Edge {
	r := &g.rules[e.rule]
	return Edge{
		From: e.from, To: e.to, Relation: r.Relation, Via: r.Via, Rule: r.Name, Origin: r.Origin, Field: g.inv.Text(e.field),
		Value: g.value(&e), Inferred: e.flags&inferred != 0, Optional: e.flags&optional != 0, Backward: e.flags&backward != 0,
		Peer: r.Peer, Leaf: r.Terminal, Manages: r.Manages, Template: e.flags&byTemplate != 0,
	}
}

// value returns the value of an edge's field: the UID for an owner reference, and the name for any
// other reference with a UID. If it is the name of the target it is not stored but taken from the
// far end of the link: From for an owner reference, which is a field of the child.
func (g *Graph) value(e *edge) string {
	switch {
	case e.flags&byUID != 0 && g.rules[e.rule].Via == relation.Owner:
		return g.uids.text(e.value)
	case e.flags&(valueIsName|byUID) == 0:
		return g.inv.Text(e.value)
	case e.flags&backward != 0:
		return g.inv.Ref(g.rows[e.from]).Name
	}
	return g.inv.Ref(g.rows[e.to]).Name
}
