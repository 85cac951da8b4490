// Package web serves the page on loopback: its assets, the Picture with what changes of it, and
// what the page asks for besides. It reads nothing of a cluster itself.
//
// Whoever is on this machine reaches a port of loopback, and so does every page in the user's
// browser, under whatever name its owner's DNS gives to 127.0.0.1. Hence a request is looked at
// from outside to inside, and each layer refuses by itself: Host by a list of three before there
// are routes; method; Origin and Sec-Fetch-Site; the cookie, which a token gave that was printed
// to the user and works once; and last what is asked. The shell and its assets carry no data.
package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/view"
)

// Answer answers a question of the page with a JSON document. The query is that of the request;
// only the names that the Question takes are in it. An error is told as it is, as a 400 where it
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

// Bad returns a *BadRequest.
func Bad(format string, args ...any) error { return &BadRequest{fmt.Errorf(format, args...)} }

// Unwrap returns what is wrong.
func (b *BadRequest) Unwrap() error { return b.error }

// Options are what a Server serves.
type Options struct {
	Questions []Question
	// Compose may be nil: then there is no composer.
	Compose Compose
	// Idle ends Serve with ErrIdle when no page was open for so long; 0 is never.
	Idle time.Duration
	// Log is told what went wrong inside, which a page is not; nil for nobody.
	Log func(format string, args ...any)
}

// ErrIdle is that no page was open for as long as Options.Idle.
var ErrIdle = errors.New("no page was open for a long time")

// Server serves the page.
type Server struct{}

// New makes a server for a listener, which must be on loopback. The listener is closed by Serve.
func New(l net.Listener, o Options) (*Server, error) { return &Server{}, nil }

// Address is what the user opens. It holds the token, and works once.
func (s *Server) Address() string { return "" }

// Serve serves until ctx ends, and returns nil then, when every goroutine of it has ended.
func (s *Server) Serve(ctx context.Context) error { return nil }

// Publish hands on what is seen now. Pages get the difference to the one before, at most once a
// second. The Picture must not be changed afterwards.
func (s *Server) Publish(*view.Picture) {}

// Stale says that what was published is no longer followed, and why; empty that it is again.
func (s *Server) Stale(string) {}
