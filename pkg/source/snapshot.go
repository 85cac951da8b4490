package source

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Snapshot is a Source of the objects in a dump: the output of kubectl get -o yaml, manifests, or
// the output of the snapshot command.
type Snapshot struct {
	name    string
	entries []entry
	kinds   *object.Kinds
	head    *SnapshotHeader
	whole   bool
	options SnapshotOptions
	detail  func(object.Resource) (Detail, string)
	// summaries are the kubelets' summaries, by node.
	summaries map[string]map[string]any
}

// entry is an object of a snapshot with its position.
type entry struct {
	at   Position
	ref  object.Ref
	body *unstructured.Unstructured
	// creator is who created it; empty if unknown.
	creator string
}

// SnapshotOptions add what the objects of a dump lack.
type SnapshotOptions struct {
	// Namespace is the default of namespaced objects without one; "" is "default".
	Namespace string
	// Known are kinds with their scope and plural, for kinds without a definition in the dump:
	// those of a catalog.
	Known []object.Resource
}

// New returns the source of parsed documents; name is their origin. The kinds come from their
// CustomResourceDefinitions, the built-in kinds, and Known. Another kind counts as cluster-scoped
// unless one of its objects has a namespace. New takes ownership of the documents and changes them:
// it removes managed fields, and sets a namespace that a manifest omits.
func (o SnapshotOptions) New(name string, docs []Document) (*Snapshot, error) {
	s := &Snapshot{name: name, options: o}
	for i := range docs {
		if err := s.take(&docs[i]); err != nil {
			return nil, err
		}
	}
	if n := len(s.entries) + len(s.summaries); s.head != nil && s.head.Objects != n {
		return nil, fmt.Errorf("%s: it has %d objects, but its head says %d: it is incomplete, or was edited (without its first document it is read as it is)", name, n, s.head.Objects)
	}
	if len(s.entries) == 0 && s.head == nil {
		return nil, fmt.Errorf("%s: it has no objects", name)
	}
	s.kinds = s.findKinds(o.Known)
	if err := s.check(); err != nil {
		return nil, err
	}
	return s, nil
}

// Whole returns the same snapshot as a source of whole objects, as they are in the file. Secrets
// and ConfigMaps are still read as metadata.
func (s *Snapshot) Whole() *Snapshot {
	whole := *s
	whole.whole = true
	return &whole
}

// Reading returns the same snapshot as a source that delivers objects with the detail, and in the
// version, that a cluster would be read with. nil delivers every built-in kind as Typed in its
// newest version, and every other one as Fields.
func (s *Snapshot) Reading(detail func(object.Resource) (Detail, string)) *Snapshot {
	reading := *s
	reading.detail = detail
	return &reading
}

// Kinds returns the built-in kinds and those of the snapshot.
func (s *Snapshot) Kinds(context.Context, Sink) (*object.Kinds, error) { return s.kinds, nil }

// Name returns the origin of the snapshot.
func (s *Snapshot) Name() string { return s.name }

// Namespaces returns the namespaces that contain objects, in order.
func (s *Snapshot) Namespaces() []string {
	var out []string
	for _, e := range s.entries {
		if e.ref.Namespace != "" {
			out = append(out, e.ref.Namespace)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Definitions returns the CustomResourceDefinitions of the snapshot.
func (s *Snapshot) Definitions(context.Context, Sink) ([]metav1.Object, error) {
	var out []metav1.Object
	for _, e := range s.entries {
		if e.ref.GroupKind() == crdKind {
			out = append(out, e.body)
		}
	}
	slices.SortFunc(out, compareNames)
	return out, nil
}

// Read delivers every object, whatever the query, except LeftOut kinds that it does not request.
// The error may also be that an object does not fit its Go type.
func (s *Snapshot) Read(ctx context.Context, ask Query, sink Sink) error {
	for _, e := range s.entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !s.reads(e.ref.GroupKind(), ask) {
			continue
		}
		o, err := s.object(e, sink)
		if err != nil {
			return err
		}
		sink.Add(o)
	}
	s.cover(ask, sink)
	return nil
}

// reads reports whether objects of the kind are delivered.
func (s *Snapshot) reads(gk schema.GroupKind, ask Query) bool {
	r, _ := s.kinds.Kind(gk)
	return !LeftOut(r) || slices.Contains(ask.Include, gk) || slices.Contains(ask.Kinds, gk) ||
		slices.ContainsFunc(ask.Objects, func(o object.Ref) bool { return o.GroupKind() == gk })
}

// object returns an entry in the form in which a cluster would deliver it.
func (s *Snapshot) object(e entry, sink Sink) (object.Object, error) {
	gvk := e.body.GroupVersionKind()
	o := object.Object{Ref: e.ref, Version: gvk.Version, Meta: e.body, Body: e.body}
	switch s.detailOf(gvk, sink) {
	case Fields:
		if s.whole {
			// A sink may change a whole object.
			u := e.body.DeepCopy()
			o.Meta, o.Body = u, u
		}
		return o, nil
	case Typed:
		into, err := scheme.Scheme.New(gvk)
		if err != nil {
			return o, fmt.Errorf("%s: %s: %w", e.at, o.Ref, err)
		}
		return convert(e, o, e.body.Object, into)
	}
	return convert(e, o, map[string]any{"metadata": e.body.Object["metadata"]}, &metav1.PartialObjectMetadata{})
}

func convert(e entry, o object.Object, fields map[string]any, into runtime.Object) (object.Object, error) {
	body, ok := into.(whole)
	if !ok {
		return o, fmt.Errorf("%s: %s has no metadata", e.at, o.Ref)
	}
	if err := intoTyped(fields, body); err != nil {
		return o, fmt.Errorf("%s: %s: %w", e.at, o.Ref, err)
	}
	if neverWhole(o.GroupKind()) {
		body.SetAnnotations(withoutCopies(body.GetAnnotations()))
		o.Type = secretType(e.body)
	}
	o.Meta, o.Body = body, body
	return o, nil
}

// intoTyped goes by way of JSON: the converter of apimachinery copies all it knows of fields
// for each field that it sees first, which is most of what reading a small file takes. It is
// asked where JSON is stricter (3.0 is no whole number there), and for what is wrong.
func intoTyped(fields map[string]any, body whole) error {
	if raw, err := json.Marshal(fields); err == nil && utiljson.Unmarshal(raw, body) == nil {
		return nil
	}
	reflect.ValueOf(body).Elem().SetZero()
	return runtime.DefaultUnstructuredConverter.FromUnstructured(fields, body)
}

// secretType returns the type of a Secret. The default is Opaque, as on the server; it is unknown
// if the dump has only metadata.
func secretType(u *unstructured.Unstructured) string {
	if kind, _ := u.Object["type"].(string); kind != "" || u.GetKind() != "Secret" {
		return kind
	}
	for _, content := range [...]string{"data", "stringData"} {
		if _, has := u.Object[content]; has {
			return string(corev1.SecretTypeOpaque)
		}
	}
	return ""
}

// detailOf returns how to read an object. A built-in kind in another version than the requested one
// is a gap, and metadata only.
func (s *Snapshot) detailOf(gvk schema.GroupVersionKind, sink Sink) Detail {
	r, _ := s.kinds.Kind(gvk.GroupKind())
	wanted, version := Fields, gvk.Version
	switch {
	case neverWhole(gvk.GroupKind()):
		return Metadata
	case s.whole:
		return Fields
	case s.detail != nil:
		wanted, version = s.detail(r)
	case scheme.Scheme.IsGroupRegistered(gvk.Group):
		wanted, version = Typed, r.Version
	}
	removed, gone := object.Removed(gvk)
	fits := version == "" || version == gvk.Version
	switch {
	case (wanted == Fields || wanted == Whole) && fits, !gone && wanted == Metadata, !gone && fits && scheme.Scheme.Recognizes(gvk):
		return wanted
	case gone:
		// The kind may have moved to another group, which is the only one that the rules read.
		sink.Gap(object.Gap{Resource: r.String(), Reason: "UnknownVersion", Message: fmt.Sprintf(
			"in the snapshot as %s, %s: its fields were not read", gvk.GroupVersion(), removed)})
		return Metadata
	}
	message := fmt.Sprintf("in the snapshot as %s, not as %s: its fields were not read", gvk.Version, version)
	if fits {
		message = fmt.Sprintf("the shape of %s is unknown: its fields were not read", gvk.GroupVersion())
	}
	sink.Gap(object.Gap{Resource: r.String(), Reason: "UnknownVersion", Message: message})
	return Metadata
}

// cover reports the complete kinds. Our own snapshots record them. In another dump, a kind counts
// as complete in a namespace that has an object of it; a kind without objects may have been left
// out (kubectl get all has no Secrets).
func (s *Snapshot) cover(ask Query, sink Sink) {
	if s.head != nil {
		for _, c := range s.head.Covered {
			if gk := (schema.GroupKind{Group: c.Group, Kind: c.Kind}); s.reads(gk, ask) {
				sink.Cover(gk, c.Namespace)
			}
		}
		for _, id := range s.head.Absent {
			if r, err := object.ParseRef(id); err == nil {
				sink.Absent(r)
			}
		}
		for _, g := range s.head.Gaps {
			if !ofUsage(g.Resource) { // Get reports those to the readers of usage
				sink.Gap(g)
			}
		}
		return
	}
	type scope struct {
		gk schema.GroupKind
		ns string
	}
	covered := map[scope]bool{}
	for _, e := range s.entries {
		if at := (scope{e.ref.GroupKind(), e.ref.Namespace}); !covered[at] && s.reads(at.gk, ask) {
			covered[at] = true
			sink.Cover(at.gk, at.ns)
		}
	}
}
