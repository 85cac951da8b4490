package graph

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Annotations and labels by which objects declare their group.
const (
	// HelmName and HelmNamespace are the annotations of objects of a Helm release.
	HelmName      = "meta.helm.sh/release-name"
	HelmNamespace = "meta.helm.sh/release-namespace"
	// InstanceLabel is the label of an instance of an application.
	InstanceLabel = "app.kubernetes.io/instance"
)

// Values of Group.By, and the prefixes on the command line.
const (
	ByHelm = "helm"
	ByApp  = "app"
	// BySet is an ApplySet; its name is that of its parent.
	BySet = "applyset"
	// BySystem is an adopted System, whose ApplySet has its name.
	BySystem = "system"
)

// Group is a named set of objects in the cluster: a Helm release, the instance of an application,
// an ApplySet.
type Group struct {
	By string
	// Namespace is that of the release, of the instance, or of the parent of the set. A release may
	// have objects in other namespaces as well.
	Namespace string
	Name      string
	// Parent is the parent of the set, and zero for other groups.
	Parent object.Ref
}

// Ref returns the name of the group as a root: helm/NAME or app/NAME in its namespace, or the
// parent of the set.
func (p Group) Ref() object.Ref {
	if p.By == BySet {
		return p.Parent
	}
	return object.Ref{Kind: p.By, Namespace: p.Namespace, Name: p.Name}
}

// InGroup returns the objects of a release or an instance, with also, that no other one of it owns,
// in order. An empty namespace matches all.
func (g *Graph) InGroup(mark, namespace, name string, extra ...ID) []ID {
	all := slices.Clone(extra)
	for id := range ID(g.Len()) {
		if !g.WasRead(id) {
			continue
		}
		if p, ok := g.groupOf(id, mark); ok && p.Name == name && (namespace == "" || p.Namespace == namespace) {
			all = append(all, id)
		}
	}
	return g.unowned(all)
}

// InSet returns the objects of the ApplySet whose parent a node is that no other one of it owns, in
// order; none if it is not a parent.
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

// groupOf returns the release or the instance that a node declares.
func (g *Graph) groupOf(id ID, mark string) (Group, bool) {
	p := Group{By: mark}
	switch mark {
	case ByHelm:
		p.Name, _ = g.Annotation(id, HelmName)
		p.Namespace, _ = g.Annotation(id, HelmNamespace)
	case ByApp:
		p.Name, _ = g.Label(id, InstanceLabel)
		p.Namespace = g.Ref(id).Namespace
	}
	return p, p.Name != ""
}

// parentGroup returns the ApplySet of a node; the first if there are several.
func (g *Graph) parentGroup(id ID, o StackOptions) (Group, bool) {
	for _, m := range g.sources(id, func(e *edge) bool { return g.rules[e.rule].Name == relation.ApplySetMember && o.follows(g, e) }) {
		if r := g.Ref(m); g.WasRead(m) {
			return Group{By: BySet, Namespace: r.Namespace, Name: r.Name, Parent: r}, true
		}
	}
	return Group{}, false
}
