package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// get returns how the sources of usage query the cluster, or the snapshot.
func (s *Session) get() metrics.GetFunc {
	switch from := s.Source.(type) {
	case *source.Cluster:
		return from.Get
	case *source.Live:
		return from.Cluster().Get
	case *source.Snapshot:
		return from.Get
	}
	return nil
}

// post returns how long queries are posted through the API server; nil from a snapshot.
func (s *Session) post() metrics.GetFunc {
	switch from := s.Source.(type) {
	case *source.Cluster:
		return from.Post
	case *source.Live:
		return from.Cluster().Post
	}
	return nil
}

// now is the current time, or that of the snapshot: the time of its newest sample of usage or,
// without one, when it was taken.
func (s *Session) now() time.Time {
	if snap, ok := s.Source.(*source.Snapshot); ok {
		for _, at := range []time.Time{snap.Measured(), snap.Taken()} {
			if !at.IsZero() {
				return at
			}
		}
	}
	return s.Input.Now()
}

// Creators finds who created objects.
func (s *Session) Creators(ctx context.Context, refs []object.Ref) (map[object.Ref]string, error) {
	switch from := s.Source.(type) {
	case *source.Cluster:
		return from.Creators(ctx, refs)
	case *source.Live:
		return from.Cluster().Creators(ctx, refs)
	case *source.Snapshot:
		return from.Creators(ctx, refs)
	}
	return nil, nil
}

// newHistory returns the source of a window. A snapshot holds no Services to ask.
func (c *Input) newHistory(h HistorySource, get metrics.GetFunc, o metrics.HistoryOptions) (*metrics.History, error) {
	if c.From != "" && strings.HasPrefix(h.Address, "svc:") {
		return nil, hint.With(fmt.Errorf("--prometheus %s: cannot reach a Service through the API server: --from reads a snapshot", h.Address),
			"write the URL of the server, as in --prometheus http://localhost:9090")
	}
	history, err := metrics.NewHistory(h.Address, get, o)
	if err != nil {
		return nil, fmt.Errorf("--prometheus: %w", err)
	}
	return history, nil
}

// answered reports how many queries of a window are done.
func (m *MetricsResult) answered(answered, needed int) {
	if answered%20 == 0 || answered == needed {
		m.Input.Report.Progress(fmt.Sprintf("%d of %d queries answered", answered, needed))
	}
}
