package graph

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Found is a stack that was found without anybody naming it.
type Found struct {
	// Group is what its tops say they belong to; of none, its By is empty.
	Group Group
	// Tops are the workloads and custom resources by which it was found, in order.
	Tops []ID
	// Roots are what its name stands for: all objects of the group that no other of it
	// owns, who keeps the set, or else the one top.
	Roots []ID
}

// Ref is what the stack is called: its group, or else its root.
func (f Found) Ref(g *Graph) object.Ref {
	if f.Group.By != "" {
		return f.Group.Ref()
	}
	return g.Ref(f.Roots[0])
}

// Aside is why a custom resource that nobody owns is the top of no stack.
type Aside uint8

// The reasons.
const (
	// Manages: it installs others (a GitOps application), which stand for themselves.
	Manages Aside = iota + 1
	// Configures: its kind serves others, or is collected by a shared reader.
	Configures
	// Accessory: it runs nothing that lasts, and needs a resource of the same operator
	// that does: a topic of a broker.
	Accessory
	// ClusterWide: it is in no namespace and owns nothing: a policy, an issuer.
	ClusterWide
)

// Findings are the stacks that were found.
type Findings struct {
	Stacks []Found
	// Aside says of other custom resources that nobody owns why they are no stacks.
	Aside map[ID]Aside
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
// thing that it visits.
//
// Tops that say that they belong together are one stack: by the ApplySet that they are
// in, else their Helm release, else their instance label, which is one of a namespace.
//
// Time grows with the graph and with the sum of the stacks.
func (g *Graph) FindStacks(namespace string, o StackOptions) Findings {
	f := finder{g: g, opts: o, within: namespace, lasts: map[ID]bool{}, aside: map[ID]Aside{}, serving: g.servingKinds()}
	tops := f.tops()
	o.still = true
	apexes := g.apexes(tops, o, func(top, id ID) bool { return f.lasts[top] || !f.lasts[id] && isCustom(g, top) })
	return Findings{Stacks: f.group(apexes), Aside: f.aside}
}

// finder finds the tops of stacks.
type finder struct {
	g      *Graph
	opts   StackOptions
	within string
	// lasts says of tops whether they own something that runs and is to last, or are served
	// by what does.
	lasts   map[ID]bool
	aside   map[ID]Aside
	serving map[schema.GroupKind]bool
}

// tops returns what may be on top of a stack, in order.
func (f *finder) tops() []ID {
	seen := map[ID]bool{}
	for id := range ID(f.g.Len()) {
		r := f.g.Ref(id)
		custom := isCustom(f.g, id)
		if f.g.State(id) != Present || !custom && !isWorkload(r) || f.within != "" && r.Namespace != f.within || IsBoundary(r) {
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
		if why := f.beside(top); why != 0 {
			f.aside[top] = why
		}
	}
	maps.DeleteFunc(seen, func(id ID, _ bool) bool { return f.aside[id] != 0 })
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

// beside says why a custom resource is no top; 0 for what is one.
func (f *finder) beside(top ID) Aside {
	g := f.g
	if !isCustom(g, top) || g.State(top) != Present {
		return 0
	}
	owns, accessory := false, false
	for i := g.out[top]; i < g.out[top+1]; i++ {
		e := &g.edges[i]
		if g.State(e.to) != Present || !f.opts.follows(g, e) {
			continue
		}
		switch {
		case g.manages(e):
			return Manages
		case g.owns(e):
			owns = true
		case g.relation(e) == relation.Needs && !g.rules[e.rule].Leaf:
			accessory = accessory || f.accessory(top, e.to)
		}
	}
	switch {
	case f.lasts[top]:
		return 0
	case f.serving[g.Ref(top).GroupKind()]:
		return Configures
	case accessory:
		return Accessory
	case g.Ref(top).Namespace == "" && !owns:
		return ClusterWide
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

// sameOperator says whether two API groups are likely to be of one operator: they are
// the same, or have all but the first label in common (kafka.strimzi.io, core.strimzi.io).
func sameOperator(a, b string) bool {
	_, x, _ := strings.Cut(a, ".")
	_, y, _ := strings.Cut(b, ".")
	return a == b || x == y && strings.Contains(x, ".") && !strings.HasSuffix(x, "k8s.io")
}

// servingKinds are the custom kinds that rules know to serve others, or to be collected
// by a shared reader. What is a guess does not count.
func (g *Graph) servingKinds() map[schema.GroupKind]bool {
	kinds := map[schema.GroupKind]bool{}
	add := func(gk schema.GroupKind) {
		if k, ok := g.kinds.Kind(gk); ok && k.Custom {
			kinds[gk] = true
		}
	}
	for i := range g.rules {
		r := &g.rules[i]
		switch {
		case r.Origin == guessed || r.Aside || r.Evidence:
		case r.Relation == relation.Serves && !r.Backward:
			for _, gk := range r.From {
				add(gk)
			}
		case r.Leaf && r.Namespaces && !r.Backward:
			for kind := range strings.SplitSeq(r.To, ", ") {
				add(schema.ParseGroupKind(kind))
			}
		}
	}
	return kinds
}

// guessed is the origin of the rules that guess (infer.Origin).
const guessed = "inferred"

func isCustom(g *Graph, id ID) bool {
	k, ok := g.kinds.Kind(g.Ref(id).GroupKind())
	return ok && k.Custom
}

// isWorkload tells the built-in kinds that make pods, and pods.
func isWorkload(r object.Ref) bool {
	switch r.Group {
	case "":
		return r.Kind == "Pod" || r.Kind == "ReplicationController"
	case "apps", "extensions":
		return r.Kind == "Deployment" || r.Kind == "StatefulSet" || r.Kind == "DaemonSet" || r.Kind == "ReplicaSet"
	case "batch":
		return r.Kind == "Job" || r.Kind == "CronJob"
	}
	return false
}

// group puts tops together that say that they belong together. The stacks are in the
// order of their first tops.
func (f *finder) group(apexes []ID) []Found {
	var out []Found
	at := map[Group]int{}
	for _, top := range apexes {
		p, ok := f.groupOf(top)
		if !ok {
			out = append(out, Found{Tops: []ID{top}, Roots: []ID{top}})
			continue
		}
		if i, known := at[p]; known {
			out[i].Tops = append(out[i].Tops, top)
			continue
		}
		at[p] = len(out)
		out = append(out, Found{Group: p, Tops: []ID{top}})
	}
	f.roots(out, at)
	return out
}

// groupOf returns the group that a top says it is in.
func (f *finder) groupOf(top ID) (Group, bool) {
	if p, ok := f.g.keeper(top, f.opts); ok {
		return p, true
	}
	if p, ok := f.g.says(top, ByHelm); ok && p.Namespace != "" {
		return p, true
	}
	// What is in no namespace would have the instances of all of them.
	p, ok := f.g.says(top, ByApp)
	return p, ok && p.Namespace != ""
}

// roots finds what the names of groups stand for.
func (f *finder) roots(stacks []Found, at map[Group]int) {
	if len(at) == 0 {
		return
	}
	for id := range ID(f.g.Len()) {
		if f.g.State(id) != Present {
			continue
		}
		for _, by := range [...]string{ByHelm, ByApp} {
			if p, ok := f.g.says(id, by); ok {
				if i, found := at[p]; found {
					stacks[i].Roots = append(stacks[i].Roots, id)
				}
			}
		}
	}
	for p, i := range at {
		if p.By != BySet {
			stacks[i].Roots = f.g.unowned(stacks[i].Roots)
		} else if id, ok := f.g.Find(p.Keeper); ok {
			stacks[i].Roots = []ID{id}
		}
	}
}
