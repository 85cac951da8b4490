package graph

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// FoundStack is a stack that was found without anybody naming it.
type FoundStack struct {
	// Group is what its tops say they belong to; of none, its By is empty.
	Group Group
	// TopObjects are the workloads and custom resources by which it was found, in order.
	TopObjects []ID
	// Roots are what its name stands for: all objects of the group that no other of it
	// owns, who keeps the set, or else the one top.
	Roots []ID
}

// Ref is what the stack is called: its group, or else its root.
func (f FoundStack) Ref(g *Graph) object.Ref {
	if f.Group.By != "" {
		return f.Group.Ref()
	}
	return g.Ref(f.Roots[0])
}

// ExclusionReason is why a custom resource that nobody owns is the top of no stack.
type ExclusionReason uint8

// The reasons.
const (
	// Manages: it installs others (a GitOps application), which stand for themselves.
	IsManager ExclusionReason = iota + 1
	// Configures: its kind serves others, or is collected by a shared reader.
	IsConfiguration
	// Accessory: it runs nothing that lasts, and needs a resource of the same operator
	// that does: a topic of a broker.
	IsAccessory
	// IsClusterWide: it is in no namespace and owns nothing: a policy, an issuer.
	IsClusterWide
)

// FoundStacks are the stacks that were found.
type FoundStacks struct {
	Stacks []FoundStack
	// Excluded says of other custom resources that nobody owns why they are no stacks.
	Excluded map[ID]ExclusionReason
}

// FindStacks finds the application stacks of a namespace, or of all where it is empty.
//
// What may be on top of a stack is what nobody owns: the topmost owner of a workload, or
// a custom resource. A custom resource without anything that runs is a top as well: its
// operator may have failed to make it. But it is not where it is there for others:
//
//   - A manager (Application, Kustomization, ApplySet) is left out: the graph follows it
//     only where it is asked for, and what it manages stands for itself.
//   - One whose kind is known to serve others or to be collected (ServiceMonitor,
//     ScaledObject) is configuration: it is in the stack of what it serves.
//   - One that needs a running resource of the same operator (a topic its broker, a
//     backup its database) is an accessory. As a top it would hide what it needs, and a
//     broker would go by the name of one of its topics.
//   - One in no namespace that owns nothing is ground: issuers, policies, pools.
//
// Of the rest those stay that no other of them needs, at any depth (see Apexes). A root
// does not stand for what it serves here, else each would be in the stack of its monitor;
// and what runs nothing, or only now and then as a CronJob does, does not hide a running
// thing that it visits. Nor does who needs what a running thing makes; but a maker that runs
// nothing, such as a Certificate, is in the stack of those who need it.
//
// Tops that say that they belong together are one stack: by the ApplySet that they are
// in, else their Helm release, else their instance label, which is one of a namespace.
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
	// lasts says of tops whether they own something that runs and is to last, or are served
	// by what does.
	lasts    map[ID]bool
	excluded map[ID]ExclusionReason
	serving  map[schema.GroupKind]bool
}

// hides says whether the stack of a top hides another one, which is in it.
func (f *finder) hides(s *Stack, id ID) bool {
	top := s.roots[0]
	if s.provenance[id] {
		return !f.lasts[id]
	}
	return s.IsOwnPart(id) && (f.lasts[top] || !f.lasts[id] && isCustom(f.g, top))
}

// tops returns what may be on top of a stack, in order.
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
		// A custom resource that a Secret or an Ingress owns is a part of that.
		if isWorkload(r) || top == id || isCustom(f.g, top) || isWorkload(f.g.Ref(top)) {
			seen[top] = true
			f.lasts[top] = f.lasts[top] || f.lasting(id)
		}
	}
	f.carried(seen)
	for top := range seen {
		if why := f.exclusionReason(top); why != 0 {
			f.excluded[top] = why
		}
	}
	maps.DeleteFunc(seen, func(id ID, _ bool) bool { return f.excluded[id] != 0 })
	return slices.Sorted(maps.Keys(seen))
}

// lasting says whether a node is a workload that is to run until it is taken away.
func (f *finder) lasting(id ID) bool {
	r := f.g.Ref(id)
	if !isWorkload(r) || r.Group == "batch" {
		return false
	}
	return !slices.ContainsFunc(f.g.ownersOf(id, f.opts), func(o ID) bool { return f.g.Ref(o).Group == "batch" })
}

// carried notes what runs by a running custom resource that serves it: a Kafka by its
// node pools.
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

// exclusionReason says why a custom resource is no top; 0 for what is one.
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

// accessory says whether a custom resource needs one that runs, and that the same
// operator keeps, or a part of it.
func (f *finder) accessory(of, needed ID) bool {
	if path := f.g.OwnerPath(needed, f.opts); len(path) > 0 {
		needed = path[0]
	}
	return needed != of && isCustom(f.g, needed) && f.runs(needed) && sameOperator(f.g.Ref(of).Group, f.g.Ref(needed).Group)
}

// runs says whether anything lasting is among what a node owns. A top of another
// namespace was not looked at before.
func (f *finder) runs(id ID) bool {
	if f.within == "" || f.lasts[id] {
		return f.lasts[id]
	}
	for below := range f.g.descendants(id, f.opts) {
		if f.lasting(below) {
			return true
		}
	}
	return false
}
