package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fault is an effect on some requests.
type Fault struct {
	Match  func(*http.Request) bool // which ones; nil is all
	Times  int                      // how many of them; 0 is all
	Effect Effect                   // what happens
}

// Effect responds instead of the API server, which is next.
type Effect func(w http.ResponseWriter, r *http.Request, next http.Handler)

// Path matches requests whose path has the suffix: "/pods", "/nodes/node-0".
func Path(suffix string) func(*http.Request) bool {
	return func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, suffix) }
}

// Continues matches requests for a further page of a list.
func Continues(r *http.Request) bool { return r.URL.Query().Get("continue") != "" }

// Delay waits before the request is passed on.
func Delay(d time.Duration) Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		select {
		case <-time.After(d):
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}
}

// Hang does not answer until the client leaves, or the proxy is closed.
func Hang() Effect {
	return func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
}

// Cut passes the request on and breaks the answer off after n bytes of its
// body. Over HTTP/2 that resets the stream, over HTTP/1.1 it closes the
// connection. A shorter answer arrives whole.
func Cut(n int64) Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(&cutter{ResponseWriter: w, left: n}, r)
	}
}

type cutter struct {
	http.ResponseWriter
	left int64
}

func (w *cutter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *cutter) Write(b []byte) (int, error) {
	if int64(len(b)) <= w.left {
		w.left -= int64(len(b))
		return w.ResponseWriter.Write(b)
	}
	_, _ = w.ResponseWriter.Write(b[:w.left])
	_ = http.NewResponseController(w.ResponseWriter).Flush() // else what was written is dropped with the rest
	panic(http.ErrAbortHandler)
}

// Lost passes the request on, completely, whatever its client does meanwhile, calls then when the
// API server has responded, and breaks off: the client does not get the response. If then kills the
// client, it dies right after a request's effect.
func Lost(then func()) Effect {
	return func(_ http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(&nobody{header: http.Header{}}, r.WithContext(context.WithoutCancel(r.Context())))
		then()
		panic(http.ErrAbortHandler)
	}
}

// Dropped calls then instead of passing the request on, and breaks off. If then kills the client,
// it dies right before a request's effect.
func Dropped(then func()) Effect {
	return func(http.ResponseWriter, *http.Request, http.Handler) {
		then()
		panic(http.ErrAbortHandler)
	}
}

// nobody discards a response.
type nobody struct{ header http.Header }

func (n *nobody) Header() http.Header       { return n.header }
func (*nobody) Write(b []byte) (int, error) { return len(b), nil }
func (*nobody) WriteHeader(int)             {}
func (*nobody) Flush()                      {}

// Writes matches requests that change something: no dry runs, no access reviews, which are sent by
// POST, and no Events, which only report it and are sent beside it.
func Writes(r *http.Request) bool {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return !r.URL.Query().Has("dryRun") && !strings.HasPrefix(r.URL.Path, "/apis/authorization.k8s.io/") && !strings.HasPrefix(r.URL.Path, "/apis/events.k8s.io/")
	}
	return false
}

// Nth matches the n-th, from 1, of the requests that match, and no other.
func Nth(n int, match func(*http.Request) bool) func(*http.Request) bool {
	var seen atomic.Int64
	return func(r *http.Request) bool { return match(r) && seen.Add(1) == int64(n) }
}

// Conflict answers 409, as to a write of an object that has changed meanwhile.
func Conflict() Effect {
	return Answer(http.StatusConflict, metav1.StatusReasonConflict, "the object has been modified; please apply your changes to the latest version and try again", 0)
}

// Forbidden answers 403.
func Forbidden() Effect {
	return Answer(http.StatusForbidden, metav1.StatusReasonForbidden, "forbidden: injected fault", 0)
}

// TooManyRequests answers 429 and asks the client to come back later, after
// whole seconds.
func TooManyRequests(later time.Duration) Effect {
	return Answer(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests,
		"the server has received too many requests and has asked us to try again later", later)
}

// InternalError answers 500.
func InternalError() Effect {
	return Answer(http.StatusInternalServerError, metav1.StatusReasonInternalError, "internal error: injected fault", 0)
}

// Expired answers 410, as an API server does for a continue token that is too
// old. Combine it with Continues.
func Expired() Effect {
	return Answer(http.StatusGone, metav1.StatusReasonExpired,
		"The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.", 0)
}

// Answer answers with a Status, and with Retry-After unless later is 0. It is
// in JSON, which every client reads whatever it asked for.
func Answer(code int, reason metav1.StatusReason, message string, later time.Duration) Effect {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		s := metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
		}
		if seconds := int32(later / time.Second); seconds > 0 {
			s.Details = &metav1.StatusDetails{RetryAfterSeconds: seconds}
			w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
		}
		body, err := json.Marshal(s)
		if err != nil {
			http.Error(w, fmt.Sprintf("encode a status: %v", err), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = w.Write(body) // the client has gone
	}
}
