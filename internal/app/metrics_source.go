package app

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// get returns how the sources of usage query the cluster, or the snapshot.
func (s *Session) get() metrics.GetFunc {
	if from, ok := s.Source.(*source.Snapshot); ok {
		return from.Get
	}
	if from := s.cluster(); from != nil {
		return from.Get
	}
	return nil
}

// cluster is the API server that is read; nil for a snapshot.
func (s *Session) cluster() *source.Cluster {
	switch from := s.Source.(type) {
	case *source.Cluster:
		return from
	case *source.Live:
		return from.Cluster()
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
	if from, ok := s.Source.(*source.Snapshot); ok {
		return from.Creators(ctx, refs)
	}
	if from := s.cluster(); from != nil {
		return from.Creators(ctx, refs)
	}
	return nil, nil
}

// newHistory returns the source of a window: a server at a URL, or a Service behind the API server
// that the session reads. A snapshot holds no Services to ask.
func (s *Session) newHistory(h HistorySource, o metrics.HistoryOptions) (*metrics.History, error) {
	address := h.Address
	var via http.RoundTripper
	switch {
	case !h.isService():
	case s.Input.From != "":
		return nil, hint.With(fmt.Errorf("--prometheus %s: cannot reach a Service through the API server: --from reads a snapshot", h.Address),
			"write the URL of the server, as in --prometheus http://localhost:9090")
	default:
		path, err := h.Access.ServicePath(address)
		if err != nil {
			return nil, err
		}
		var proxy *url.URL
		proxy, via = s.cluster().Proxied(path)
		o.Name, address = h.Address, proxy.String()
	}
	var err error
	if o.Client, err = h.Access.Client(via); err != nil {
		return nil, err
	}
	history, err := metrics.NewHistory(address, o)
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
