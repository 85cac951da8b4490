package object

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is a kind as it is served: its names, its version and its scope.
type Resource struct {
	Group   string
	Version string
	Kind    string
	// Plural is the name in requests, and of the definition; empty where nothing says it,
	// since the English plural of a kind need not be it.
	Plural     string
	Singular   string
	ShortNames []string
	Categories []string
	Namespaced bool
	// Listable says that the server lists it; a snapshot lists everything.
	Listable bool
	// Custom says that a CustomResourceDefinition or an aggregated API serves it.
	Custom bool
	// Scalable says that it has the subresource scale.
	Scalable bool
}

// GroupKind returns the group and kind of r.
func (r Resource) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: r.Group, Kind: r.Kind}
}

// String returns the plural name with the group: deployments.apps; where the plural is
// not known, the kind with the group.
func (r Resource) String() string {
	if r.Plural == "" {
		return r.GroupKind().String()
	}
	if r.Group == "" {
		return r.Plural
	}
	return r.Plural + "." + r.Group
}

// APIVersion returns group/version, or the version alone in the core group.
func (r Resource) APIVersion() string {
	return schema.GroupVersion{Group: r.Group, Version: r.Version}.String()
}

// Kinds is the set of resources that a source knows, one entry a kind. Its
// order is the server's order of preference, as kubectl resolves names.
type Kinds struct {
	list       []Resource
	byKind     map[schema.GroupKind]int
	byResource map[schema.GroupResource]int
	known      map[schema.GroupKind]Resource
	partial    bool
	failed     map[string]bool
}

// NewKinds returns the set of rs. Of two entries of one group and kind the
// first one stays.
func NewKinds(rs []Resource) *Kinds {
	k := &Kinds{byKind: make(map[schema.GroupKind]int, len(rs)), byResource: make(map[schema.GroupResource]int, len(rs))}
	for _, r := range rs {
		if _, ok := k.byKind[r.GroupKind()]; ok {
			continue
		}
		k.byKind[r.GroupKind()] = len(k.list)
		if gr := (schema.GroupResource{Group: r.Group, Resource: r.Plural}); r.Plural != "" && !k.hasResource(gr) {
			k.byResource[gr] = len(k.list)
		}
		k.list = append(k.list, r)
	}
	return k
}

func (k *Kinds) hasResource(gr schema.GroupResource) bool { _, ok := k.byResource[gr]; return ok }

// Fail says that what the group serves is not known, since asking for it failed.
// Without a group it holds for all of them, as it does for a dump of a few
// objects.
func (k *Kinds) Fail(groups ...string) {
	if len(groups) == 0 {
		k.partial = true
	}
	for _, g := range groups {
		if k.failed == nil {
			k.failed = map[string]bool{}
		}
		k.failed[g] = true
	}
}

// With returns the set with more resources behind it, as they would be served besides. Of
// a group and kind that the set has, its own entry stays.
func (k *Kinds) With(more ...Resource) *Kinds {
	all := NewKinds(slices.Concat(k.list, more))
	all.partial, all.failed, all.known = k.partial, maps.Clone(k.failed), k.known
	return all
}

// Knowing returns the set with kinds of which it is known how a server has them, whether
// this one serves them or not: where it does, what it says itself holds.
func (k *Kinds) Knowing(kinds ...Resource) *Kinds {
	all := *k
	all.known = maps.Clone(k.known)
	if all.known == nil {
		all.known = make(map[schema.GroupKind]Resource, len(kinds))
	}
	for _, r := range kinds {
		all.known[r.GroupKind()] = r
	}
	return &all
}

// Namespaced says whether the objects of a kind are in namespaces: as it is served, or
// else as is known of it without.
func (k *Kinds) Namespaced(gk schema.GroupKind) (namespaced, known bool) {
	r, known := k.Kind(gk)
	if !known {
		r, known = k.known[gk]
	}
	return r.Namespaced, known
}

// NotServed says that nobody serves the kind, for certain.
func (k *Kinds) NotServed(gk schema.GroupKind) bool {
	_, served := k.byKind[gk]
	return !served && !k.partial && !k.failed[gk.Group]
}

// Whole says that all that is served is known: a name that is not found is none.
func (k *Kinds) Whole() bool { return !k.partial && len(k.failed) == 0 }

// All returns every resource, in order of preference.
func (k *Kinds) All() []Resource { return k.list }

// Kind returns the resource that serves gk.
func (k *Kinds) Kind(gk schema.GroupKind) (Resource, bool) {
	i, ok := k.byKind[gk]
	if !ok {
		return Resource{}, false
	}
	return k.list[i], true
}

// Resource returns what is served under a group and a plural name. References
// that carry a resource instead of a kind (IPAddress, ResourceClaim) go through
// it.
func (k *Kinds) Resource(gr schema.GroupResource) (Resource, bool) {
	i, ok := k.byResource[gr]
	if !ok {
		return Resource{}, false
	}
	return k.list[i], true
}
