// Package web serves the page on loopback: its assets, the UIState with what changes of it, and
// what the page asks for besides. It reads nothing of a cluster itself.
//
// Whoever is on this machine reaches a port of loopback, and so does every page in the user's
// browser, under whatever name its owner's DNS gives to 127.0.0.1. Hence a request is looked at
// from outside to inside, and each layer refuses by itself: Host by a list of three before there
// are routes; method; Origin and Sec-Fetch-Site; the bearer, which a token gave that was printed
// to the user and works once; and last what is asked. The shell and its assets carry no data.
package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
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
	// Opened is called once, when a page has exchanged the token; nil for nobody.
	Opened func()
	// Log is told what went wrong inside, which a page is not; nil for nobody.
	Log func(format string, args ...any)
}

// The limits of a server.
const (
	headerTime       = 5 * time.Second
	bodyTime         = 15 * time.Second
	writeTime        = 30 * time.Second // of an answer
	eventTime        = 10 * time.Second // of an event
	questionTime     = 2 * time.Minute
	graceTime        = 500 * time.Millisecond
	maxBodyBytes     = 256 << 10
	maxResponseBytes = 16 << 20
	maxStreams       = 8  // open at once
	maxConcurrent    = 2  // questions at work
	maxQueued        = 32 // at work or waiting
)

// ErrIdle is that no page was open for as long as Options.Idle.
var ErrIdle = errors.New("no page was open for a long time")

// Server serves the page.
type Server struct {
	listener net.Listener
	options  Options
	// hosts are the names under which the server answers, each with the port.
	hosts   []string
	routes  map[string]route
	session *session
	feed    *feed
	idle    *idle
	// Each holds a place for whoever is at it.
	streams, turns, queue chan struct{}
}

// New makes a server for a listener, which must be on loopback. The listener is closed by Serve.
func New(l net.Listener, o Options) (*Server, error) {
	at, ok := l.Addr().(*net.TCPAddr)
	if !ok || !at.IP.Equal(net.IPv4(127, 0, 0, 1)) && !at.IP.Equal(net.IPv6loopback) {
		return nil, fmt.Errorf("serve the page at %s: it is served only at 127.0.0.1 or ::1, because every client reads with your permissions", l.Addr())
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	s := &Server{
		listener: l, options: o,
		session: newSession(),
		feed:    newFeed(),
		idle:    newIdle(o.Idle),
		streams: make(chan struct{}, maxStreams),
		turns:   make(chan struct{}, maxConcurrent),
		queue:   make(chan struct{}, maxQueued),
	}
	for _, name := range []string{"127.0.0.1", "localhost", "[::1]"} {
		s.hosts = append(s.hosts, name+":"+strconv.Itoa(at.Port))
		if at.Port == 80 {
			s.hosts = append(s.hosts, name)
		}
	}
	var err error
	s.routes, err = s.table()
	return s, err
}

// Address is what the user opens. It holds the token, and works once.
func (s *Server) Address() string {
	return "http://" + s.listener.Addr().String() + "/#token=" + s.session.token
}

// Publish hands on what is seen now. Pages get the difference to the one before, at most once a
// second. The UIState must not be changed afterwards.
func (s *Server) Publish(p *view.UIState) {
	s.feed.set(func(n *news) { n.state, n.number = p, n.number+1 })
}

// Stale says that what was published is no longer followed, and why; empty that it is again.
func (s *Server) Stale(why string) {
	s.feed.set(func(n *news) { n.stale = why })
}

// Serve serves until ctx ends, and returns nil then, when every goroutine of it has ended. It is
// called once.
func (s *Server) Serve(ctx context.Context) error {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var connections sync.WaitGroup
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       bodyTime,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		// What is asked of no path ("OPTIONS *") is refused as everything else.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     log.New(logFunc(s.options.Log), "", 0),
		BaseContext:                  func(net.Listener) context.Context { return base },
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				connections.Add(1)
			case http.StateClosed, http.StateHijacked:
				connections.Done()
			}
		},
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(s.listener) }()
	s.idle.start()
	var err error
	select {
	case <-ctx.Done():
	case <-s.idle.over:
		err = ErrIdle
	case failed := <-ended:
		ended <- failed // For below.
	}
	s.feed.end()
	cancel()
	// Its time is for pages that do not take what they are told. What is still open then is closed.
	grace, done := context.WithTimeout(context.WithoutCancel(ctx), graceTime)
	defer done()
	if server.Shutdown(grace) != nil {
		_ = server.Close()
	}
	if failed := <-ended; !errors.Is(failed, http.ErrServerClosed) {
		err = fmt.Errorf("serve the page at %s: %w", s.listener.Addr(), failed)
	}
	s.idle.stop()
	connections.Wait()
	return err
}

// logFunc hands the lines of a log.Logger on.
type logFunc func(format string, args ...any)

func (t logFunc) Write(line []byte) (int, error) {
	t("%s", bytes.TrimSpace(line))
	return len(line), nil
}
