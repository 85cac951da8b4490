package object

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is a served kind: its names, its version and its scope.
type Resource struct {
	Group   string
	Version string
	Kind    string
	// Plural is the resource name in requests and CustomResourceDefinitions. It is empty if
	// unknown, since it need not be the English plural of the kind.
	Plural     string
	Singular   string
	ShortNames []string
	Categories []string
	Namespaced bool
	// Listable is set if the server supports list; it is always set for a snapshot.
	Listable bool
	// Custom is set if a CustomResourceDefinition or an aggregated API serves the kind.
	Custom bool
	// Scalable is set if the kind has the subresource scale.
	Scalable bool
}

// GroupKind returns the group and kind of r.
func (r Resource) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: r.Group, Kind: r.Kind}
}

// String returns the plural with the group (deployments.apps), or the kind with the group if the
// plural is unknown.
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

// Kinds is the set of resources that a source knows, one entry for each kind. Its order is the
// server's order of preference, by which kubectl resolves names.
type Kinds struct {
	list       []Resource
	byKind     map[schema.GroupKind]int
	byResource map[schema.GroupResource]int
	known      map[schema.GroupKind]Resource
	partial    bool
	failed     map[string]bool
}

// NewKinds returns the set of rs. Of two entries of one group and kind the first wins.
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

// Fail records that discovery of the groups failed. Without groups, discovery of all of them is
// incomplete, as in a dump of a few objects.
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

// With returns the set with more resources appended. An entry of the set wins over one of more with
// the same group and kind.
func (k *Kinds) With(added ...Resource) *Kinds {
	all := NewKinds(slices.Concat(k.list, added))
	all.partial, all.failed, all.known = k.partial, maps.Clone(k.failed), k.known
	return all
}

// Knowing returns the set with the names and scope of kinds that the server may not serve. If it
// does serve them, its own entry wins.
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

// Namespaced reports whether the objects of a kind are in namespaces: by discovery, or else by what
// Knowing was given.
func (k *Kinds) Namespaced(gk schema.GroupKind) (namespaced, known bool) {
	r, known := k.Kind(gk)
	if !known {
		r, known = k.known[gk]
	}
	return r.Namespaced, known
}

// NotServed reports whether the kind is known not to be served.
func (k *Kinds) NotServed(gk schema.GroupKind) bool {
	_, served := k.byKind[gk]
	return !served && !k.partial && !k.failed[gk.Group]
}

// Whole reports whether discovery is complete: a name that it does not have does not exist.
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

// Resource returns the resource of a group and a plural. It resolves references that carry a
// resource instead of a kind (IPAddress, ResourceClaim).
func (k *Kinds) Resource(gr schema.GroupResource) (Resource, bool) {
	i, ok := k.byResource[gr]
	if !ok {
		return Resource{}, false
	}
	return k.list[i], true
}
