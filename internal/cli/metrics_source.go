package cli

import (
	"context"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// get is how the sources of usage ask the cluster, or the snapshot.
func (s *session) get() metrics.Get {
	switch from := s.source.(type) {
	case *source.Cluster:
		return from.Get
	case *source.Snapshot:
		return from.Get
	}
	return nil
}

// now is when it is, or was when the snapshot was taken.
func (s *session) now() time.Time {
	if snap, ok := s.source.(*source.Snapshot); ok {
		if at := snap.Measured(); !at.IsZero() {
			return at
		}
	}
	return s.c.env.Now()
}

// creators finds who created objects.
func (s *session) creators(ctx context.Context, refs []object.Ref) (map[object.Ref]string, error) {
	switch from := s.source.(type) {
	case *source.Cluster:
		return from.Creators(ctx, refs)
	case *source.Snapshot:
		return from.Creators(ctx, refs)
	}
	return nil, nil
}
