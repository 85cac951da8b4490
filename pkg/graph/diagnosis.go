package graph

import (
	"fmt"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Diagnose returns what is wrong with the members of the stack, the worst first.
// It says only what follows from what was read: that something is not there, or
// that nothing is found, only of a kind and a namespace that were read whole.
//
// Time grows with the members, their edges, and the workloads and pods of their
// namespaces, besides one pass over the inventory.
func (s *Stack) Diagnose() []Problem {
	d := diagnosis{s: s, g: s.g, problems: s.Problems(), wrong: s.g.misowned()}
	d.dangling()
	d.checkSelectors()
	d.ended()
	d.refused()
	d.unrouted()
	for _, id := range s.members {
		if s.g.State(id) == Present && s.g.Ref(id).GroupKind() == claimKind {
			d.unmounted(id)
		}
	}
	d.disagreements()
	slices.SortFunc(d.problems, compareProblems)
	return slices.Compact(d.problems)
}

// misowned returns the objects with a wrong owner reference.
func (g *Graph) misowned() map[object.Ref]bool {
	wrong := map[object.Ref]bool{}
	for i := range g.problems {
		if p := &g.problems[i]; p.Reason != NotGranted {
			wrong[p.Object] = true
		}
	}
	return wrong
}

// Problems returns those of Graph.Problems that are of members.
func (s *Stack) Problems() []Problem {
	var out []Problem
	for _, p := range s.g.problems {
		if id, ok := s.g.Find(p.Object); ok && s.Has(id) {
			out = append(out, p)
		}
	}
	return out
}

// diagnosis collects the problems of a stack.
type diagnosis struct {
	s        *Stack
	g        *Graph
	problems []Problem
	wrong    map[object.Ref]bool // objects with a wrong owner reference
	lists    *inventory.Index
}

var (
	podKind     = schema.GroupKind{Kind: "Pod"}
	serviceKind = schema.GroupKind{Kind: "Service"}
	claimKind   = schema.GroupKind{Kind: "PersistentVolumeClaim"}
)

// index is of everything that was read; it is made at the first question.
func (d *diagnosis) index() *inventory.Index {
	if d.lists == nil {
		d.lists = d.g.inv.Index()
	}
	return d.lists
}

// evidenceLinks yields what a rule of evidence reads off the objects that are nodes.
func (g *Graph) evidenceLinks(rule string) iter.Seq2[ID, *link] {
	return func(yield func(ID, *link) bool) {
		for i := range g.evidence {
			e := &g.evidence[i]
			id := g.number[e.row]
			if id < 0 || g.rows[id] != e.row || g.rules[e.link.rule].Name != rule || !g.inv.Present(e.row) {
				continue
			}
			if !yield(id, &e.link) {
				return
			}
		}
	}
}

// selector of a piece of evidence that chooses pods.
func (g *Graph) selector(l *link) *relation.Selector {
	return g.selections.selector(g.inv, uint32(l.target))
}

// maxChain is how far up a chain of controllers is followed. Real ones have five
// links at most; beyond, nothing is claimed.
const maxChain = 64

// controllerOf returns the owner that controls a node. known is false where a node
// has owners and none of them does, or where one of its references is wrong.
func (d *diagnosis) controllerOf(id ID) (owner ID, has, known bool) {
	owned := false
	for _, i := range d.g.into[d.g.in[id]:d.g.in[id+1]] {
		e := &d.g.edges[i]
		switch {
		case d.g.rules[e.rule].Via != relation.Owner:
		case e.flags&controller != 0:
			return e.from, true, true
		default:
			owned = true
		}
	}
	return 0, false, !owned && !d.wrong[d.g.Ref(id)]
}

// topmost returns the last one, up the chain of controllers (or else of first
// owners), that fits; the node itself where none does or the chain has no end.
func (d *diagnosis) topmost(id ID, fits func(ID) bool) ID {
	top, at := id, id
	for range maxChain {
		owner, controlled, _ := d.controllerOf(at)
		if !controlled {
			owners := d.g.OwnersOf(at)
			if len(owners) == 0 {
				return top
			}
			owner = owners[0]
		}
		if at = owner; fits(at) {
			top = at
		}
	}
	return id
}

// near writes an object for people who look at another one: the namespace only
// where it is another.
func near(r, from object.Ref) string {
	if r.Namespace == from.Namespace {
		r.Namespace = ""
	}
	return r.String()
}

// count writes a number of things: 1 pod, 3 pods.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
