package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
)

// live is a server that serves, and a client of it.
type live struct {
	*Server
	t      *testing.T
	base   string // http://127.0.0.1:PORT
	token  string
	bearer string
	client *http.Client
	stop   context.CancelFunc
	ended  chan error
}

func start(t *testing.T, o Options) *live {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(l, o)
	if err != nil {
		t.Fatal(err)
	}
	base, token, ok := strings.Cut(s.Address(), "/#token=")
	if !ok {
		t.Fatalf("address %s", s.Address())
	}
	ctx, stop := context.WithCancel(t.Context())
	v := &live{Server: s, t: t, base: base, token: token, client: &http.Client{Transport: &http.Transport{DisableCompression: true}}, stop: stop, ended: make(chan error, 1)}
	go func() { v.ended <- s.Serve(ctx) }()
	t.Cleanup(v.end)
	return v
}

// end ends the server and waits for it.
func (v *live) end() {
	v.stop()
	v.client.CloseIdleConnections()
	if err := <-v.ended; err != nil {
		v.t.Errorf("Serve: %v", err)
	}
	v.ended <- nil
}

// request is one that a page makes; change makes it another.
func (v *live) request(method, path, body string, change ...func(*http.Request)) *http.Request {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.base+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	if body == "" {
		r.Body, r.ContentLength = nil, 0
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == http.MethodPost {
		r.Header.Set("Origin", v.base)
		r.Header.Set("X-Sysop", "1")
		r.Header.Set("Content-Type", "application/json")
	}
	if v.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+v.bearer)
	}
	for _, c := range change {
		c(r)
	}
	return r
}

type reply struct {
	status int
	header http.Header
	body   string
}

func (v *live) do(r *http.Request) reply {
	v.t.Helper()
	res, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, string(body)}
}

func (v *live) session(token string, change ...func(*http.Request)) reply {
	v.t.Helper()
	body, err := json.Marshal(map[string]string{"token": token})
	if err != nil {
		v.t.Fatal(err)
	}
	return v.do(v.request("POST", "/api/session", string(body), change...))
}

// open exchanges the token for the bearer.
func (v *live) open() {
	v.t.Helper()
	a := v.session(v.token)
	if a.status != http.StatusOK {
		v.t.Fatalf("session: %d %s", a.status, a.body)
	}
	var given struct{ Bearer string }
	if err := json.Unmarshal([]byte(a.body), &given); err != nil || len(given.Bearer) != 43 {
		v.t.Fatalf("session: %q %v", a.body, err)
	}
	v.bearer = given.Bearer
}

func echo(_ context.Context, q url.Values) (json.RawMessage, error) {
	return json.Marshal(map[string]any{"asked": q})
}

// everything is options with a question of every sort.
func everything() Options {
	return Options{
		Questions: []Question{
			{"object", []string{"ref"}, echo},
			{"check", nil, echo},
			{"bad", nil, func(context.Context, url.Values) (json.RawMessage, error) {
				return nil, fmt.Errorf("ask: %w", Bad("no object is called %q", "<b>"))
			}},
			{"broken", nil, func(context.Context, url.Values) (json.RawMessage, error) {
				return nil, errors.New("the cluster is away")
			}},
			{"panics", nil, func(context.Context, url.Values) (json.RawMessage, error) { panic("of something inside") }},
			{"huge", nil, func(context.Context, url.Values) (json.RawMessage, error) {
				return bytes.Repeat([]byte(" "), maxResponseBytes+1), nil
			}},
		},
		Posts: map[string]Post{"system": func(_ context.Context, body json.RawMessage) (json.RawMessage, error) { return body, nil }},
	}
}

func TestListener(t *testing.T) {
	for _, at := range []string{"0.0.0.0:0", "127.0.0.2:0"} {
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(l, Options{}); err == nil || !strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%s: %v", at, err)
		}
		_ = l.Close()
	}
	if l, err := net.Listen("unix", t.TempDir()+"/s"); err == nil {
		if _, err := New(l, Options{}); err == nil {
			t.Error("a socket is served")
		}
		_ = l.Close()
	}
	if l, err := net.Listen("tcp", "[::1]:0"); err == nil {
		if s, err := New(l, Options{}); err != nil || !strings.HasPrefix(s.Address(), "http://[::1]:") {
			t.Errorf("::1: %v", err)
		}
		_ = l.Close()
	}
}

func TestQuestionsHaveOneName(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, name := range []string{"stream", "session", "object"} {
		if _, err := New(l, Options{Questions: []Question{{"object", nil, echo}, {name, nil, echo}}}); err == nil {
			t.Errorf("two routes are called %s", name)
		}
	}
}

// TestServeLeavesNothing has every sort of connection open when the server ends.
func TestServeLeavesNothing(t *testing.T) {
	v := start(t, everything())
	v.open()
	v.Publish(&uistate.State{})
	for range 3 {
		v.follow().next()
	}
	// Somebody who says nothing, and somebody who never ends what they say.
	for _, text := range []string{"", "GET / HTTP/1.1\r\nHost:"} {
		c, err := net.Dial("tcp", v.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, text)
	}
	v.end()
	if c, err := net.Dial("tcp", v.listener.Addr().String()); err == nil {
		_ = c.Close()
		t.Error("it listens yet")
	}
	// A goroutine counts until it is gone, which is a little after it said that it is done.
	stacks := make([]byte, 1<<20)
	for strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "net/http.(*conn)") {
		runtime.Gosched()
	}
}

func TestListenerFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(l, Options{})
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if err := s.Serve(t.Context()); err == nil || errors.Is(err, errIdle) {
		t.Error(err)
	}
}

func TestIdleServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(l, Options{Idle: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(t.Context()); !errors.Is(err, errIdle) {
		t.Error(err)
	}
}
