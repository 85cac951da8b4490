// Package web serves the page on loopback: its assets, the Picture with what changes of it, and
// what the page asks for besides. It reads nothing of a cluster itself.
package web

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/view"
)

// Answer answers a question of the page with a JSON document. The query is that of the request;
// only the names that the Question takes are in it. An error is told as it is, as a 4xx where it
// is a *BadRequest, else as a 502.
type Answer func(ctx context.Context, query url.Values) (json.RawMessage, error)

// Question is something that the page may ask for at GET /api/NAME.
type Question struct {
	Name string
	// Takes are the names of the query; any other is refused.
	Takes  []string
	Answer Answer
}

// Compose answers POST /api/system: a System manifest, as YAML or as the values of its fields,
// comes back in both forms, with what is wrong with it. Nothing is written anywhere.
type Compose func(ctx context.Context, body json.RawMessage) (json.RawMessage, error)

// BadRequest is that what was asked is wrong, not who was asked.
type BadRequest struct{ error }

// Options are what a Server serves.
type Options struct {
	Questions []Question
	Compose   Compose
}

// Server serves the page.
type Server struct{}

// Publish hands on what is seen now. Pages get the difference to the one before, at most once a
// second. The Picture must not be changed afterwards.
func (s *Server) Publish(*view.Picture) {}

// Stale says that what was published is no longer followed, and why; empty that it is again.
func (s *Server) Stale(string) {}
