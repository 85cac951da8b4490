package graph

import (
	"iter"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// ID numbers a node of one Graph, from 0, in the order of object.Compare.
type ID int32

// State tells whether a node's object was read.
type State uint8

// The states of a node.
const (
	// Present: the object was read.
	Present State = iota
	// Missing: another object refers to it, and it does not exist.
	Missing
	// Unread: another object refers to it, and it was not requested or could not be read.
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
	// APIVersion is the version in which the object was read; otherwise the version in which the
	// kind is served, or "".
	APIVersion string
	// UID is empty for an object that was not read.
	UID types.UID
	// Boundary is set if stacks end at it.
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

	// Used only by Diagnose.
	evidence       []said
	emptySelectors []said // selectors, of objects that serve what they select, without a match
	selectors      []relation.Target
	selections     selections

	// seen has *visited, which is empty between the walks.
	seen *sync.Pool
}

// Len returns the number of nodes.
func (g *Graph) Len() int { return len(g.rows) }

// Edges returns the number of edges.
func (g *Graph) Edges() int { return len(g.edges) }

// EdgesByRule returns the number of edges of each rule, in the order of the graph's rules.
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

// Node returns the data of a node.
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

// State returns whether a node's object was read, is missing, unread or virtual.
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

// WasRead reports whether a node is Present, or is Unread and was read before, so that its last
// known links are in the graph.
func (g *Graph) WasRead(id ID) bool { return g.inv.WasRead(g.rows[id]) }

// StateOf returns the state of an object, even if it is not a node.
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

// Annotation returns the value of an annotation of a node, if the inventory stores its key.
func (g *Graph) Annotation(id ID, key string) (string, bool) {
	return g.inv.Annotation(g.rows[id], key)
}

// Finalizers returns the finalizers of a node: a deleted object remains until all are removed.
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
