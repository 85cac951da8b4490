package graph

import (
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Reasons of a Problem.
const (
	NotGranted            = "NotGranted"
	OwnerAbsent           = "OwnerAbsent"
	OwnerReplaced         = "OwnerReplaced"
	OwnerMismatch         = "OwnerMismatch"
	OwnerForeignNamespace = "OwnerForeignNamespace"
	OwnerNamespaced       = "OwnerNamespaced"
	OwnerCycle            = "OwnerCycle"
)

// owned resolves an owner reference as the garbage collector does: by kind and
// name, in the namespace of the object or cluster-scoped, and then the UID must
// agree. Anything else is no owner, and is told.
func (r *resolver) owned(child inventory.ID, l *link) {
	target, uid := inventory.ID(l.target), r.uids.list[l.value]
	if r.rules.Rules()[l.rule].Via != relation.Owner {
		r.same(child, target, uid, l)
		return
	}
	self, owner := r.inv.Ref(child), r.inv.Ref(target)
	if k, served := r.kinds.Kind(owner.GroupKind()); served && k.Namespaced && self.Namespace == "" {
		r.problem(self, OwnerNamespaced, "cluster-scoped, but its owner %s is of a namespaced kind", owner)
		return
	}
	if target == child {
		r.problem(self, OwnerCycle, "names itself as its owner")
		return
	}
	if r.inv.Present(target) && (uid == r.inv.RawUID(target) || r.inv.RawUID(target) == inventory.UID{}) {
		r.add(child, target, l)
		return
	}
	holder, ok := r.inv.ByUID(uid)
	switch {
	case ok && r.moved(holder, owner):
		r.add(child, holder, l)
	case ok:
		r.misnamed(self, owner, r.inv.Ref(holder))
	case r.inv.Present(target):
		r.problem(self, OwnerReplaced, "its owner %s is gone: the object of that name is a newer one (UID %s, not %s)", owner, r.inv.UID(target), r.uids.text(l.value))
	default:
		if r.inv.Missing(target) || r.kinds.NotServed(owner.GroupKind()) {
			r.problem(self, OwnerAbsent, "its owner %s is not there", owner)
		}
		r.add(child, target, l)
	}
}

// same resolves a reference that is no owner's: another object under a used name
// is not what was meant, and that is nobody's fault.
func (r *resolver) same(said, target inventory.ID, uid inventory.UID, l *link) {
	if raw := r.inv.RawUID(target); !r.inv.Present(target) || raw == uid || raw == (inventory.UID{}) {
		r.add(said, target, l)
	}
}

// moved says that the holder of the UID is the owner that was meant: under the
// group where its kind lives today (extensions before apps and networking), or
// cluster-scoped, of a kind of which that was not known.
func (r *resolver) moved(holder inventory.ID, owner object.Ref) bool {
	h := r.inv.Ref(holder)
	return h.Kind == owner.Kind && h.Name == owner.Name && (h.Namespace == owner.Namespace || h.Namespace == "")
}

func (r *resolver) misnamed(self, named, holder object.Ref) {
	if holder.Namespace != "" && holder.Namespace != self.Namespace {
		r.problem(self, OwnerForeignNamespace, "its owner %s is in another namespace, which the garbage collector takes as absent", holder)
		return
	}
	r.problem(self, OwnerMismatch, "names its owner as %s, but that UID is %s", named, holder)
}

func (r *resolver) problem(o object.Ref, reason, format string, args ...any) {
	r.problems = append(r.problems, Problem{Object: o, Reason: reason, Message: fmt.Sprintf(format, args...)})
}

// OwnersOf returns the direct owners of a node, each once, without managers.
func (g *Graph) OwnersOf(id ID) []ID { return g.ownersOf(id, StackOptions{}) }

func (g *Graph) ownersOf(id ID, o StackOptions) []ID {
	return g.sources(id, func(e *edge) bool { return g.owns(e) && o.follows(g, e) })
}

// managersOf returns who manages a node: releases, GitOps applications.
func (g *Graph) managersOf(id ID, o StackOptions) []ID {
	return g.sources(id, func(e *edge) bool { return g.manages(e) && o.follows(g, e) })
}

// sources returns where the edges come from that arrive at a node and that want
// accepts, each once.
func (g *Graph) sources(id ID, want func(*edge) bool) []ID {
	var from []ID
	// Edges arrive in the order of their sources.
	for _, i := range g.into[g.in[id]:g.in[id+1]] {
		if e := &g.edges[i]; want(e) && (len(from) == 0 || from[len(from)-1] != e.from) {
			from = append(from, e.from)
		}
	}
	return from
}

// climbable returns the owners of a node to which a stack climbs: not a boundary
// (a static pod is owned by its Node), and not what is gone.
func (g *Graph) climbable(id ID, o StackOptions) []ID {
	return slices.DeleteFunc(g.ownersOf(id, o), func(x ID) bool { return IsBoundary(g.Ref(x)) || g.State(x) == Missing })
}

// topmost returns the last owners above some nodes, without those that nobody
// owns.
func (g *Graph) topmost(ids []ID, o StackOptions) []ID {
	seen := map[ID]bool{}
	var tops []ID
	climb := func(id ID) bool {
		above := g.climbable(id, o)
		for _, x := range above {
			if !seen[x] {
				seen[x] = true
				tops = append(tops, x)
			}
		}
		return len(above) > 0
	}
	for _, id := range ids {
		climb(id)
	}
	// What is found is climbed from in turn, and stays if it is the last.
	last := tops[:0:0]
	for next := 0; next < len(tops); next++ {
		if !climb(tops[next]) {
			last = append(last, tops[next])
		}
	}
	return last
}
