package object

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is a kind as it is served: its names, its version and its scope.
type Resource struct {
	Group      string
	Version    string
	Kind       string
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

// String returns the plural name with the group: deployments.apps.
func (r Resource) String() string {
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
		if gr := (schema.GroupResource{Group: r.Group, Resource: r.Plural}); !k.hasResource(gr) {
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
	all.partial, all.failed = k.partial, maps.Clone(k.failed)
	return all
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

// UnknownKindError says that no served resource has the name, and which come
// close to it.
type UnknownKindError struct {
	Name    string
	Nearest []string
}

func (e *UnknownKindError) Error() string {
	if len(e.Nearest) == 0 {
		return fmt.Sprintf("unknown kind %q", e.Name)
	}
	return fmt.Sprintf("unknown kind %q (did you mean %s?)", e.Name, strings.Join(e.Nearest, ", "))
}

// AmbiguousKindError says that several groups serve the name.
type AmbiguousKindError struct {
	Name    string
	Choices []string
}

func (e *AmbiguousKindError) Error() string {
	return fmt.Sprintf("kind %q is ambiguous: write one of %s", e.Name, strings.Join(e.Choices, ", "))
}

// Find resolves a name as a user types it: plural, singular, short name or
// kind, in any case, with the group behind a dot where one is meant
// (deploy, Deployment, deployments.apps, ingresses.v1.networking.k8s.io).
// A name that a built-in group serves means that one, as it does to kubectl;
// otherwise a name that several groups serve is an *AmbiguousKindError, one
// that nobody serves an *UnknownKindError.
func (k *Kinds) Find(name string) (Resource, error) {
	for _, match := range []func(Resource, string) bool{matchName, matchShort} {
		var found []Resource
		for _, r := range k.list {
			if matchGrouped(r, name, match) {
				found = append(found, r)
			}
		}
		switch {
		case len(found) == 0:
			continue
		case len(found) == 1:
			return found[0], nil
		}
		if i := slices.IndexFunc(found, func(r Resource) bool { return !r.Custom }); i >= 0 {
			return found[i], nil
		}
		var choices []string
		for _, r := range found {
			choices = append(choices, r.String())
		}
		return Resource{}, &AmbiguousKindError{Name: name, Choices: choices}
	}
	return Resource{}, &UnknownKindError{Name: name, Nearest: k.nearest(name)}
}

func matchName(r Resource, name string) bool {
	if name == "" { // some APIs serve no singular names
		return false
	}
	return strings.EqualFold(name, r.Plural) || strings.EqualFold(name, r.Singular) || strings.EqualFold(name, r.Kind)
}

func matchShort(r Resource, name string) bool {
	return slices.ContainsFunc(r.ShortNames, func(s string) bool { return strings.EqualFold(s, name) })
}

// matchGrouped matches name, name.group and name.version.group.
func matchGrouped(r Resource, name string, match func(Resource, string) bool) bool {
	if match(r, name) {
		return true
	}
	head, group, ok := strings.Cut(name, ".")
	if !ok || !match(r, head) {
		return false
	}
	return strings.EqualFold(group, r.Group) || strings.EqualFold(group, r.Version+"."+r.Group) || (r.Group == "" && strings.EqualFold(group, r.Version))
}

// nearest returns up to three singular names within a third of the length of
// name in edits.
func (k *Kinds) nearest(name string) []string {
	head, _, _ := strings.Cut(strings.ToLower(name), ".")
	type candidate struct {
		name string
		far  int
	}
	var found []candidate
	for _, r := range k.list {
		// What shares no letter with the name is not near it, however short that is.
		best := len(head)
		for _, n := range append([]string{r.Plural, r.Singular, strings.ToLower(r.Kind)}, r.ShortNames...) {
			if n != "" {
				best = min(best, edits(head, n))
			}
		}
		if best < len(head) && best <= max(1, len(head)/3) {
			found = append(found, candidate{strings.ToLower(r.Kind), best})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.far - b.far })
	var names []string
	for _, c := range found {
		if len(names) < 3 && !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	return names
}

// Nearest returns up to three of the choices that are within a third of the
// length of name in edits, case aside, nearest first.
func Nearest(name string, choices []string) []string {
	type candidate struct {
		name string
		far  int
	}
	var found []candidate
	lower := strings.ToLower(name)
	for _, c := range choices {
		if far := edits(lower, strings.ToLower(c)); far < len(lower) && far <= max(1, len(lower)/3) {
			found = append(found, candidate{c, far})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int { return cmp.Or(a.far-b.far, cmp.Compare(a.name, b.name)) })
	var names []string
	for _, c := range found {
		if len(names) < 3 && !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	return names
}

// DidYouMean is the end of a message that offers names; nothing without any.
func DidYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(names, ", ") + "?)"
}

// edits is the Damerau-Levenshtein distance (restricted: neighbours swapped
// count once), so that "moodel" is one edit from "moodle".
func edits(a, b string) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
