// Package lint compares what entries of the catalog and files of rules name with the
// definitions of the kinds: fields that do not exist, values that a field cannot have, and
// comparisons of two types.
//
// The words of the package:
//
//   - Definitions, which fields the objects of each kind have, in each API version. They come
//     from CustomResourceDefinitions: of a cluster, of a directory, or of field skeletons.
//   - Document, the YAML in which an entry or a list of relations stands, for the places of
//     findings.
//   - Use, a field of an object that is named somewhere, and what it is taken for.
//
// The package reads no files and asks no cluster.
package lint

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubeversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// Definitions are what is known of kinds. The zero value knows none.
type Definitions struct {
	// Complete says that all kinds of each group are known: any other is reported.
	Complete bool

	kinds map[schema.GroupKind]*Definition
}

// Definition is what is known of a kind.
type Definition struct {
	Plural     string
	Namespaced bool
	// builtIn says that it is a type of Kubernetes itself, of which no plural is known here.
	builtIn bool
	// versions are the served ones by name. One of several releases of an operator has
	// several shapes, that of the first release first.
	versions map[string][]version
}

// version is an API version of a kind, in one release.
type version struct {
	shape field.Shape
	scale bool
}

// metadata is the shape of the metadata of every object.
var metadata = field.OfType(reflect.TypeFor[metav1.ObjectMeta]())

// Add takes a CustomResourceDefinition. Of a known kind it is another
// release: a field that any of them has is known.
func (d *Definitions) Add(crd map[string]any) schema.GroupKind {
	spec, _ := crd["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	gk := schema.GroupKind{Group: textAt(spec, "group"), Kind: textAt(names, "kind")}
	k := d.kind(gk)
	if k.Plural == "" {
		k.Plural, k.Namespaced = textAt(names, "plural"), textAt(spec, "scope") == "Namespaced"
	}
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		v, _ := v.(map[string]any)
		served, _ := v["served"].(bool)
		holder, _ := v["schema"].(map[string]any)
		s, ok := holder["openAPIV3Schema"].(map[string]any)
		if !served || !ok {
			continue
		}
		subresources, _ := v["subresources"].(map[string]any)
		name := textAt(v, "name")
		k.versions[name] = append(k.versions[name], version{field.OfSchema(s, metadata), subresources["scale"] != nil})
	}
	return gk
}

// AddType takes a Go type of a built-in kind.
func (d *Definitions) AddType(gvk schema.GroupVersionKind, t reflect.Type) {
	k := d.kind(gvk.GroupKind())
	k.builtIn = true
	k.versions[gvk.Version] = []version{{shape: field.OfType(t)}}
}

// AddBuiltIn takes the types of all built-in kinds.
func (d *Definitions) AddBuiltIn() {
	for gvk, t := range scheme.Scheme.AllKnownTypes() {
		if _, object := t.FieldByName("ObjectMeta"); object && gvk.Version != runtime.APIVersionInternal && gvk.Group != "apiextensions.k8s.io" {
			d.AddType(gvk, t)
		}
	}
}

func (d *Definitions) kind(gk schema.GroupKind) *Definition {
	if d.kinds == nil {
		d.kinds = map[schema.GroupKind]*Definition{}
	}
	k := d.kinds[gk]
	if k == nil {
		k = &Definition{versions: map[string][]version{}}
		d.kinds[gk] = k
	}
	return k
}

// Kind returns what is known of a kind.
func (d *Definitions) Kind(gk schema.GroupKind) (*Definition, bool) {
	k, ok := d.kinds[gk]
	return k, ok
}

// Kinds returns the kinds that are known, in order.
func (d *Definitions) Kinds() []schema.GroupKind {
	return slices.SortedFunc(maps.Keys(d.kinds), func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
}

// Versions returns the served versions of a kind whose fields are known, the newest first: v1
// goes before v1beta1.
func (k *Definition) Versions() []string {
	return slices.SortedFunc(maps.Keys(k.versions), func(a, b string) int { return -kubeversion.CompareKubeAwareVersionStrings(a, b) })
}

// Shapes returns which fields objects of a version have, in each release.
func (k *Definition) Shapes(version string) []field.Shape {
	var all []field.Shape
	for _, v := range k.versions[version] {
		all = append(all, v.shape)
	}
	return all
}

func textAt(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}
