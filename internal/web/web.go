// Package web is the program's HTTP: the page on loopback (its assets, the UIState with its changes,
// and the page's questions, which internal/app answers as it answers the commands), and the metrics
// for Prometheus.
//
// Every user of the machine can reach a loopback port, and so can every web page in the user's
// browser, by a DNS name for 127.0.0.1. So a request passes several checks from outside to inside,
// each of which can refuse it: Host against a list of three, before routing; method; Origin and
// Sec-Fetch-Site; the bearer, for which the token that is printed to the user is exchanged once;
// and last the question. The shell and its assets contain no data.
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

	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
)

// Answer answers a question of the page with a JSON document. query has only the names in
// Question.Takes. An error is sent as it is, as a 400 for a *BadRequest, else as a 502.
type Answer func(ctx context.Context, query url.Values) (json.RawMessage, error)

// Question is something that the page may request at GET /api/NAME.
type Question struct {
	Name string
	// Takes are the allowed names of the query.
	Takes  []string
	Answer Answer
}

// Post answers POST /api/NAME, a question that is too long for an address. It writes nothing.
type Post func(ctx context.Context, body json.RawMessage) (json.RawMessage, error)

// BadRequest is an error in the question itself.
type BadRequest struct{ error }

// Bad returns a *BadRequest.
func Bad(format string, args ...any) error { return &BadRequest{fmt.Errorf(format, args...)} }

// Unwrap returns the error.
func (b *BadRequest) Unwrap() error { return b.error }

// Options configure a Server.
type Options struct {
	Questions []Question
	// Posts are by name.
	Posts map[string]Post
	// Idle ends Serve with errIdle if no page was open for so long; 0 is never.
	Idle time.Duration
	// Opened is called once, when a page has exchanged the token; may be nil.
	Opened func()
	// Log receives internal errors, which a page does not see; may be nil.
	Log func(format string, args ...any)
}

// The limits of a server.
const (
	headerTime       = 5 * time.Second
	bodyTime         = 15 * time.Second
	writeTime        = 30 * time.Second // of a response
	eventTime        = 10 * time.Second // of an event
	questionTime     = 2 * time.Minute
	graceTime        = 500 * time.Millisecond
	maxBodyBytes     = 256 << 10
	maxResponseBytes = 16 << 20
	maxStreams       = 8  // open at once
	maxConcurrent    = 2  // running questions
	maxQueued        = 32 // running or waiting
)

// errIdle reports that no page was open for as long as Options.Idle.
var errIdle = errors.New("no page was open for a long time")

// Server serves the page.
type Server struct {
	listener net.Listener
	options  Options
	// hosts are the accepted values of Host, each with the port.
	hosts   []string
	routes  map[string]route
	session *session
	feed    *feed
	idle    *idle
	// Semaphores: each holds a slot for a client.
	streams, turns, queue chan struct{}
}

// New returns a server for a listener, which must be on loopback. Serve closes the listener.
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

// Address returns the URL that the user opens. It has the token, and works once.
func (s *Server) Address() string {
	return "http://" + s.listener.Addr().String() + "/#token=" + s.session.token
}

// Publish replaces the current UIState. Pages get the difference to the previous one, at most once
// a second. The UIState must not be changed afterwards.
func (s *Server) Publish(p *uistate.State) {
	s.feed.set(func(n *news) { n.state, n.number = p, n.number+1 })
}

// Stale reports that the published state is no longer updated, and why; "" that it is again.
func (s *Server) Stale(reason string) {
	s.feed.set(func(n *news) { n.stale = reason })
}

// Serve serves until ctx ends, and then returns nil after all its goroutines have ended. It is
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
		// "OPTIONS *" has no path and is refused like everything else.
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
		err = errIdle
	case failed := <-ended:
		ended <- failed // for the receive below
	}
	s.feed.end()
	cancel()
	// This limits pages that do not read their last event. Connections that are still open then are
	// closed.
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

// logFunc passes the lines of a log.Logger on.
type logFunc func(format string, args ...any)

func (t logFunc) Write(line []byte) (int, error) {
	t("%s", bytes.TrimSpace(line))
	return len(line), nil
}
