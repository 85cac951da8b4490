package graph

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// The marks by which objects say what they belong to.
const (
	// HelmName and HelmNamespace are the annotations of what a Helm release installed.
	HelmName      = "meta.helm.sh/release-name"
	HelmNamespace = "meta.helm.sh/release-namespace"
	// InstanceLabel is the label of an instance of an application.
	InstanceLabel = "app.kubernetes.io/instance"
)

// What groups go by, on the command line and in Group.By.
const (
	ByHelm = "helm"
	ByApp  = "app"
	// BySet is an ApplySet: its name is that of the object that keeps it.
	BySet = "applyset"
	// BySystem is a System that was adopted: the ApplySet that keeps it goes by its name.
	BySystem = "system"
)

// Group is a set of objects that goes by a name of its own in the cluster: a Helm
// release, the instance of an application, an ApplySet.
type Group struct {
	By string
	// Namespace is that of the release, of the instance, or of who keeps the set. A
	// release may have objects in others as well.
	Namespace string
	Name      string
	// Parent is who keeps the set, and zero for other groups.
	Parent object.Ref
}

// Ref is what the group is called where stacks are called by their roots: helm/NAME
// or app/NAME in its namespace, or who keeps the set.
func (p Group) Ref() object.Ref {
	if p.By == BySet {
		return p.Parent
	}
	return object.Ref{Kind: p.By, Namespace: p.Namespace, Name: p.Name}
}

// InGroup returns the objects of a release or an instance that no other object of it
// owns, in order, and others that are known to belong to it. Without a namespace it is in
// any of them.
func (g *Graph) InGroup(by, namespace, name string, also ...ID) []ID {
	all := slices.Clone(also)
	for id := range ID(g.Len()) {
		if !g.WasRead(id) {
			continue
		}
		if p, ok := g.groupOf(id, by); ok && p.Name == name && (namespace == "" || p.Namespace == namespace) {
			all = append(all, id)
		}
	}
	return g.unowned(all)
}

// InSet returns the objects of the ApplySet that a node keeps, in order, that no other of
// it owns; none where it keeps none.
func (g *Graph) InSet(keeper ID) []ID {
	var all []ID
	for i := g.out[keeper]; i < g.out[keeper+1]; i++ {
		if e := &g.edges[i]; g.rules[e.rule].Name == relation.ApplySetMember && g.WasRead(e.to) {
			all = append(all, e.to)
		}
	}
	return g.unowned(all)
}

// unowned returns those of some nodes, in order, that no other of them owns.
func (g *Graph) unowned(ids []ID) []ID {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	return slices.DeleteFunc(slices.Clone(ids), func(id ID) bool {
		return slices.ContainsFunc(g.OwnersOf(id), func(o ID) bool {
			_, in := slices.BinarySearch(ids, o)
			return in
		})
	})
}

// groupOf returns the release or the instance that a node says it belongs to.
func (g *Graph) groupOf(id ID, by string) (Group, bool) {
	p := Group{By: by}
	switch by {
	case ByHelm:
		p.Name, _ = g.Annotation(id, HelmName)
		p.Namespace, _ = g.Annotation(id, HelmNamespace)
	case ByApp:
		p.Name, _ = g.Label(id, InstanceLabel)
		p.Namespace = g.Ref(id).Namespace
	}
	return p, p.Name != ""
}

// parentGroup returns the ApplySet that a node is in; of several the first.
func (g *Graph) parentGroup(id ID, o StackOptions) (Group, bool) {
	for _, m := range g.sources(id, func(e *edge) bool { return g.rules[e.rule].Name == relation.ApplySetMember && o.follows(g, e) }) {
		if r := g.Ref(m); g.WasRead(m) {
			return Group{By: BySet, Namespace: r.Namespace, Name: r.Name, Parent: r}, true
		}
	}
	return Group{}, false
}
