package cli

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// silenceLimit is after what time without an answer the user learns that a command waits
// for the API server.
const silenceLimit = 15 * time.Second

// silence says on stderr when the API server does not answer. It ends nothing: how long
// is waited is for the timeouts to say.
type silence struct {
	out io.Writer
	// after calls a function once the time has passed, unless it is stopped before.
	after func(time.Duration, func()) (stop func() bool)

	mu sync.Mutex
	// warned says that the server was reported and has not answered anything since, and
	// requests are those that were reported and have not been answered since.
	warned   bool
	requests map[string]bool
}

func newSilence(out io.Writer) *silence {
	return &silence{out: out, requests: map[string]bool{}, after: func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }}
}

// watch wraps a transport so that requests without an answer are reported.
func (s *silence) watch(next http.RoundTripper) http.RoundTripper { return listener{s, next} }

// report says once that there is no answer: many requests may wait for the same server, and
// one request may be sent again and again.
func (s *silence) report(request string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.warned || s.requests[request] {
		return
	}
	s.warned, s.requests[request] = true, true
	fmt.Fprintf(s.out, "warning: no answer from the API server for %.0f s: %s\n", silenceLimit.Seconds(), safe(request))
}

type listener struct {
	s    *silence
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper. An interrupt, a time limit or a broken connection also
// ends the waiting; the sender of the request reports it.
func (l listener) RoundTrip(r *http.Request) (*http.Response, error) {
	request := describeRequest(r)
	stop := l.s.after(silenceLimit, func() { l.s.report(request) })
	resp, err := l.next.RoundTrip(r)
	stop()
	if err != nil {
		return resp, err
	}
	l.s.answered(request)
	if !isStream(r) && resp.StatusCode != http.StatusSwitchingProtocols {
		resp.Body = &listenedBody{resp.Body, l.s, request}
	}
	return resp, nil
}

// answered notes that something came from the server.
func (s *silence) answered(request string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warned = false
	delete(s.requests, request)
}

// listenedBody waits for each part of a body. It does not wait between reads.
type listenedBody struct {
	io.ReadCloser
	s       *silence
	request string
}

func (b *listenedBody) Read(p []byte) (int, error) {
	stop := b.s.after(silenceLimit, func() { b.s.report(b.request) })
	n, err := b.ReadCloser.Read(p)
	stop()
	if n > 0 {
		b.s.answered(b.request)
	}
	return n, err
}
