package graph

import (
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// owned resolves an owner reference as the garbage collector does: by kind and name, in the
// namespace of the object or cluster-scoped, and then the UID must match. Anything else is no
// owner, and is a problem. If the kind is not served, the garbage collector retries for ever and
// never deletes the object.
func (r *resolver) owned(child inventory.ID, l *link) {
	target, uid := inventory.ID(l.target), r.uids.list[l.value]
	if r.rules.Rules()[l.rule].Via != relation.Owner {
		r.same(child, target, uid, l)
		return
	}
	self, owner := r.inv.Ref(child), r.inv.Ref(target)
	if k, served := r.kinds.Kind(owner.GroupKind()); served && k.Namespaced && self.Namespace == "" {
		r.problem(self, OwnerNamespaced, owner, l, "cluster-scoped, but its owner %s is of a namespaced kind", owner)
		return
	}
	if target == child {
		r.problem(self, OwnerCycle, owner, l, "names itself as its owner")
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
		r.misnamed(self, owner, r.inv.Ref(holder), l)
	case r.inv.Present(target):
		r.problem(self, OwnerReplaced, owner, l, "its owner %s is gone: the object of that name is a newer one (UID %s, not %s)", owner, r.inv.UID(target), r.uids.text(l.value))
	case r.kinds.NotServed(owner.GroupKind()):
		r.problem(self, OwnerNotServed, owner, l, "its owner %s is of %s", owner, unserved)
	default:
		if missing(r.inv, target) {
			r.problem(self, OwnerAbsent, owner, l, "its owner %s does not exist", owner)
		}
		r.add(child, target, l)
	}
}

// same resolves another reference with a UID. If the UID differs, the name was reused by another
// object, which is no problem.
func (r *resolver) same(source, target inventory.ID, uid inventory.UID, l *link) {
	if raw := r.inv.RawUID(target); !r.inv.Present(target) || raw == uid || raw == (inventory.UID{}) {
		r.add(source, target, l)
	}
}

// moved reports whether the object with the UID is the owner: in another group that serves or
// served its kind, or cluster-scoped, if the scope of the kind was unknown.
func (r *resolver) moved(holder inventory.ID, owner object.Ref) bool {
	h := r.inv.Ref(holder)
	if h.Kind != owner.Kind || h.Name != owner.Name || h.Namespace != owner.Namespace && h.Namespace != "" {
		return false
	}
	return h.Group == owner.Group || slices.Contains(groupsOf(h.Kind), h.Group) && slices.Contains(groupsOf(h.Kind), owner.Group) || r.unread(owner)
}

// unread reports whether an object of a served kind may exist: an aggregated server can serve the
// objects of another group as its own.
func (r *resolver) unread(o object.Ref) bool {
	_, served := r.kinds.Kind(o.GroupKind())
	row, named := r.inv.Find(o)
	return served && (!named || !r.inv.Missing(row))
}

// groupsOf returns the groups of a built-in kind that has been in more than one, with the same
// objects in each.
func groupsOf(kind string) []string {
	switch kind {
	case "Deployment", "DaemonSet", "ReplicaSet":
		return []string{"extensions", "apps"}
	case "Ingress", "NetworkPolicy":
		return []string{"extensions", "networking.k8s.io"}
	case "PodSecurityPolicy":
		return []string{"extensions", "policy"}
	case "Event":
		return []string{"", "events.k8s.io"}
	}
	return nil
}

func (r *resolver) misnamed(self, named, holder object.Ref, l *link) {
	if holder.Namespace != "" && holder.Namespace != self.Namespace {
		r.problem(self, OwnerForeignNamespace, holder, l, "its owner %s is in another namespace, which the garbage collector treats as absent", holder)
		return
	}
	message := fmt.Sprintf("names its owner as %s, but that UID is %s", named, holder)
	if r.kinds.NotServed(named.GroupKind()) {
		message += ": " + named.GroupKind().String() + " is " + unserved
	}
	r.problem(self, OwnerMismatch, holder, l, "%s", message)
}

// unserved is the consequence of an owner of a kind that is not served.
const unserved = "a kind that the cluster does not serve, so that the garbage collector never deletes the object; correct the apiVersion, or remove the reference"

func (r *resolver) problem(o object.Ref, reason string, related object.Ref, l *link, format string, args ...any) {
	severity := Warning
	if reason == NotGranted {
		severity = Error
	}
	r.problems = append(r.problems, Problem{
		Object: o, Reason: reason, Severity: severity, Message: fmt.Sprintf(format, args...), Related: related, Field: r.inv.Text(l.field),
	})
}

// controllers reports an object with two controlling owners. Today the API server refuses that;
// earlier versions did not.
func (r *resolver) controllers(id inventory.ID) {
	var first *link
	for i := range r.linksOf(id) {
		l := &r.linksOf(id)[i]
		switch {
		case l.flags&controller == 0:
		case first == nil:
			first = l
		case !r.sameOwner(first, l):
			a, b := r.inv.Ref(inventory.ID(first.target)), r.inv.Ref(inventory.ID(l.target))
			r.problems = append(r.problems, Problem{
				Object: r.inv.Ref(id), Reason: TwoControllers, Severity: Error, Related: b, Field: r.inv.Text(l.field),
				Message: fmt.Sprintf("both %s and %s are its controller, so that the API server refuses every change of it: remove controller from one of metadata.ownerReferences", a, b),
			})
			return
		}
	}
}

func (r *resolver) sameOwner(a, b *link) bool {
	if a.target != b.target || a.flags&b.flags&byUID == 0 {
		return a.target == b.target
	}
	return r.uids.list[a.value] == r.uids.list[b.value]
}

// OwnersOf returns the direct owners of a node, each once, without managers.
func (g *Graph) OwnersOf(id ID) []ID { return g.ownersOf(id, StackOptions{}) }

// Owned returns what a node owns directly, each once, in order, without what it manages.
func (g *Graph) Owned(id ID) []ID {
	var out []ID
	for i := g.out[id]; i < g.out[id+1]; i++ {
		if e := &g.edges[i]; g.owns(e) && !g.rules[e.rule].Peer && !slices.Contains(out, e.to) {
			out = append(out, e.to)
		}
	}
	slices.Sort(out)
	return out
}

func (g *Graph) ownersOf(id ID, o StackOptions) []ID {
	return g.sources(id, func(e *edge) bool { return g.owns(e) && o.follows(g, e) })
}

// ManagersOf returns the direct managers of a node, each once, in order.
func (g *Graph) ManagersOf(id ID) []ID { return g.managersOf(id, StackOptions{}) }

// managersOf returns the managers of a node: releases, GitOps applications.
func (g *Graph) managersOf(id ID, o StackOptions) []ID {
	return g.sources(id, func(e *edge) bool { return g.manages(e) && o.follows(g, e) })
}

// sources returns the sources of the edges to a node that want accepts, each once.
func (g *Graph) sources(id ID, want func(*edge) bool) []ID {
	var from []ID
	// Edges are sorted by source.
	for _, i := range g.into[g.in[id]:g.in[id+1]] {
		if e := &g.edges[i]; want(e) && (len(from) == 0 || from[len(from)-1] != e.from) {
			from = append(from, e.from)
		}
	}
	return from
}

// climbable returns the owners of a node that a stack follows upward: not a boundary (a static pod
// is owned by its Node), and not a missing one.
func (g *Graph) climbable(id ID, o StackOptions) []ID {
	return slices.DeleteFunc(g.ownersOf(id, o), func(x ID) bool { return IsBoundary(g.Ref(x)) || g.State(x) == Missing })
}

// topmost returns the topmost owners of some nodes, without nodes that have no owner.
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
	// Each owner is climbed from in turn, and is a result if it has none itself.
	last := tops[:0:0]
	for next := 0; next < len(tops); next++ {
		if !climb(tops[next]) {
			last = append(last, tops[next])
		}
	}
	return last
}
