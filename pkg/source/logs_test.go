package source

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const logOfWeb = "/api/v1/namespaces/shop/pods/web/log"

func TestLogs(t *testing.T) {
	f := newFake(t)
	f.fault = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "line of "+r.URL.Path+"\n")
		return true
	}
	c, _ := f.cluster(t, ClusterOptions{})
	ten := int64(10)
	none := int64(0)
	at := time.Date(2026, 5, 1, 12, 0, 0, 5, time.FixedZone("x", 7200))
	for query, o := range map[string]LogOptions{
		"":                                       {},
		"container=app&follow=true&tailLines=10": {Container: "app", Follow: true, Tail: &ten},
		"previous=true&tailLines=0":              {Previous: true, Tail: &none},
		"sinceSeconds=2&timestamps=true":         {Since: 1001 * time.Millisecond, Timestamps: true},
		"limitBytes=7&sinceTime=2026-05-01T10%3A00%3A00Z": {SinceTime: at, LimitBytes: 7},
		"container=a%26follow%3Dtrue":                     {Container: "a&follow=true"},
	} {
		f.forget()
		log, err := c.Logs(t.Context(), "shop", "web", o)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(log)
		if string(text) != "line of "+logOfWeb+"\n" || err != nil || log.Close() != nil {
			t.Errorf("%s: %q %v", query, text, err)
		}
		if asked := f.log(); len(asked) != 1 || asked[0].query != query || !strings.Contains(asked[0].accept, "*/*") {
			t.Errorf("%s: asked %v", query, asked)
		}
	}
}

// TestLogsAreFollowed reads a line before the server has written the next, beyond the
// time limit of the connection, and ends with the context.
func TestLogsAreFollowed(t *testing.T) {
	f := newFake(t)
	lines := make(chan string)
	f.fault = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		for {
			select {
			case line := <-lines:
				_, _ = io.WriteString(w, line)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return true
			}
		}
	}
	c, _ := f.cluster(t, ClusterOptions{})
	c.client.Timeout = time.Nanosecond
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { lines <- "one\n" }()
	log, err := c.Logs(ctx, "shop", "web", LogOptions{Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"one\n", "two\n"} {
		b := make([]byte, 4)
		if _, err := io.ReadFull(log, b); err != nil || string(b) != line {
			t.Fatalf("%q %v", b, err)
		}
		if line == "one\n" {
			lines <- "two\n"
		}
	}
	cancel()
	if _, err := log.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

func TestLogsThatCannotBeRead(t *testing.T) {
	f := newFake(t)
	f.Config.ErrorLog = quiet()
	c, w := f.cluster(t, ClusterOptions{})
	for name, want := range map[string]struct {
		code   int
		reason metav1.StatusReason
		is     func(error) bool
	}{
		"forbidden": {403, metav1.StatusReasonForbidden, apierrors.IsForbidden},
		"gone":      {404, metav1.StatusReasonNotFound, apierrors.IsNotFound},
		"waiting":   {400, metav1.StatusReasonBadRequest, apierrors.IsBadRequest},
		"broken":    {500, metav1.StatusReasonInternalError, apierrors.IsInternalError},
	} {
		f.forget()
		f.fault = func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			sendStatus(w, want.code, want.reason, "the server's word", "")
			return true
		}
		_, err := c.Logs(t.Context(), "shop", "web", LogOptions{})
		if !want.is(err) || !strings.Contains(err.Error(), "the server's word") || f.count(logOfWeb) != 1 {
			t.Errorf("%s: %v after %d requests", name, err, f.count(logOfWeb))
		}
	}
	f.forget()
	for _, names := range [][2]string{{"shop", "../secrets"}, {"a/b", "web"}, {"", "web"}, {"shop", ""}} {
		if _, err := c.Logs(t.Context(), names[0], names[1], LogOptions{}); err == nil {
			t.Errorf("%v: no error", names)
		}
	}
	if len(f.log()) > 0 || len(w.all) > 0 {
		t.Errorf("sent %v, waited %v", f.log(), w.all)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Logs(ended, "shop", "web", LogOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
	f = newFake(t)
	c, _ = f.cluster(t, ClusterOptions{})
	f.Close()
	var gone *ConnectError
	if _, err := c.Logs(t.Context(), "shop", "web", LogOptions{}); !errors.As(err, &gone) {
		t.Errorf("a server that is gone: %v", err)
	}
}
