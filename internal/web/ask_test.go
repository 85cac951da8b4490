package web

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
)

func TestAnswers(t *testing.T) {
	var logged []string
	o := everything()
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
		"huge":   {502, nil, `{"error":"the response has 16 MiB, and the limit is 16: request less"}`},
		"panics": {500, nil, `{"error":"an error inside kubectl sysop ui: its terminal shows which"}`},
	} {
		if a := v.do(v.request("GET", "/api/"+name, "")); a.status != want.status || a.body != want.body {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if len(logged) != 1 || !strings.Contains(logged[0], "of something inside") {
		t.Errorf("log: %q", logged)
	}
}

func TestNoPost(t *testing.T) {
	v := start(t, Options{})
	v.open()
	v.refused("system", v.do(v.request("POST", "/api/system", "{}")), http.StatusNotFound)
}

func TestGzip(t *testing.T) {
	v := start(t, everything())
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
	for range maxConcurrent {
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
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if res, err := v.client.Do(v.request("GET", "/api/slow", "").WithContext(ctx)); err == nil {
			_ = res.Body.Close()
		}
	}()
	for len(v.queue) < 6 {
		runtime.Gosched()
	}
	cancel()
	<-gone
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
	v := start(t, everything())
	v.open()
	for range maxQueued {
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
	begun, ended := make(chan struct{}, 2), make(chan error, 2)
	v := start(t, Options{Questions: []Question{{"slow", nil, func(ctx context.Context, _ url.Values) (json.RawMessage, error) {
		begun <- struct{}{}
		<-ctx.Done()
		ended <- ctx.Err()
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
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	go ask(t.Context())
	<-begun
	v.end()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
