package app

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// silenceLimit is after what time without an answer the user learns that a command waits
// for the API server.
const silenceLimit = 15 * time.Second

// silence warns that the API server does not answer. It ends no request: that is for the timeouts.
type silence struct {
	warn func(text string)
	// after calls a function once the time has passed, unless it is stopped before.
	after func(time.Duration, func()) (stop func() bool)

	mu sync.Mutex
	// warned says that the server was reported and has not answered anything since, and
	// requests are those that were reported and have not been answered since.
	warned   bool
	requests map[string]bool
}

func newSilence(warn func(text string)) *silence {
	return &silence{warn: warn, requests: map[string]bool{}, after: func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }}
}

// watch wraps a transport so that requests without an answer are reported.
func (s *silence) watch(next http.RoundTripper) http.RoundTripper { return silentTransport{s, next} }

// report says once that there is no answer: many requests may wait for the same server, and
// one request may be sent again and again.
func (s *silence) report(request string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.warned || s.requests[request] {
		return
	}
	s.warned, s.requests[request] = true, true
	s.warn(fmt.Sprintf("no answer from the API server for %.0f s: %s", silenceLimit.Seconds(), request))
}

type silentTransport struct {
	s    *silence
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper. An interrupt, a time limit or a broken connection also
// ends the waiting; the sender of the request reports it.
func (l silentTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	request := describeRequest(r)
	stop := l.s.after(silenceLimit, func() { l.s.report(request) })
	resp, err := l.next.RoundTrip(r)
	stop()
	if err != nil {
		return resp, err
	}
	l.s.answered(request)
	if !isStream(r) && resp.StatusCode != http.StatusSwitchingProtocols {
		resp.Body = &silentBody{resp.Body, l.s, request}
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

// silentBody waits for each part of a body. It does not wait between reads.
type silentBody struct {
	io.ReadCloser
	s       *silence
	request string
}

func (b *silentBody) Read(p []byte) (int, error) {
	stop := b.s.after(silenceLimit, func() { b.s.report(b.request) })
	n, err := b.ReadCloser.Read(p)
	stop()
	if n > 0 {
		b.s.answered(b.request)
	}
	return n, err
}

// describeRequest says in words what a request asks of an API server: "list pods in shop".
// What is no object is named by its path.
func describeRequest(r *http.Request) string {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	// The server may have a path of its own before that of its API.
	at := slices.IndexFunc(parts, func(p string) bool { return p == "api" || p == "apis" })
	if at < 0 {
		return strings.ToLower(r.Method) + " " + r.URL.Path
	}
	group, rest := "", parts[at+1:]
	if parts[at] == "apis" && len(rest) > 0 {
		group, rest = rest[0], rest[1:]
	}
	if len(rest) < 2 {
		return "discover what is served at " + r.URL.Path
	}
	rest = rest[1:] // without the version
	location := ""
	if rest[0] == "namespaces" && len(rest) > 2 {
		location, rest = " in "+rest[1], rest[2:]
	}
	resource := rest[0]
	if group != "" {
		resource += "." + group
	}
	if len(rest) > 1 {
		resource += "/" + strings.Join(rest[1:], "/")
	}
	return requestVerb(r, len(rest) > 1) + " " + resource + location
}

// requestVerb is what kubectl would call a request.
func requestVerb(r *http.Request, named bool) string {
	switch r.Method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		return "delete"
	}
	switch {
	case isStream(r):
		return "watch"
	case named:
		return "get"
	}
	return "list"
}

// isStream says that the answer to a request is open-ended, with pauses in it: a watch, or a log
// that is followed.
func isStream(r *http.Request) bool {
	q := r.URL.Query()
	return q.Has("watch") || q.Get("follow") == "true"
}
