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

// Diagnose returns the problems of the members of the stack, most severe first. It reports that
// something is missing or that a selector matches nothing only for a kind and a namespace that were
// read completely.
//
// Time grows with the members, their edges, and the workloads and pods of their namespaces, plus
// one pass over the inventory.
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

// Problems returns the members' problems of Graph.Problems.
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

// index returns the index of everything that was read, and builds it if needed.
func (d *diagnosis) index() *inventory.Index {
	if d.lists == nil {
		d.lists = d.g.inv.Index()
	}
	return d.lists
}

// evidenceLinks yields the links of an evidence rule, for objects that are nodes.
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

// selector returns the selector of an evidence link.
func (g *Graph) selector(l *link) *relation.Selector {
	return g.selections.selector(g.inv, uint32(l.target))
}

// maxChain limits how far up a chain of controllers is followed. Real ones have five links at most.
const maxChain = 64

// controllerOf returns the owner that controls a node. known is false if a node has owners and none
// controls it, or if one of its references is wrong.
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

// topmost returns the last object up the chain of controllers (or else of first owners) that fits,
// or the node itself if none does or the chain is too long.
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

// near formats a reference for a message about another object: with the namespace only if it
// differs.
func near(r, from object.Ref) string {
	if r.Namespace == from.Namespace {
		r.Namespace = ""
	}
	return r.String()
}

// count formats a number with its noun: 1 pod, 3 pods.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
