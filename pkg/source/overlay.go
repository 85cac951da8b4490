package source

import (
	"context"
	"fmt"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Overlay is a Source that answers as the base would after applying a batch: the objects of the
// batch replace those of the same name. What the base reads without the batch goes to BaseSink in
// the same Read, so that nothing is read twice.
type Overlay struct {
	base    Source
	docs    []Document
	options OverlayOptions
	batch   *Batch
	served  *object.Kinds // without the batch

	mu   sync.Mutex
	uids map[object.Ref]types.UID // of the objects that are replaced
}

// OverlayOptions configure an Overlay.
type OverlayOptions struct {
	// Namespace is the default of objects without one.
	Namespace string
	// Detail says how much of an object to deliver, and in which version, as that of ClusterOptions
	// does; nil delivers metadata.
	Detail func(object.Resource) (Detail, string)
	// BaseSink receives what the base has without the batch; may be nil.
	BaseSink Sink
}

// NewOverlay puts the objects of documents over a source. Kinds reports errors in them.
func NewOverlay(base Source, docs []Document, o OverlayOptions) *Overlay {
	if o.Detail == nil {
		o.Detail = func(object.Resource) (Detail, string) { return Metadata, "" }
	}
	return &Overlay{base: base, docs: docs, options: o, uids: map[object.Ref]types.UID{}}
}

// Base returns the base source.
func (o *Overlay) Base() Source { return o.base }

// Batch returns the objects of the batch; nil before Kinds was called.
func (o *Overlay) Batch() *Batch { return o.batch }

// Current returns the current kinds of the base and of the batch.
func (o *Overlay) Current() *object.Kinds { return o.batch.Kinds }

// Served returns the kinds of the base, without those of the batch.
func (o *Overlay) Served() *object.Kinds { return o.served }

// SetBaseSink replaces BaseSink from now on.
func (o *Overlay) SetBaseSink(sink Sink) { o.options.BaseSink = sink }

// Kinds returns those of the base and of the batch. The error may be a *ManifestError.
func (o *Overlay) Kinds(ctx context.Context, sink Sink) (*object.Kinds, error) {
	var err error
	if o.served, err = o.base.Kinds(ctx, sink); err != nil {
		return nil, err
	}
	if o.batch, err = NewBatch(o.docs, o.served, o.options.Namespace); err != nil {
		return nil, err
	}
	return o.batch.Kinds, nil
}

// Definitions returns the metadata of the CustomResourceDefinitions of the base, and those of the
// batch whole. If the base finds other kinds by them, the batch is read again.
func (o *Overlay) Definitions(ctx context.Context, sink Sink) ([]metav1.Object, error) {
	all, err := o.base.Definitions(ctx, sink)
	if err != nil {
		return nil, err
	}
	if cluster, ok := o.base.(*Cluster); ok {
		o.served = cluster.Current()
		if o.batch, err = NewBatch(o.docs, o.served, o.options.Namespace); err != nil {
			return nil, err
		}
	}
	var own []metav1.Object
	for i := range o.batch.Manifests {
		m := &o.batch.Manifests[i]
		if m.Ref.GroupKind() != crdKind {
			continue
		}
		all = slices.DeleteFunc(slices.Clone(all), func(d metav1.Object) bool { return d.GetName() == m.Ref.Name })
		own = append(own, m.Object)
	}
	all = append(slices.Clone(all), own...)
	slices.SortFunc(all, compareNames)
	return all, nil
}

// Whole returns a source of whole objects, including those of the batch, for reading some of them
// by name. It does not write to BaseSink.
func (o *Overlay) Whole() *Overlay {
	whole := &Overlay{base: o.base, batch: o.batch, options: o.options, uids: map[object.Ref]types.UID{}}
	whole.options.BaseSink = nil
	whole.options.Detail = func(object.Resource) (Detail, string) { return Fields, "" }
	switch base := o.base.(type) {
	case *Cluster:
		whole.base = base.Whole()
	case *Snapshot:
		whole.base = base.Whole()
	}
	return whole
}

// Read reads the query from the base, and then delivers the batch. Kinds that only the batch
// defines are covered: they have no other objects.
func (o *Overlay) Read(ctx context.Context, ask Query, sink Sink) error {
	layered := &overlaySink{Sink: sink, o: o}
	if err := o.base.Read(ctx, ask, layered); err != nil {
		return err
	}
	for i := range o.batch.Manifests {
		sink.Add(o.object(&o.batch.Manifests[i], sink))
	}
	for _, r := range o.batch.Kinds.All() {
		if o.batch.Defines(r.GroupKind()) {
			sink.Cover(r.GroupKind(), "")
		}
	}
	return ctx.Err()
}

// object returns an object of the batch in the form in which the base would deliver it. One that
// does not fit its Go type is a gap: the server will report the error.
func (o *Overlay) object(m *Manifest, sink Sink) object.Object {
	body := m.Object.DeepCopy()
	o.mu.Lock()
	body.SetUID(o.uids[m.Ref])
	o.mu.Unlock()
	at := object.Object{Ref: m.Ref, Version: m.Resource.Version, Meta: body, Body: body}
	e := entry{ref: m.Ref, body: body}
	gap := func(reason, format string, args ...any) {
		sink.Gap(object.Gap{Resource: m.Ref.String(), Reason: reason, Message: m.Origin + ": " + fmt.Sprintf(format, args...)})
	}
	metadata := func() object.Object {
		o, err := convert(e, at, map[string]any{"metadata": body.Object["metadata"]}, &metav1.PartialObjectMetadata{})
		if err != nil {
			gap("Malformed", "its metadata is invalid: %v", err)
			body.Object["metadata"] = map[string]any{"name": m.Ref.Name, "namespace": m.Ref.Namespace}
			o.Meta, o.Body = body, &metav1.PartialObjectMetadata{}
		}
		return o
	}
	gvk := schema.GroupVersionKind{Group: m.Ref.Group, Version: m.Resource.Version, Kind: m.Ref.Kind}
	removed, gone := object.Removed(gvk)
	detail, version := o.options.Detail(m.Resource)
	if version == "" {
		version = m.Resource.Version
	}
	switch {
	case neverWhole(m.Ref.GroupKind()):
		return metadata()
	case m.Served && (detail == Fields || detail == Whole):
		return at
	case gone:
		gap("UnknownVersion", "written as %s, %s: its fields were not read", gvk.GroupVersion(), removed)
		return metadata()
	case !m.Served:
		return metadata()
	case detail == Metadata:
		return metadata()
	case version != gvk.Version || !scheme.Scheme.Recognizes(gvk):
		gap("UnknownVersion", "written as %s, not as %s: its fields were not read", gvk.Version, version)
		return metadata()
	}
	into, err := scheme.Scheme.New(gvk)
	if err == nil {
		var typed object.Object
		if typed, err = convert(e, at, body.Object, into); err == nil {
			return typed
		}
	}
	gap("Malformed", "not a %s: %v", m.Ref.Kind, err)
	return metadata()
}

// overlaySink passes everything to BaseSink, and what is not replaced to the sink of Read.
type overlaySink struct {
	Sink
	o *Overlay
}

func (s *overlaySink) Add(o object.Object) {
	if _, replaced := s.o.batch.Find(o.Ref); replaced {
		s.o.mu.Lock()
		s.o.uids[o.Ref] = o.Meta.GetUID()
		s.o.mu.Unlock()
	} else {
		s.Sink.Add(o)
	}
	if base := s.o.options.BaseSink; base != nil {
		base.Add(o)
	}
}

func (s *overlaySink) Absent(ref object.Ref) {
	if _, replaced := s.o.batch.Find(ref); !replaced {
		s.Sink.Absent(ref)
	}
	if base := s.o.options.BaseSink; base != nil {
		base.Absent(ref)
	}
}

func (s *overlaySink) Cover(gk schema.GroupKind, namespace string) {
	s.Sink.Cover(gk, namespace)
	if base := s.o.options.BaseSink; base != nil {
		base.Cover(gk, namespace)
	}
}

func (s *overlaySink) Reset(gk schema.GroupKind, namespace string) {
	s.Sink.Reset(gk, namespace)
	if base := s.o.options.BaseSink; base != nil {
		base.Reset(gk, namespace)
	}
}

func (s *overlaySink) Gap(g object.Gap) {
	s.Sink.Gap(g)
	if base := s.o.options.BaseSink; base != nil {
		base.Gap(g)
	}
}
