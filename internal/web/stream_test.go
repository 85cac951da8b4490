package web

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

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
	v := start(t, everything())
	v.open()
	e := v.follow() // Before there is anything.
	hostile := "</script>\nevent: end\ndata: x\r\n\u2028"
	first := &view.UIState{Title: "shop", At: "1", Nodes: []*view.UINode{{Name: "a", Message: hostile}}}
	v.Publish(first)
	got := e.next()
	var p view.UIState
	if err := json.Unmarshal([]byte(got["data"]), &p); err != nil || got["event"] != "picture" || got["id"] != "1" || p.Nodes[0].Message != hostile {
		t.Fatalf("%v %v", got, err)
	}
	second := &view.UIState{Title: "shop", At: "2", Nodes: []*view.UINode{{Name: "a", Health: 6}}}
	v.Publish(second)
	got = e.next()
	var c view.UIDelta
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
	v := start(t, everything())
	v.open()
	v.Publish(&view.UIState{})
	var last *events
	for range maxStreams {
		last = v.follow()
		last.next()
	}
	v.refused("one more", v.do(v.request("GET", "/api/stream", "")), http.StatusServiceUnavailable)
	_ = last.body.Close()
	for len(v.streams) == maxStreams {
		runtime.Gosched()
	}
	v.follow().next()
}
