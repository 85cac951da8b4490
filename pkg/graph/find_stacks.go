package graph

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// FoundStack is a stack that FindStacks discovered.
type FoundStack struct {
	// Group is what its tops declare to belong to; its By is empty if they declare nothing.
	Group Group
	// TopObjects are the workloads and custom resources by which it was found, in order.
	TopObjects []ID
	// Roots are the objects that its name refers to: all objects of the group that no other of it
	// owns, the parent of the set, or else the one top.
	Roots []ID
}

// Ref returns the name of the stack: its group, or else its root.
func (f FoundStack) Ref(g *Graph) object.Ref {
	if f.Group.By != "" {
		return f.Group.Ref()
	}
	return g.Ref(f.Roots[0])
}

// ExclusionReason is why a custom resource without an owner is not the top of a stack.
type ExclusionReason uint8

// The reasons.
const (
	// IsManager: it installs others (a GitOps application), which have stacks of their own.
	IsManager ExclusionReason = iota + 1
	// IsConfiguration: its kind serves others, or is collected by a shared reader.
	IsConfiguration
	// IsAccessory: it runs nothing permanent, and needs a resource of the same operator that does:
	// a topic of a broker.
	IsAccessory
	// IsClusterWide: it is cluster-scoped and owns nothing: a policy, an issuer.
	IsClusterWide
)

// FoundStacks are the stacks that were found.
type FoundStacks struct {
	Stacks []FoundStack
	// Excluded has the reasons for the other custom resources without an owner.
	Excluded map[ID]ExclusionReason
}

// FindStacks finds the application stacks of a namespace, or of all if it is empty.
//
// The candidates for the top of a stack are objects without an owner: the topmost owner of a
// workload, or a custom resource, even one that runs nothing: its operator may have failed.
// Excluded are custom resources that exist for others:
//
//   - A manager (Application, Kustomization, ApplySet): the graph follows it only as a root, and
//     what it manages has stacks of its own.
//   - One whose kind serves others or is collected (ServiceMonitor, ScaledObject): configuration,
//     in the stack of what it serves.
//   - One that needs a running resource of the same operator (a topic its broker, a backup its
//     database): an accessory. As a top it would hide the resource, and a broker would be named
//     after one of its topics.
//   - A cluster-scoped one that owns nothing: issuers, policies, pools.
//
// Of the rest, those stay that no other one needs, at any depth (see TopOwners). A root does not
// include what it serves here, else everything would be in the stack of its monitor. What runs
// nothing or, like a CronJob, only at times, does not hide a permanent workload that it calls. Nor
// does an object that needs what a running one makes; but a maker that runs nothing, such as a
// Certificate, is in the stack of those that need it.
//
// Tops that declare to belong together are one stack: by their ApplySet, else their Helm release,
// else their instance label within a namespace.
//
// Time grows with the graph and with the sum of the stacks.
func (g *Graph) FindStacks(namespace string, o StackOptions) FoundStacks {
	f := finder{g: g, opts: o, within: namespace, lasts: map[ID]bool{}, excluded: map[ID]ExclusionReason{}, serving: g.servingKinds()}
	tops := f.tops()
	o.still = true
	apexes := g.apexes(tops, o, f.hides)
	return FoundStacks{Stacks: f.group(apexes), Excluded: f.excluded}
}

// finder finds the tops of stacks.
type finder struct {
	g      *Graph
	opts   StackOptions
	within string
	// lasts has the tops that own a permanent workload, or are served by one.
	lasts    map[ID]bool
	excluded map[ID]ExclusionReason
	serving  map[schema.GroupKind]bool
}

// hides reports whether the stack of a top hides another top that is in it.
func (f *finder) hides(s *Stack, id ID) bool {
	top := s.roots[0]
	if s.marked(id, markProvenance) {
		return !f.lasts[id]
	}
	return s.IsOwnPart(id) && (f.lasts[top] || !f.lasts[id] && isCustom(f.g, top))
}

// tops returns the candidates for the top of a stack, in order.
func (f *finder) tops() []ID {
	seen := map[ID]bool{}
	for id := range ID(f.g.Len()) {
		r := f.g.Ref(id)
		custom := isCustom(f.g, id)
		if !f.g.WasRead(id) || !custom && !isWorkload(r) || f.within != "" && r.Namespace != f.within || IsBoundary(r) {
			continue
		}
		top := id
		if path := f.g.OwnerPath(id, f.opts); len(path) > 0 {
			top = path[0]
		}
		// A custom resource that a Secret or an Ingress owns is a part of that object.
		if isWorkload(r) || top == id || isCustom(f.g, top) || isWorkload(f.g.Ref(top)) {
			seen[top] = true
			f.lasts[top] = f.lasts[top] || f.lasting(id)
		}
	}
	f.carried(seen)
	for top := range seen {
		if reason := f.exclusionReason(top); reason != 0 {
			f.excluded[top] = reason
		}
	}
	maps.DeleteFunc(seen, func(id ID, _ bool) bool { return f.excluded[id] != 0 })
	return slices.Sorted(maps.Keys(seen))
}

// lasting reports whether a node is a workload that runs until it is deleted.
func (f *finder) lasting(id ID) bool {
	r := f.g.Ref(id)
	if !isWorkload(r) || r.Group == "batch" {
		return false
	}
	return !slices.ContainsFunc(f.g.ownersOf(id, f.opts), func(o ID) bool { return f.g.Ref(o).Group == "batch" })
}

// carried marks custom resources that a running one serves: a Kafka by its node pools.
func (f *finder) carried(tops map[ID]bool) {
	var next []ID
	for top := range tops {
		if f.lasts[top] {
			next = append(next, top)
		}
	}
	for len(next) > 0 {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		for i := f.g.out[at]; i < f.g.out[at+1] && isCustom(f.g, at); i++ {
			e := &f.g.edges[i]
			if f.g.relation(e) == relation.Serves && f.opts.follows(f.g, e) && tops[e.to] && isCustom(f.g, e.to) && !f.lasts[e.to] {
				f.lasts[e.to] = true
				next = append(next, e.to)
			}
		}
	}
}

// exclusionReason returns why a custom resource is not a top, or 0 if it is one.
func (f *finder) exclusionReason(top ID) ExclusionReason {
	g := f.g
	if !isCustom(g, top) || !g.WasRead(top) {
		return 0
	}
	owns, accessory := false, false
	for i := g.out[top]; i < g.out[top+1]; i++ {
		e := &g.edges[i]
		if !g.WasRead(e.to) || !f.opts.follows(g, e) {
			continue
		}
		switch {
		case g.manages(e) && g.isConfirmed(top, e):
			return IsManager
		case g.owns(e):
			owns = true
		case g.relation(e) == relation.Needs && !g.rules[e.rule].Terminal:
			accessory = accessory || f.accessory(top, e.to)
		}
	}
	switch {
	case f.lasts[top]:
		return 0
	case f.serving[g.Ref(top).GroupKind()]:
		return IsConfiguration
	case accessory:
		return IsAccessory
	case g.Ref(top).Namespace == "" && !owns:
		return IsClusterWide
	}
	return 0
}

// accessory reports whether a custom resource needs a running one of the same operator, or a part
// of it.
func (f *finder) accessory(dependent, needed ID) bool {
	if path := f.g.OwnerPath(needed, f.opts); len(path) > 0 {
		needed = path[0]
	}
	return needed != dependent && isCustom(f.g, needed) && f.runs(needed) && sameOperator(f.g.Ref(dependent).Group, f.g.Ref(needed).Group)
}

// runs reports whether a node owns a permanent workload. It computes that for tops of other
// namespaces, which lasts does not have.
func (f *finder) runs(id ID) bool {
	if f.within == "" || f.lasts[id] {
		return f.lasts[id]
	}
	for child := range f.g.descendants(id, f.opts) {
		if f.lasting(child) {
			return true
		}
	}
	return false
}
