package app

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// Whole reads the current state of one object; nil and the reason where it is gone or forbidden. It
// reads Secrets and ConfigMaps without their data.
func (s *Session) Whole(ctx context.Context, ref object.Ref) (map[string]any, string, error) {
	sink := &oneSink{want: ref}
	if err := s.wholly().Read(ctx, source.Query{Objects: []object.Ref{ref}}, sink); err != nil {
		return nil, "", err
	}
	switch {
	case sink.body == nil && len(sink.Gaps) > 0:
		return nil, "it could not be read: " + sink.Gaps[0].Message, nil
	case sink.body == nil:
		return nil, "it was deleted", nil
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(sink.body)
	if err != nil {
		return nil, "", err
	}
	fields["apiVersion"], fields["kind"] = schema.GroupVersion{Group: ref.Group, Version: sink.version}.String(), ref.Kind
	return fields, "", nil
}

// oneSink takes one object.
type oneSink struct {
	EarlyGaps
	want    object.Ref
	mu      sync.Mutex
	body    runtime.Object
	version string
}

// Add takes the wanted object.
func (s *oneSink) Add(o object.Object) {
	if o.Ref == s.want {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.body, s.version = o.Body, o.Version
	}
}

// Gap records the reason of a failed read.
func (s *oneSink) Gap(g object.Gap) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.EarlyGaps.Gap(g)
}
