package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Manifest is an object of a batch.
type Manifest struct {
	Ref object.Ref
	// Origin is its position: shop.yaml:14.
	Origin string
	// Object is its content as written, with its namespace set.
	Object *unstructured.Unstructured
	// Resource is its served resource, in the version as written; Served is false if neither the
	// cluster nor the batch has the kind.
	Resource object.Resource
	Served   bool
	// Generated is set if the server completes the name (generateName).
	Generated bool
}

// Batch is a set of objects to apply together.
type Batch struct {
	Manifests []Manifest
	// Kinds are those of the cluster, and those that the batch defines.
	Kinds *object.Kinds

	byRef map[object.Ref]int
	own   map[schema.GroupKind]bool // not served by the cluster yet
}

// NewBatch makes a batch of documents. It splits lists, and puts namespaced objects without a
// namespace into the given one. The error is a *ManifestError with file and line, for what is no
// object, and for two objects of one name.
func NewBatch(docs []Document, served *object.Kinds, namespace string) (*Batch, error) {
	flat := &Snapshot{}
	for i := range docs {
		d := docs[i]
		d.Object = copied(d.Object)
		if err := flat.add(d.At, d.Object); err != nil {
			return nil, &ManifestError{Err: err}
		}
	}
	if len(flat.entries) == 0 {
		return nil, manifestError("", "%s: a list without items: there is nothing to apply", docs[0].At.Origin())
	}
	b := &Batch{byRef: map[object.Ref]int{}, own: map[schema.GroupKind]bool{}}
	b.Kinds = b.defined(flat.entries, served)
	for i := range flat.entries {
		if err := b.take(&flat.entries[i], namespace); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// copied copies the fields, since YAML aliases share values that would otherwise be changed twice.
func copied(fields map[string]any) map[string]any {
	return (&unstructured.Unstructured{Object: fields}).DeepCopy().Object
}

// defined adds the kinds that the batch defines.
func (b *Batch) defined(entries []entry, served *object.Kinds) *object.Kinds {
	var added []object.Resource
	for _, e := range entries {
		if e.body.GroupVersionKind().GroupKind() != crdKind {
			continue
		}
		r, ok := definition(e.body.Object)
		if !ok {
			continue
		}
		if _, have := served.Kind(r.GroupKind()); !have {
			b.own[r.GroupKind()] = true
			added = append(added, r)
		}
	}
	return served.With(added...)
}

func (b *Batch) take(e *entry, namespace string) error {
	gvk := e.body.GroupVersionKind()
	m := Manifest{Origin: e.at.Origin(), Object: e.body}
	at := e.at.String()
	switch wrong := wrongName(e.body.Object); {
	case gvk.Kind == "" || gvk.Version == "":
		return manifestError("", "%s: no apiVersion and kind: not a Kubernetes object", at)
	case gvk.Kind == "List":
		return manifestError("", "%s: a List without items", at)
	case wrong != "":
		return manifestError("", "%s: %s: metadata.%s is not a string: put it in quotes", at, gvk.Kind, wrong)
	case strings.Contains(e.body.GetName()+e.body.GetNamespace()+e.body.GetGenerateName(), "{{"):
		return manifestError(templateHint, "%s: %s %q is the template of a name", at, gvk.Kind, cmp.Or(e.body.GetName(), e.body.GetGenerateName(), e.body.GetNamespace()))
	case e.body.GetName() == "" && e.body.GetGenerateName() == "":
		return manifestError("", "%s: %s without metadata.name", at, gvk.Kind)
	}
	m.Generated = e.body.GetName() == ""
	m.Resource, m.Served = b.Kinds.Kind(gvk.GroupKind())
	namespaced, known := b.Kinds.Namespaced(gvk.GroupKind())
	if !m.Served {
		m.Resource = object.Resource{Group: gvk.Group, Kind: gvk.Kind, Namespaced: known && namespaced || !known && e.body.GetNamespace() != ""}
	}
	m.Resource.Version = gvk.Version
	switch {
	case known && !namespaced:
		e.body.SetNamespace("")
	case m.Resource.Namespaced && e.body.GetNamespace() == "":
		e.body.SetNamespace(cmp.Or(namespace, metav1.NamespaceDefault))
	}
	m.Ref = object.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: e.body.GetNamespace(), Name: e.body.GetName()}
	if m.Generated {
		b.name(&m)
	}
	if first, twice := b.byRef[m.Ref]; twice {
		return manifestError("", "%s: %s occurs a second time (first at %s)", m.Origin, m.Ref, b.Manifests[first].Origin)
	}
	b.byRef[m.Ref] = len(b.Manifests)
	b.Manifests = append(b.Manifests, m)
	return nil
}

// name generates a name as the server would, but the same one each time.
func (b *Batch) name(m *Manifest) {
	for n := 0; ; n++ {
		m.Ref.Name = fmt.Sprintf("%s%05d", m.Object.GetGenerateName(), n)
		if _, taken := b.byRef[m.Ref]; !taken {
			m.Object.SetName(m.Ref.Name)
			return
		}
	}
}

// Find returns the object of the batch with the reference.
func (b *Batch) Find(ref object.Ref) (*Manifest, bool) {
	i, ok := b.byRef[ref]
	if !ok {
		return nil, false
	}
	return &b.Manifests[i], true
}

// Defines reports whether the batch has the definition of a kind that is not served yet.
func (b *Batch) Defines(gk schema.GroupKind) bool { return b.own[gk] }

// Refs returns the objects of the batch, in its order.
func (b *Batch) Refs() []object.Ref {
	out := make([]object.Ref, 0, len(b.Manifests))
	for i := range b.Manifests {
		out = append(out, b.Manifests[i].Ref)
	}
	return out
}

// Namespaces returns the namespaces of the batch's objects, in order.
func (b *Batch) Namespaces() []string {
	var out []string
	for i := range b.Manifests {
		if ns := b.Manifests[i].Ref.Namespace; ns != "" {
			out = append(out, ns)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// NewNamespaces returns the Namespaces in the batch.
func (b *Batch) NewNamespaces() map[string]*unstructured.Unstructured {
	out := map[string]*unstructured.Unstructured{}
	for i := range b.Manifests {
		if m := &b.Manifests[i]; m.Ref.GroupKind() == (schema.GroupKind{Kind: "Namespace"}) {
			out[m.Ref.Name] = m.Object
		}
	}
	return out
}
