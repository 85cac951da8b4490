package source

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Snapshot is a Source that holds the objects of a dump: what kubectl get -o
// yaml writes, manifests, or what the snapshot command writes.
type Snapshot struct {
	name    string
	entries []entry
	kinds   *object.Kinds
	head    *Head
	whole   bool
}

// Whole returns the same snapshot as a source of whole objects, as they are in
// the file; Secrets and ConfigMaps are still read as metadata.
func (s *Snapshot) Whole() *Snapshot {
	whole := *s
	whole.whole = true
	return &whole
}

// Head is the first document of a snapshot that we wrote ourselves: what it
// holds, so that a reader can tell what is missing from what was not taken.
type Head struct {
	metav1.TypeMeta `json:",inline"`
	// Objects is how many follow; fewer mean that the file was cut.
	Objects int `json:"objects"`
	// Covered lists the resources of which every object is here, in a namespace or
	// everywhere.
	Covered []Scope `json:"covered,omitempty"`
	// Absent lists objects that are named and were not there.
	Absent []string `json:"absent,omitempty"`
	// Gaps is what could not be read when the snapshot was taken.
	Gaps []object.Gap `json:"gaps,omitempty"`
}

// Scope is a kind in a namespace, or everywhere without one.
type Scope struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
}

// APIVersion and HeadKind are those of our own documents.
const (
	APIVersion = "sysop.dev/v1alpha1"
	HeadKind   = "Snapshot"
)

// NewSnapshot returns the source of parsed documents, which came from name. The
// CustomResourceDefinitions among them, and what is known of the built-in kinds,
// say how the objects are served.
func NewSnapshot(name string, docs []Document) (*Snapshot, error) {
	s := &Snapshot{name: name}
	for i := range docs {
		if err := s.take(&docs[i]); err != nil {
			return nil, err
		}
	}
	if s.head != nil && s.head.Objects != len(s.entries) {
		return nil, fmt.Errorf("%s: holds %d objects and says that it has %d: it was cut, or edited", name, len(s.entries), s.head.Objects)
	}
	if len(s.entries) == 0 && s.head == nil {
		return nil, fmt.Errorf("%s: holds no objects", name)
	}
	s.kinds = s.findKinds()
	if err := s.check(); err != nil {
		return nil, err
	}
	return s, nil
}

// entry is an object of a snapshot and where it stands.
type entry struct {
	at   Place
	body *unstructured.Unstructured
}

func (s *Snapshot) take(d *Document) error {
	if d.Object["kind"] == HeadKind && d.Object["apiVersion"] == APIVersion {
		s.head = &Head{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(d.Object, s.head); err != nil {
			return fmt.Errorf("%s: %w", d.At, err)
		}
		return nil
	}
	u := &unstructured.Unstructured{Object: d.Object}
	if !isList(u) {
		s.entries = append(s.entries, entry{d.At, u})
		return nil
	}
	items, _ := d.Object["items"].([]any)
	for i, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: item %d is not an object", d.item(i), i+1)
		}
		s.entries = append(s.entries, entry{Place{}, &unstructured.Unstructured{Object: m}})
		e := &s.entries[len(s.entries)-1]
		e.at = Place{File: d.At.File, Document: d.At.Document, item: i + 1, list: d}
	}
	return nil
}

// isList tells a list from an object of a custom kind that has items.
func isList(u *unstructured.Unstructured) bool {
	kind := u.GetKind()
	if len(kind) < 4 || kind[len(kind)-4:] != "List" || u.GetName() != "" {
		return false
	}
	_, ok := u.Object["items"].([]any)
	return ok || u.Object["items"] == nil
}

// check refuses what nothing could be said of: an object without identity, a
// kind that a built-in group never had, two objects in one place.
func (s *Snapshot) check() error {
	seen := map[object.Ref]*Place{}
	for i := range s.entries {
		e := &s.entries[i]
		gvk := e.body.GroupVersionKind()
		switch {
		case gvk.Kind == "" || gvk.Version == "":
			return fmt.Errorf("%s: no apiVersion and kind: not an object, or cut short", e.at)
		case e.body.GetName() == "":
			return fmt.Errorf("%s: %s without metadata.name", e.at, gvk.Kind)
		}
		if _, known := s.kinds.Kind(gvk.GroupKind()); !known {
			_, err := s.kinds.Find(gvk.Kind)
			return fmt.Errorf("%s: %s %s: %w", e.at, gvk.GroupVersion(), gvk.Kind, err)
		}
		r := s.ref(e.body)
		if first := seen[r]; first != nil {
			return fmt.Errorf("%s: %s is here a second time (first at %s)", e.at, r, first)
		}
		seen[r] = &e.at
	}
	return nil
}

// ref is the identity of an object; a dump may leave the namespace of a
// namespaced object out, as a manifest does, and it is then "default".
func (s *Snapshot) ref(u *unstructured.Unstructured) object.Ref {
	gvk := u.GroupVersionKind()
	r := object.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}
	if k, ok := s.kinds.Kind(gvk.GroupKind()); ok {
		switch {
		case !k.Namespaced:
			r.Namespace = ""
		case r.Namespace == "":
			r.Namespace = metav1.NamespaceDefault
		}
	}
	return r
}

// Kinds returns the built-in kinds and those of the snapshot.
func (s *Snapshot) Kinds(context.Context, Sink) (*object.Kinds, error) { return s.kinds, nil }

// Name says where the snapshot came from.
func (s *Snapshot) Name() string { return s.name }

// Namespaces returns the namespaces that hold objects, in order.
func (s *Snapshot) Namespaces() []string {
	var out []string
	for _, e := range s.entries {
		if ns := s.ref(e.body).Namespace; ns != "" {
			out = append(out, ns)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Definitions returns the CustomResourceDefinitions of the snapshot.
func (s *Snapshot) Definitions(context.Context, Sink) ([]metav1.Object, error) {
	var out []metav1.Object
	for _, e := range s.entries {
		if e.body.GroupVersionKind().GroupKind() == crdKind {
			out = append(out, e.body)
		}
	}
	slices.SortFunc(out, func(a, b metav1.Object) int { return compareNames(a, b) })
	return out, nil
}

var crdKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// Read hands on every object, whatever is asked for: they are all here.
func (s *Snapshot) Read(ctx context.Context, _ Ask, sink Sink) error {
	for _, e := range s.entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		o, err := s.object(e, sink)
		if err != nil {
			return err
		}
		sink.Add(o)
	}
	s.cover(sink)
	return nil
}

// object gives an entry the form in which a cluster would have been read.
func (s *Snapshot) object(e entry, sink Sink) (object.Object, error) {
	gvk := e.body.GroupVersionKind()
	o := object.Object{Ref: s.ref(e.body), Version: gvk.Version, Meta: e.body, Body: e.body}
	switch {
	case neverWhole(gvk.GroupKind()):
		meta := &metav1.PartialObjectMetadata{}
		err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"metadata": e.body.Object["metadata"]}, meta)
		if err != nil {
			return o, fmt.Errorf("%s: %s: %w", e.at, o.Ref, err)
		}
		o.Meta, o.Body = meta, meta
	case s.whole:
	case scheme.Scheme.Recognizes(gvk):
		typed, err := scheme.Scheme.New(gvk)
		if err != nil {
			return o, fmt.Errorf("%s: %s: %w", e.at, o.Ref, err)
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(e.body.Object, typed); err != nil {
			return o, fmt.Errorf("%s: %s: %w", e.at, o.Ref, err)
		}
		o.Body = typed
	case scheme.Scheme.IsGroupRegistered(gvk.Group):
		sink.Gap(object.Gap{Resource: gvk.GroupVersion().String(), Reason: "UnknownVersion", Message: fmt.Sprintf("%s of this version is read for its metadata only", gvk.Kind)})
	}
	return o, nil
}

// cover says what is complete. A snapshot that we took knows. Of another dump it
// is taken that a kind of which a namespace has one object is there with all of
// them; of a kind that is not there at all nobody can tell whether it was left
// out (kubectl get all has no Secrets).
func (s *Snapshot) cover(sink Sink) {
	if s.head != nil {
		for _, c := range s.head.Covered {
			sink.Cover(schema.GroupKind{Group: c.Group, Kind: c.Kind}, c.Namespace)
		}
		for _, id := range s.head.Absent {
			if r, err := object.ParseRef(id); err == nil {
				sink.Absent(r)
			}
		}
		for _, g := range s.head.Gaps {
			sink.Gap(g)
		}
		return
	}
	for _, e := range s.entries {
		r := s.ref(e.body)
		sink.Cover(r.GroupKind(), r.Namespace)
	}
}
