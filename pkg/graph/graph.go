package graph

import (
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// ID numbers a node of one Graph, from 0, in the order of object.Compare.
type ID int32

// State says what is known of a node's object.
type State uint8

// The states of a node.
const (
	// Present: the object was read.
	Present State = iota
	// Missing: it is named, and it is not there.
	Missing
	// Unread: it is named, and nobody looked or nobody was allowed to.
	Unread
	// Virtual: it is a name and no object, such as a user.
	Virtual
)

func (s State) String() string { return [...]string{"present", "missing", "unread", "virtual"}[s] }

// Node is an object of the graph.
type Node struct {
	ID    ID
	Ref   object.Ref
	State State
	// APIVersion is that in which the object was read; for one that was not, that
	// in which the kind is served, or else empty.
	APIVersion string
	// UID is empty for an object that was not read.
	UID types.UID
	// Boundary says that stacks stand on it and never go beyond.
	Boundary bool
}

// Graph is the nodes and edges of everything that was read. It is immutable.
type Graph struct {
	inv   *inventory.Inventory
	kinds *object.Kinds
	rules []relation.Rule

	rows   []inventory.ID // by node
	number []ID           // by row; -1 where the row is no node
	uids   uids

	edges []edge   // by From
	out   []uint32 // start in edges, by node; one more at the end
	into  []uint32 // edges by To
	in    []uint32 // start in into, by node; one more at the end

	finalizers map[inventory.ID][]uint32

	problems   []Problem
	candidates map[ID][]candidate
	ungranted  map[ID]bool
	areas      map[ID][]area

	// What a diagnosis asks for, and nothing else.
	evidence       []said
	emptySelectors []said // selectors of what serves what it finds, and finds nothing
	selectors      []relation.Target
	selections     selections
}

// Len is the number of nodes.
func (g *Graph) Len() int { return len(g.rows) }

// Edges is the number of edges.
func (g *Graph) Edges() int { return len(g.edges) }

// EdgesByRule returns how many edges each rule made, in the order of the rules
// that the graph was built with.
func (g *Graph) EdgesByRule() []int {
	n := make([]int, len(g.rules))
	for i := range g.edges {
		n[g.edges[i].rule]++
	}
	return n
}

// Nodes yields every node, in order.
func (g *Graph) Nodes() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		for i := range g.rows {
			if !yield(g.Node(ID(i))) {
				return
			}
		}
	}
}

// Find returns the node of a reference.
func (g *Graph) Find(r object.Ref) (ID, bool) {
	row, ok := g.inv.Find(r)
	if !ok || int(row) >= len(g.number) || g.number[row] < 0 {
		return 0, false
	}
	return g.number[row], true
}

// Ref returns the identity of a node.
func (g *Graph) Ref(id ID) object.Ref { return g.inv.Ref(g.rows[id]) }

// Node returns a node with all that is known of it.
func (g *Graph) Node(id ID) Node {
	row := g.rows[id]
	n := Node{ID: id, Ref: g.inv.Ref(row), State: g.State(id), UID: g.inv.UID(row)}
	n.Boundary = IsBoundary(n.Ref)
	version := g.inv.Version(row)
	if version == "" {
		if r, ok := g.kinds.Kind(n.Ref.GroupKind()); ok {
			version = r.Version
		}
	}
	if version != "" {
		n.APIVersion = schema.GroupVersion{Group: n.Ref.Group, Version: version}.String()
	}
	return n
}

// State returns what is known of a node's object.
func (g *Graph) State(id ID) State {
	row := g.rows[id]
	switch {
	case g.inv.Present(row):
		return Present
	case relation.IsVirtual(g.inv.Ref(row).GroupKind()):
		return Virtual
	case missing(g.inv, row), g.kinds.NotServed(g.inv.Ref(row).GroupKind()):
		return Missing
	}
	return Unread
}

// WasRead says that a node is Present, or that it is Unread and was read before, so that
// what it said then of itself and of others is in the graph.
func (g *Graph) WasRead(id ID) bool { return g.inv.WasRead(g.rows[id]) }

// StateOf returns what is known of an object, whether or not it is a node.
func (g *Graph) StateOf(r object.Ref) State {
	if id, ok := g.Find(r); ok {
		return g.State(id)
	}
	row, named := g.inv.Find(r)
	switch {
	case named && missing(g.inv, row), g.kinds.NotServed(r.GroupKind()), !named && g.inv.Covered(r.GroupKind(), r.Namespace) && !leftOut(g.inv, r):
		return Missing
	}
	return Unread
}

// Label returns the value of a label of a node.
func (g *Graph) Label(id ID, key string) (string, bool) { return g.inv.Label(g.rows[id], key) }

// Labels returns the labels of a node.
func (g *Graph) Labels(id ID) map[string]string { return g.inv.Labels(g.rows[id]) }

// Annotation returns the value of an annotation of a node, if its inventory keeps it.
func (g *Graph) Annotation(id ID, key string) (string, bool) {
	return g.inv.Annotation(g.rows[id], key)
}

// Finalizers returns the finalizers of a node: it stays, being deleted, until each of them
// is taken off.
func (g *Graph) Finalizers(id ID) []string {
	var out []string
	for _, name := range g.finalizers[g.rows[id]] {
		out = append(out, g.inv.Text(name))
	}
	return out
}

// OfKind yields the nodes of a kind, in order.
func (g *Graph) OfKind(gk schema.GroupKind) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		first, _ := slices.BinarySearchFunc(g.rows, gk, func(row inventory.ID, gk schema.GroupKind) int {
			r := g.inv.Ref(row)
			return object.Compare(object.Ref{Group: r.Group, Kind: r.Kind}, object.Ref{Group: gk.Group, Kind: gk.Kind})
		})
		for i := first; i < len(g.rows) && g.Ref(ID(i)).GroupKind() == gk; i++ {
			if !yield(ID(i)) {
				return
			}
		}
	}
}

// Gaps returns what could not be read, in order.
func (g *Graph) Gaps() []object.Gap {
	gaps := slices.Clone(g.inv.Gaps())
	slices.SortFunc(gaps, func(a, b object.Gap) int {
		for _, c := range []int{strings.Compare(a.Resource, b.Resource), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Reason, b.Reason)} {
			if c != 0 {
				return c
			}
		}
		return strings.Compare(a.Message, b.Message)
	})
	return gaps
}
