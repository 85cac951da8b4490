package source

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// findKinds returns the kinds of a snapshot: its CustomResourceDefinitions, the built-in kinds, and
// the kinds of objects without a definition in it.
func (s *Snapshot) findKinds(known []object.Resource) *object.Kinds {
	all := builtIn()
	var names []schema.GroupResource // of definitions with nothing but a name
	for _, e := range s.entries {
		if e.body.GroupVersionKind().GroupKind() != crdKind {
			continue
		}
		if r, ok := definition(e.body.Object); ok {
			all = append(all, r)
		} else {
			names = append(names, schema.ParseGroupResource(e.body.GetName()))
		}
	}
	all = append(all, s.undefined(all, names, known)...)
	k := object.NewKinds(all).Knowing(known...)
	k.Fail() // a cluster may serve other kinds
	return k
}

// undefined returns the kinds of objects without a definition in the snapshot: from known, or else
// derived from the objects.
func (s *Snapshot) undefined(defined []object.Resource, names []schema.GroupResource, known []object.Resource) []object.Resource {
	at := map[schema.GroupKind]int{} // index in the result; -1 for the others
	for _, r := range defined {
		at[r.GroupKind()] = -1
	}
	knows := object.NewKinds(known)
	var out []object.Resource
	for _, e := range s.entries {
		gvk := e.body.GroupVersionKind()
		i, seen := at[gvk.GroupKind()]
		// A newer server has built-in kinds that this program does not know, and an older one had
		// others. Kinds from our own snapshots and removed kinds are therefore accepted.
		_, removed := object.Removed(gvk)
		if i < 0 || s.head == nil && builtInGroup(gvk.Group) && !removed || gvk.Kind == "" || gvk.Version == "" {
			continue
		}
		like, scoped := knows.Kind(gvk.GroupKind())
		if !seen {
			i = len(out)
			at[gvk.GroupKind()] = i
			out = append(out, shown(gvk, like, names))
		}
		// A server drops the namespace of a cluster-scoped object; a manifest may have one.
		if e.body.GetNamespace() != "" && (!scoped || fromServer(e.body)) {
			out[i].Namespaced = true
		}
	}
	return out
}

// fromServer reports whether a server wrote the object.
func fromServer(o metav1.Object) bool { return o.GetUID() != "" || o.GetResourceVersion() != "" }

// shown returns the resource of a kind: as known, or with the plural from the name of a definition.
// It has no plural if no name, or more than one, matches the kind.
func shown(gvk schema.GroupVersionKind, known object.Resource, names []schema.GroupResource) object.Resource {
	r := known
	r.Group, r.Version, r.Kind, r.Singular = gvk.Group, gvk.Version, gvk.Kind, strings.ToLower(gvk.Kind)
	r.Listable, r.Custom = true, !builtInGroup(gvk.Group)
	if r.Plural != "" {
		return r
	}
	var like []schema.GroupResource
	for _, name := range names {
		if name.Group == gvk.Group && object.MayBePlural(name.Resource, gvk.Kind) {
			like = append(like, name)
		}
	}
	if len(like) == 1 {
		r.Plural = like[0].Resource
	}
	return r
}

// definition returns the kind that a CustomResourceDefinition declares, in the version that a
// server would prefer.
func definition(crd map[string]any) (object.Resource, bool) {
	spec, _ := crd["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	r := object.Resource{Group: textOf(spec, "group"), Kind: textOf(names, "kind"), Plural: textOf(names, "plural"), Singular: textOf(names, "singular"), Listable: true, Custom: true}
	r.Namespaced = textOf(spec, "scope") != "Cluster"
	r.ShortNames, r.Categories = texts(names, "shortNames"), texts(names, "categories")
	if r.Singular == "" {
		r.Singular = strings.ToLower(r.Kind)
	}
	r.Version = textOf(spec, "version") // field of apiextensions.k8s.io/v1beta1
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

// BuiltInKinds returns the kinds that every cluster serves, as known to this program, for use
// without a cluster.
func BuiltInKinds() *object.Kinds { return object.NewKinds(builtIn()) }
