package source

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// findKinds returns what a snapshot knows: its CustomResourceDefinitions, the
// built-in kinds, and the kinds of objects whose definition is not in it, as far
// as these show (a plural by the common rule, a scope by their namespace).
func (s *Snapshot) findKinds() *object.Kinds {
	all := builtIn()
	var plurals []schema.GroupResource // of definitions that say no more than their name
	for _, e := range s.entries {
		if e.body.GroupVersionKind().GroupKind() != crdKind {
			continue
		}
		if r, ok := definition(e.body.Object); ok {
			all = append(all, r)
		} else {
			plurals = append(plurals, schema.ParseGroupResource(e.body.GetName()))
		}
	}
	declared := map[schema.GroupKind]bool{}
	for _, r := range all {
		declared[r.GroupKind()] = true
	}
	guessed := map[schema.GroupKind]int{}
	for _, e := range s.entries {
		gvk := e.body.GroupVersionKind()
		// A newer server has built-in kinds that we have not heard of, and an older one had
		// some: what we took of it ourselves, and what was removed, is no mistake.
		_, removed := object.Removed(gvk)
		if declared[gvk.GroupKind()] || s.head == nil && builtInGroup(gvk.Group) && !removed || gvk.Kind == "" || gvk.Version == "" {
			continue
		}
		i, ok := guessed[gvk.GroupKind()]
		if !ok {
			i = len(all)
			guessed[gvk.GroupKind()] = i
			all = append(all, guess(gvk, plurals))
		}
		all[i].Namespaced = all[i].Namespaced || e.body.GetNamespace() != ""
	}
	k := object.NewKinds(all)
	k.Fail() // what is not here may well be served
	return k
}

// guess makes a resource of a kind, with the plural that the name of a definition
// gives where that looks like it.
func guess(gvk schema.GroupVersionKind, plurals []schema.GroupResource) object.Resource {
	plural, singular := meta.UnsafeGuessKindToResource(gvk)
	r := object.Resource{
		Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Plural: plural.Resource, Singular: singular.Resource,
		Listable: true, Custom: !builtInGroup(gvk.Group),
	}
	like := func(p schema.GroupResource) bool {
		stem := strings.TrimSuffix(singular.Resource, "y")
		return p.Group == gvk.Group && strings.HasPrefix(p.Resource, stem) && len(p.Resource) <= len(singular.Resource)+3
	}
	if !slices.Contains(plurals, plural.GroupResource()) {
		if i := slices.IndexFunc(plurals, like); i >= 0 {
			r.Plural = plurals[i].Resource
		}
	}
	return r
}

// definition reads the kind that a CustomResourceDefinition declares, in the
// version that a server would prefer.
func definition(crd map[string]any) (object.Resource, bool) {
	spec, _ := crd["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	r := object.Resource{Group: textOf(spec, "group"), Kind: textOf(names, "kind"), Plural: textOf(names, "plural"), Singular: textOf(names, "singular"), Listable: true, Custom: true}
	r.Namespaced = textOf(spec, "scope") != "Cluster"
	r.ShortNames, r.Categories = texts(names, "shortNames"), texts(names, "categories")
	if r.Singular == "" {
		r.Singular = strings.ToLower(r.Kind)
	}
	r.Version = textOf(spec, "version") // of apiextensions.k8s.io/v1beta1
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		m, _ := v.(map[string]any)
		if name := textOf(m, "name"); m["served"] == true && (r.Version == "" || version.CompareKubeAwareVersionStrings(name, r.Version) > 0) {
			r.Version = name
			subresources, _ := m["subresources"].(map[string]any)
			r.Scalable = subresources["scale"] != nil
		}
	}
	return r, r.Group != "" && r.Kind != "" && r.Plural != "" && r.Version != ""
}

func textOf(m map[string]any, key string) string { s, _ := m[key].(string); return s }

func texts(m map[string]any, key string) []string {
	list, _ := m[key].([]any)
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// BuiltInKinds are those that every cluster serves, as far as they are known here: for who
// asks without a cluster.
func BuiltInKinds() *object.Kinds { return object.NewKinds(builtIn()) }
