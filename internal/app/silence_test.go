package app

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// timers stand in for time: they fire when a test says so.
type timers struct {
	mu    sync.Mutex
	armed []*timer
	came  chan struct{}
}

type timer struct {
	after time.Duration
	fire  func()
}

func (c *timers) after(d time.Duration, f func()) func() bool {
	one := &timer{d, f}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed = append(c.armed, one)
	select {
	case c.came <- struct{}{}:
	default:
	}
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		before := len(c.armed)
		c.armed = slices.DeleteFunc(c.armed, func(t *timer) bool { return t == one })
		return len(c.armed) < before
	}
}

// pass lets the time go by once so many requests wait.
func (c *timers) pass(t *testing.T, waiting int) {
	t.Helper()
	for {
		c.mu.Lock()
		armed := slices.Clone(c.armed)
		if len(armed) == waiting {
			c.armed = nil
		}
		c.mu.Unlock()
		if len(armed) == waiting {
			for _, one := range armed {
				if one.after != silenceLimit {
					t.Errorf("it waits for %s", one.after)
				}
				one.fire()
			}
			return
		}
		select {
		case <-c.came:
		case <-time.After(timeout.Scaled(20 * time.Second)):
			t.Fatalf("%d requests wait, want %d", len(armed), waiting)
		}
	}
}

// mute is a server that answers when it may, and half of its answer before, where it is asked to.
type mute struct {
	*httptest.Server
	answer chan struct{}
}

func newMute(t *testing.T) *mute {
	t.Helper()
	m := &mute{answer: make(chan struct{})}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("half") {
			fmt.Fprint(w, "half ")
			w.(http.Flusher).Flush()
		}
		select {
		case <-m.answer:
		case <-r.Context().Done():
		}
		fmt.Fprint(w, "answer")
	}))
	t.Cleanup(m.Close)
	t.Cleanup(m.CloseClientConnections)
	return m
}

// TestSilence holds that a server that does not answer is reported once for each silence, and
// that the request goes on.
func TestSilence(t *testing.T) {
	server, clock := newMute(t), &timers{came: make(chan struct{}, 1)}
	var out bytes.Buffer
	s := newSilence(func(text string) { out.WriteString(text) })
	s.after = clock.after
	client := &http.Client{Transport: s.watch(http.DefaultTransport)}
	answers := make(chan string, 8)
	ask := func(path string) {
		go func() {
			resp, err := client.Get(server.URL + path)
			if err != nil {
				answers <- err.Error()
				return
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			answers <- fmt.Sprint(string(body), err)
		}()
	}
	answered := func(want string) {
		t.Helper()
		server.answer <- struct{}{}
		if got := <-answers; got != want+"<nil>" {
			t.Errorf("the answer is %q, want %q", got, want)
		}
	}
	said := func(want string) {
		t.Helper()
		s.mu.Lock()
		defer s.mu.Unlock()
		if got := out.String(); got != want {
			t.Errorf("it says\n%s\nwant\n%s", got, want)
		}
		out.Reset()
	}
	const pods = "/api/v1/namespaces/shop/pods"
	ask(pods)
	ask(pods)
	ask(pods)
	clock.pass(t, 3)
	said("no answer from the API server for 15 s: list pods in shop")
	ask("/apis/apps/v1/deployments") // The same silence.
	clock.pass(t, 1)
	said("")
	for range 4 {
		answered("answer")
	}
	ask(pods) // Another one.
	clock.pass(t, 1)
	said("no answer from the API server for 15 s: list pods in shop")
	answered("answer")
	ask(pods + "?half")
	clock.pass(t, 1)
	said("no answer from the API server for 15 s: list pods in shop")
	answered("half answer")
	ask(pods) // Nothing is said of what is answered in time.
	answered("answer")
	said("")
}

// TestSilenceOfAStream holds that a watch may be quiet once it has begun, and not before.
func TestSilenceOfAStream(t *testing.T) {
	clock := &timers{came: make(chan struct{}, 1)}
	var out bytes.Buffer
	s := newSilence(func(text string) { out.WriteString(text) })
	s.after = clock.after
	begin := make(chan struct{})
	body := io.NopCloser(strings.NewReader("event"))
	transport := s.watch(roundTrip(func(*http.Request) (*http.Response, error) {
		<-begin
		return &http.Response{StatusCode: 200, Body: body}, nil
	}))
	req, _ := http.NewRequest(http.MethodGet, "https://server/api/v1/namespaces/shop/pods?watch=true", http.NoBody)
	got := make(chan *http.Response)
	go func() {
		resp, _ := transport.RoundTrip(req)
		got <- resp
	}()
	clock.pass(t, 1)
	close(begin)
	if resp := <-got; resp.Body != body {
		t.Error("its body is waited for")
	}
	if want := "no answer from the API server for 15 s: watch pods in shop"; out.String() != want {
		t.Errorf("it says %q, want %q", out.String(), want)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestDescribeRequest(t *testing.T) {
	for request, want := range map[string]string{
		"GET /api/v1/pods":                                      "list pods",
		"GET /api/v1/namespaces":                                "list namespaces",
		"GET /api/v1/namespaces/shop":                           "get namespaces/shop",
		"GET /api/v1/namespaces/shop/pods/web":                  "get pods/web in shop",
		"GET /api/v1/namespaces/shop/pods/web/log?follow=true":  "watch pods/web/log in shop",
		"GET /apis/apps/v1/namespaces/shop/deployments?limit=5": "list deployments.apps in shop",
		"GET /apis/apps/v1/deployments?watch=true":              "watch deployments.apps",
		"PATCH /apis/apps/v1/namespaces/shop/deployments/web":   "patch deployments.apps/web in shop",
		"POST /api/v1/namespaces/shop/secrets":                  "create secrets in shop",
		"PUT /api/v1/namespaces/shop/secrets/x":                 "update secrets/x in shop",
		"DELETE /api/v1/nodes/n1":                               "delete nodes/n1",
		"GET /apis":                                             "discover what is served at /apis",
		"GET /api/v1":                                           "discover what is served at /api/v1",
		"GET /apis/apps/v1":                                     "discover what is served at /apis/apps/v1",
		"GET /k8s/clusters/c-1/api/v1/namespaces/shop/pods":     "list pods in shop",
		"GET /version":                                          "get /version",
	} {
		method, target, _ := strings.Cut(request, " ")
		r, _ := http.NewRequest(method, "https://server"+target, http.NoBody)
		if got := describeRequest(r); got != want {
			t.Errorf("%s: %q, want %q", request, got, want)
		}
	}
}
