package app

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// get is how the sources of usage ask the cluster, or the snapshot.
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

// now is when it is, or was when the snapshot was taken: when its newest sample of usage
// was, or, where it has none, when it says that it was taken.
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

// answered tells how many queries of a window are answered.
func (m *MetricsResult) answered(answered, needed int) {
	if answered%20 == 0 || answered == needed {
		m.Input.Report.Progress(fmt.Sprintf("%d of %d queries answered", answered, needed))
	}
}

// HistoryClient asks a Prometheus that wants a token; nil where there is none.
func HistoryClient(tokenFile string) (*http.Client, error) {
	if tokenFile == "" {
		return nil, nil
	}
	text, err := os.ReadFile(tokenFile)
	if err != nil {
		return nil, fmt.Errorf("--prometheus-token-file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return nil, hint.With(fmt.Errorf("--prometheus-token-file %s: holds no token", tokenFile), "write the token alone into it, as kubectl create token does")
	}
	return &http.Client{
		Transport: &bearer{token, http.DefaultTransport},
		// A token is for the server that was named, and for none that it points to.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// bearer adds a token to requests.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}
