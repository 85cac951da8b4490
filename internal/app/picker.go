package app

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// objectReader reads chosen objects whole, independently of its session.
type objectReader struct {
	s     *Session
	whole source.Source
	// missed are the gaps.
	missed map[object.Gap]bool
}

// NewObjectReader reads objects of the session's source whole.
func NewObjectReader(ctx context.Context, s *Session) (*objectReader, error) {
	p := &objectReader{s: s, missed: map[object.Gap]bool{}}
	if snap, ok := s.Source.(*source.Snapshot); ok {
		p.whole = snap.Reading(func(object.Resource) (source.Detail, string) { return source.Fields, "" })
		return p, nil
	}
	var err error
	p.whole, err = s.Input.WholeSource(ctx, s, source.Fields)
	return p, err
}

// Get reads objects as maps and lists, which the caller must not change. It leaves out objects that
// are missing or could not be read.
func (p *objectReader) Get(ctx context.Context, refs ...object.Ref) (map[object.Ref]map[string]any, error) {
	found := map[object.Ref]map[string]any{}
	if len(refs) == 0 {
		return found, nil
	}
	sink := &pickedSink{p: p, keep: func(r object.Ref) bool { return slices.Contains(refs, r) }}
	if err := p.whole.Read(ctx, source.Query{Objects: refs}, sink); err != nil {
		return nil, err
	}
	for _, o := range sink.objects {
		if fields := o.Fields(); fields != nil {
			found[o.Ref] = fields
		}
	}
	return found, nil
}

// list returns the objects of a kind with their metadata.
func (p *objectReader) list(ctx context.Context, gk schema.GroupKind, namespace string) []object.Object {
	r, ok := p.s.Kinds.Kind(gk)
	if !ok {
		return nil
	}
	sink := &pickedSink{p: p, keep: func(r object.Ref) bool { return r.GroupKind() == gk && (namespace == "" || r.Namespace == namespace) }}
	if cluster, ok := p.s.Source.(*source.Cluster); ok {
		cluster.List(ctx, r, namespace, sink)
	} else if p.s.Source.Read(ctx, source.Query{All: true}, sink) != nil {
		return nil
	}
	slices.SortFunc(sink.objects, func(a, b object.Object) int { return object.Compare(a.Ref, b.Ref) })
	return sink.objects
}

// Refused reports that objects of the kind could not be read.
func (p *objectReader) Refused(gk schema.GroupKind) bool {
	r, _ := p.s.Kinds.Kind(gk)
	for g := range p.missed {
		if g.Resource == r.String() {
			return true
		}
	}
	return false
}

// pickedSink is a sink that keeps chosen objects.
type pickedSink struct {
	p       *objectReader
	keep    func(object.Ref) bool
	mu      sync.Mutex
	objects []object.Object
}

func (k *pickedSink) Add(o object.Object) {
	if k.keep(o.Ref) {
		k.mu.Lock()
		k.objects = append(k.objects, o)
		k.mu.Unlock()
	}
}

// Reset forgets the objects of the kind: its list starts again.
func (k *pickedSink) Reset(gk schema.GroupKind, namespace string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.objects = slices.DeleteFunc(k.objects, func(o object.Object) bool {
		return o.GroupKind() == gk && (namespace == "" || o.Namespace == namespace)
	})
}

func (k *pickedSink) Absent(object.Ref)              {}
func (k *pickedSink) Cover(schema.GroupKind, string) {}

// Gap keeps a gap. The gaps of a snapshot are reported where it is read as a whole.
func (k *pickedSink) Gap(g object.Gap) {
	if !k.p.s.Snapshot {
		k.mu.Lock()
		k.p.missed[g] = true
		k.mu.Unlock()
	}
}
