package web

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/view"
)

// live is a server that serves, and a client of it.
type live struct {
	*Server
	t      *testing.T
	base   string // http://127.0.0.1:PORT
	token  string
	cookie *http.Cookie
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
	if v.cookie != nil {
		r.AddCookie(v.cookie)
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

// open exchanges the token for the cookie.
func (v *live) open() {
	v.t.Helper()
	a := v.session(v.token)
	if a.status != http.StatusNoContent {
		v.t.Fatalf("session: %d %s", a.status, a.body)
	}
	c, err := http.ParseSetCookie(a.header.Get("Set-Cookie"))
	if err != nil {
		v.t.Fatal(err)
	}
	v.cookie = c
}

func echo(_ context.Context, q url.Values) (json.RawMessage, error) {
	return json.Marshal(map[string]any{"asked": q})
}

// all is options with a question of every sort.
func all() Options {
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
				return bytes.Repeat([]byte(" "), mostAnswer+1), nil
			}},
		},
		Compose: func(_ context.Context, body json.RawMessage) (json.RawMessage, error) { return body, nil },
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

// each calls check with every route that there is.
func (v *live) each(check func(path, method string)) {
	for path, to := range v.routes {
		check(path, to.method)
	}
	check("/api/nothing", "GET")
	check("/nothing", "GET")
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func without(name string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Del(name) }
}

func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

// refused fails where an answer is not the one, says nothing of why, or lets another origin read it.
func (v *live) refused(what string, a reply, status int) {
	v.t.Helper()
	if a.status != status {
		v.t.Errorf("%s: %d, not %d: %s", what, a.status, status, a.body)
	}
	var said struct{ Error string }
	if err := json.Unmarshal([]byte(a.body), &said); err != nil || said.Error == "" {
		v.t.Errorf("%s: says %q", what, a.body)
	}
	v.guarded(what, a.header)
}

func (v *live) guarded(what string, h http.Header) {
	v.t.Helper()
	for name, value := range heads {
		if got := h.Values(name); !slices.Equal(got, []string{value}) {
			v.t.Errorf("%s: %s: %q", what, name, got)
		}
	}
	for name := range h {
		if strings.HasPrefix(name, "Access-Control-") {
			v.t.Errorf("%s: %s: %q", what, name, h[name])
		}
	}
}

// TestEveryRouteRefuses goes through what keeps others out, layer by layer, with a page that is
// known: no layer leans on another.
func TestEveryRouteRefuses(t *testing.T) {
	v := start(t, all())
	v.open()
	port := v.base[strings.LastIndex(v.base, ":")+1:]
	v.each(func(path, method string) {
		for _, name := range []string{
			"attacker.example", "attacker.example:" + port, "127.0.0.1", "127.0.0.1:1", "localhost", "127.0.0.2:" + port,
			"127.0.0.1.nip.io:" + port, "localhost.:" + port, "LOCALHOST:" + port, "127.1:" + port, "0.0.0.0:" + port, "[::ffff:127.0.0.1]:" + port, "user@127.0.0.1:" + port,
		} {
			v.refused(path+" host "+name, v.do(v.request(method, path, "", host(name))), http.StatusMisdirectedRequest)
		}
		// A name of an attacker's that means 127.0.0.1 makes both fit each other.
		v.refused(path+" rebound", v.do(v.request(method, path, "", host("attacker.example:"+port), header("Origin", "http://attacker.example:"+port))), http.StatusMisdirectedRequest)
		wrong := map[string]string{"GET": "POST", "POST": "GET"}[method]
		for _, m := range []string{wrong, "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"} {
			r := v.request(m, path, "", header("Origin", v.base))
			a := v.do(r)
			if strings.HasSuffix(path, "nothing") {
				continue
			}
			if a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") != method {
				t.Errorf("%s %s: %d, Allow %q", m, path, a.status, a.header.Get("Allow"))
			}
			v.guarded(m+" "+path, a.header)
		}
		if strings.HasSuffix(path, "nothing") {
			v.refused(path, v.do(v.request(method, path, "")), http.StatusNotFound)
			return
		}
		for _, query := range []string{"?x=1", "?ref=a&ref=b", "?ref=%zz", "?a;b"} {
			body := ""
			if method == "POST" {
				body = "{}"
			}
			v.refused(path+query, v.do(v.request(method, path+query, body)), http.StatusBadRequest)
		}
	})
}

func TestAPIRefusesOthers(t *testing.T) {
	v := start(t, all())
	v.open()
	port := v.base[strings.LastIndex(v.base, ":")+1:]
	v.each(func(path, method string) {
		if !strings.HasPrefix(path, "/api/") {
			return
		}
		for _, origin := range []string{"null", "", "http://attacker.example", "https://127.0.0.1:" + port, "http://127.0.0.1:1", "http://127.0.0.1", "http://localhost:" + port, v.base + "/", v.base + ".attacker.example"} {
			v.refused(path+" origin "+origin, v.do(v.request(method, path, "", header("Origin", origin))), http.StatusForbidden)
		}
		v.refused(path+" two origins", v.do(v.request(method, path, "", func(r *http.Request) { r.Header["Origin"] = []string{v.base, "null"} })), http.StatusForbidden)
		for _, site := range []string{"cross-site", "same-site", "anything"} {
			v.refused(path+" site "+site, v.do(v.request(method, path, "", header("Sec-Fetch-Site", site))), http.StatusForbidden)
		}
		// What asks before it asks.
		preflight := v.do(v.request("OPTIONS", path, "", header("Origin", "https://attacker.example"), header("Access-Control-Request-Method", "POST"), header("Access-Control-Request-Headers", "x-sysop, content-type")))
		v.refused(path+" preflight", preflight, http.StatusForbidden)
		if path != "/api/session" {
			for what, change := range map[string]func(*http.Request){
				"no cookie":      without("Cookie"),
				"another cookie": header("Cookie", v.cookie.Name+"="+secret()),
				"empty cookie":   header("Cookie", v.cookie.Name+"="),
				"another name":   header("Cookie", "sysop-1="+v.cookie.Value),
				"the token":      header("Cookie", v.cookie.Name+"="+v.token),
			} {
				v.refused(path+" "+what, v.do(v.request(method, path, "", change)), http.StatusUnauthorized)
			}
		}
		if method != "POST" {
			v.refused(path+" with a body", v.do(v.request(method, path, "{}")), map[bool]int{true: http.StatusNotFound, false: http.StatusBadRequest}[strings.HasSuffix(path, "nothing")])
			return
		}
		v.refused(path+" no origin", v.do(v.request(method, path, "{}", without("Origin"))), http.StatusForbidden)
		v.refused(path+" typed", v.do(v.request(method, path, "{}", header("Sec-Fetch-Site", "none"))), http.StatusForbidden)
		v.refused(path+" no X-Sysop", v.do(v.request(method, path, "{}", without("X-Sysop"))), http.StatusForbidden)
		for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx", "application/json;;"} {
			v.refused(path+" "+kind, v.do(v.request(method, path, "{}", header("Content-Type", kind))), http.StatusUnsupportedMediaType)
		}
		v.refused(path+" oversize", v.do(v.request(method, path, `"`+strings.Repeat("a", mostBody)+`"`)), http.StatusRequestEntityTooLarge)
		v.refused(path+" oversize, of no length", v.do(v.request(method, path, strings.Repeat(" ", mostBody+1), func(r *http.Request) { r.ContentLength = -1 })), http.StatusRequestEntityTooLarge)
	})
}

func TestNotJSON(t *testing.T) {
	v := start(t, all())
	v.refused("session", v.do(v.request("POST", "/api/session", "token")), http.StatusBadRequest)
	v.open()
	v.refused("system", v.do(v.request("POST", "/api/system", "{")), http.StatusBadRequest)
}

func TestOfNoPath(t *testing.T) {
	v := start(t, all())
	for request, status := range map[string]string{
		"OPTIONS * HTTP/1.1\r\nHost: attacker.example\r\n\r\n":           "421",
		"GET http://attacker.example/ HTTP/1.1\r\nHost: HOST\r\n\r\n":    "421",
		"GET / HTTP/1.0\r\n\r\n":                                         "421",
		"CONNECT attacker.example:80 HTTP/1.1\r\nHost: HOST\r\n\r\n":     "421",
		"GET //api/check HTTP/1.1\r\nHost: HOST\r\n\r\n":                 "404",
		"GET /api/../api/check HTTP/1.1\r\nHost: HOST\r\n\r\n":           "401",
		"GET /%61pi/check HTTP/1.1\r\nHost: HOST\r\n\r\n":                "401",
		"GET /app.js/../api/check HTTP/1.1\r\nHost: HOST\r\n\r\n":        "404",
		"GET /api/check HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n":    "400",
		"GET /api/check HTTP/1.1\r\nHost: HOST\r\nCookie: sysop\r\n\r\n": "401",
	} {
		c, err := net.Dial("tcp", v.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, strings.ReplaceAll(request, "HOST", v.listener.Addr().String()))
		line, err := bufio.NewReader(c).ReadString('\n')
		_ = c.Close()
		if fields := strings.Fields(line); err != nil || len(fields) < 2 || fields[1] != status {
			t.Errorf("%q: %q, not %s (%v)", request, line, status, err)
		}
	}
}

func TestToken(t *testing.T) {
	v := start(t, all())
	if len(v.token) != 43 { // 256 bits.
		t.Errorf("token of %d letters", len(v.token))
	}
	for _, wrong := range []string{"", v.token[1:], v.token + "A", secret()} {
		a := v.session(wrong)
		v.refused("token "+wrong, a, http.StatusUnauthorized)
		if a.header.Get("Set-Cookie") != "" {
			t.Errorf("token %s gives a cookie", wrong)
		}
	}
	v.refused("before", v.do(v.request("GET", "/api/check", "")), http.StatusUnauthorized)

	a := v.session(v.token)
	c, err := http.ParseSetCookie(a.header.Get("Set-Cookie"))
	if err != nil || a.status != http.StatusNoContent {
		t.Fatalf("%d %v", a.status, err)
	}
	v.guarded("session", a.header)
	port := v.base[strings.LastIndex(v.base, ":")+1:]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || c.Name != "sysop-"+port || c.MaxAge != 0 || !c.Expires.IsZero() || c.Value == v.token {
		t.Errorf("cookie %+v", c)
	}
	again := v.session(v.token)
	v.refused("used twice", again, http.StatusUnauthorized)
	if !strings.Contains(again.body, "opened before") || !strings.Contains(again.body, "start it again") || again.header.Get("Set-Cookie") != "" {
		t.Errorf("used twice: %s %v", again.body, again.header)
	}
	// The page that is known may open its address again, and is not cut off by a cookie of others.
	v.cookie = c
	if a := v.session(v.token); a.status != http.StatusNoContent || a.header.Get("Set-Cookie") != "" {
		t.Errorf("opened again: %d %v", a.status, a.header)
	}
	toss := header("Cookie", c.Name+"=x; "+c.Name+"="+c.Value)
	if a := v.do(v.request("GET", "/api/check", "", toss)); a.status != http.StatusOK {
		t.Errorf("with two cookies: %d", a.status)
	}
}

func TestWrongTokensAreBounded(t *testing.T) {
	v := start(t, all())
	for range mostWrong {
		v.refused("wrong", v.session("wrong"), http.StatusUnauthorized)
	}
	a := v.session("wrong")
	v.refused("too many", a, http.StatusTooManyRequests)
	if a.header.Get("Retry-After") == "" {
		t.Error("it does not say when to come back")
	}
	v.open() // The user is not kept out by them.
}

func TestAnswers(t *testing.T) {
	var logged []string
	o := all()
	o.Log = func(format string, args ...any) { logged = append(logged, fmt.Sprintf(format, args...)) }
	v := start(t, o)
	for _, path := range []string{"/", "/app.js", "/page.css"} {
		a := v.do(v.request("GET", path, ""))
		if a.status != http.StatusOK || a.body == "" {
			t.Errorf("%s: %d", path, a.status)
		}
		v.guarded(path, a.header)
	}
	v.open()
	a := v.do(v.request("GET", "/api/object?ref=Pod/a/b", ""))
	if a.status != http.StatusOK || a.body != `{"asked":{"ref":["Pod/a/b"]}}` || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("object: %d %s", a.status, a.body)
	}
	v.guarded("object", a.header)
	if a := v.do(v.request("GET", "/api/check", "", without("Sec-Fetch-Site"))); a.status != http.StatusOK {
		t.Errorf("an older browser: %d", a.status)
	}
	if a := v.do(v.request("GET", "/api/check", "", host(strings.Replace(v.base[7:], "127.0.0.1", "localhost", 1)))); a.status != http.StatusOK {
		t.Errorf("localhost: %d", a.status)
	}
	if a := v.do(v.request("POST", "/api/system", `{"yaml":"a"}`)); a.status != http.StatusOK || a.body != `{"yaml":"a"}` {
		t.Errorf("system: %d %s", a.status, a.body)
	}
	for name, want := range map[string]reply{
		"bad":    {400, nil, `{"error":"ask: no object is called \"\u003cb\u003e\""}`},
		"broken": {502, nil, `{"error":"the cluster is away"}`},
		"huge":   {502, nil, `{"error":"the answer has 16 MiB, and 16 are the most: ask for less"}`},
		"panics": {500, nil, `{"error":"an error inside kubectl sysop ui: where it runs it says which"}`},
	} {
		if a := v.do(v.request("GET", "/api/"+name, "")); a.status != want.status || a.body != want.body {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if len(logged) != 1 || !strings.Contains(logged[0], "of something inside") {
		t.Errorf("log: %q", logged)
	}
}

func TestNoCompose(t *testing.T) {
	v := start(t, Options{})
	v.open()
	v.refused("system", v.do(v.request("POST", "/api/system", "{}")), http.StatusNotFound)
}

func TestGzip(t *testing.T) {
	v := start(t, all())
	plain := v.do(v.request("GET", "/app.js", ""))
	for accept, packed := range map[string]bool{
		"gzip": true, "br, gzip;q=0.5": true, "gzip; q=1.0": true, "gzip;q=0": false, "gzip;q=0.000": false, "br": false, "": false,
	} {
		a := v.do(v.request("GET", "/app.js", "", header("Accept-Encoding", accept)))
		if got := a.header.Get("Content-Encoding") == "gzip"; got != packed {
			t.Errorf("%q: packed is %v", accept, got)
			continue
		}
		if !packed {
			continue
		}
		r, err := gzip.NewReader(strings.NewReader(a.body))
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(r); err != nil || string(body) != plain.body {
			t.Errorf("%q: another body (%v)", accept, err)
		}
	}
}

// TestQuestionsWait has questions that end when they are told to, and counts those at work.
func TestQuestionsWait(t *testing.T) {
	begun, go1 := make(chan struct{}, 10), make(chan struct{})
	v := start(t, Options{Questions: []Question{{"slow", nil, func(ctx context.Context, _ url.Values) (json.RawMessage, error) {
		begun <- struct{}{}
		select {
		case <-go1:
			return json.RawMessage("1"), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}}})
	v.open()
	got := make(chan int, 10)
	for range 5 {
		go func() { got <- v.do(v.request("GET", "/api/slow", "")).status }()
	}
	for range mostTurns {
		<-begun
	}
	for len(v.queue) < 5 {
		runtime.Gosched()
	}
	if len(begun) != 0 {
		t.Error("more are at work than may be")
	}
	// One that gives up leaves the queue, also while it waits.
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		if res, err := v.client.Do(v.request("GET", "/api/slow", "").WithContext(ctx)); err == nil {
			_ = res.Body.Close()
		}
	}()
	for len(v.queue) < 6 {
		runtime.Gosched()
	}
	cancel()
	<-left
	for len(v.queue) > 5 {
		runtime.Gosched()
	}
	close(go1)
	for range 5 {
		if status := <-got; status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}
	if len(v.turns) != 0 {
		t.Errorf("%d turns are taken yet", len(v.turns))
	}
}

func TestQueueIsBounded(t *testing.T) {
	v := start(t, all())
	v.open()
	for range mostQueued {
		v.queue <- struct{}{}
	}
	a := v.do(v.request("GET", "/api/check", ""))
	v.refused("a full queue", a, http.StatusServiceUnavailable)
	if a.header.Get("Retry-After") == "" {
		t.Error("it does not say when to come back")
	}
}

// TestQuestionEndsWithRequest ends a request, and then the server: both end what works for them.
func TestQuestionEndsWithRequest(t *testing.T) {
	begun, over := make(chan struct{}, 2), make(chan error, 2)
	v := start(t, Options{Questions: []Question{{"slow", nil, func(ctx context.Context, _ url.Values) (json.RawMessage, error) {
		begun <- struct{}{}
		<-ctx.Done()
		over <- ctx.Err()
		return nil, ctx.Err()
	}}}})
	v.open()
	ctx, cancel := context.WithCancel(t.Context())
	ask := func(ctx context.Context) {
		if res, err := v.client.Do(v.request("GET", "/api/slow", "").WithContext(ctx)); err == nil {
			_ = res.Body.Close()
		}
	}
	go ask(ctx)
	<-begun
	cancel()
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	go ask(t.Context())
	<-begun
	v.end()
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// events reads a stream.
type events struct {
	t    *testing.T
	body io.ReadCloser
	in   *bufio.Reader
}

func (v *live) follow(change ...func(*http.Request)) *events {
	v.t.Helper()
	res, err := v.client.Do(v.request("GET", "/api/stream", "", change...))
	if err != nil {
		v.t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		v.t.Fatalf("stream: %d %v", res.StatusCode, res.Header)
	}
	v.guarded("stream", res.Header)
	v.t.Cleanup(func() { _ = res.Body.Close() })
	return &events{v.t, res.Body, bufio.NewReader(res.Body)}
}

// next returns the fields of the next event; nil at the end.
func (e *events) next() map[string]string {
	e.t.Helper()
	fields := map[string]string{}
	for {
		line, err := e.in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			e.t.Fatal(err)
		}
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			if fields["event"] != "" {
				return fields
			}
			continue
		}
		name, value, _ := strings.Cut(line, ": ")
		fields[name] = value
	}
}

func TestStream(t *testing.T) {
	v := start(t, all())
	v.open()
	e := v.follow() // Before there is anything.
	hostile := "</script>\nevent: end\ndata: x\r\n\u2028"
	first := &view.Picture{Title: "shop", At: "1", Nodes: []*view.PictureNode{{Name: "a", Message: hostile}}}
	v.Publish(first)
	got := e.next()
	var p view.Picture
	if err := json.Unmarshal([]byte(got["data"]), &p); err != nil || got["event"] != "picture" || got["id"] != "1" || p.Nodes[0].Message != hostile {
		t.Fatalf("%v %v", got, err)
	}
	second := &view.Picture{Title: "shop", At: "2", Nodes: []*view.PictureNode{{Name: "a", Health: 6}}}
	v.Publish(second)
	got = e.next()
	var c view.PictureChange
	if err := json.Unmarshal([]byte(got["data"]), &c); err != nil || got["event"] != "change" || got["id"] != "2" || c.Nodes[0].Health != 6 || c.At != "2" {
		t.Fatalf("%v %v", got, err)
	}
	v.Stale("the watch of Pods ended")
	if got := e.next(); got["event"] != "stale" || got["data"] != `{"why":"the watch of Pods ended"}` {
		t.Errorf("%v", got)
	}
	// Who comes back gets all of it, and hears that it is stale.
	again := v.follow(header("Last-Event-ID", "2"))
	if got := again.next(); got["event"] != "picture" || got["id"] != "2" {
		t.Errorf("%v", got)
	}
	if got := again.next(); got["event"] != "stale" {
		t.Errorf("%v", got)
	}
	v.end()
	for _, e := range []*events{e, again} {
		if got := e.next(); got["event"] != "end" {
			t.Errorf("%v", got)
		}
		if got := e.next(); got != nil {
			t.Errorf("after the end: %v", got)
		}
	}
}

func TestStreamsAreBounded(t *testing.T) {
	v := start(t, all())
	v.open()
	v.Publish(&view.Picture{})
	var last *events
	for range mostStreams {
		last = v.follow()
		last.next()
	}
	v.refused("one more", v.do(v.request("GET", "/api/stream", "")), http.StatusServiceUnavailable)
	_ = last.body.Close()
	for len(v.streams) == mostStreams {
		runtime.Gosched()
	}
	v.follow().next()
}

// TestServeLeavesNothing has every sort of connection open when the server ends.
func TestServeLeavesNothing(t *testing.T) {
	v := start(t, all())
	v.open()
	v.Publish(&view.Picture{})
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
	if err := s.Serve(t.Context()); err == nil || errors.Is(err, ErrIdle) {
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
	if err := s.Serve(t.Context()); !errors.Is(err, ErrIdle) {
		t.Error(err)
	}
}
