package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const podsOfShop = "/api/v1/namespaces/shop/pods"

func refuse(code int, reason metav1.StatusReason, message string) func(http.ResponseWriter, *http.Request, int) bool {
	return func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if !strings.HasSuffix(r.URL.Path, "/pods") {
			return false
		}
		sendStatus(w, code, reason, message, "")
		return true
	}
}

// busy asks the client to come back, so many times.
func busy(code int, after string, times int) func(http.ResponseWriter, *http.Request, int) bool {
	return func(w http.ResponseWriter, r *http.Request, n int) bool {
		if r.URL.Path != podsOfShop || n > times {
			return false
		}
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		http.Error(w, "too much of a rush", code)
		return true
	}
}

func cut(w http.ResponseWriter, r *http.Request, _ int) bool {
	if r.URL.Path != podsOfShop {
		return false
	}
	w.Header().Set("Content-Type", protobufType)
	w.Header().Set("Content-Length", "1000")
	_, _ = w.Write([]byte(magic))
	return true
}

func page(w http.ResponseWriter, r *http.Request, _ int) bool {
	if r.URL.Path == podsOfShop {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<html>log in"))
	}
	return r.URL.Path == podsOfShop
}

func hangUp(_ http.ResponseWriter, r *http.Request, _ int) bool {
	if r.URL.Path == podsOfShop {
		panic(http.ErrAbortHandler)
	}
	return false
}

func secondPage(w http.ResponseWriter, r *http.Request, n int) bool {
	return r.URL.Query().Has("continue") && busy(500, "", 100)(w, r, n)
}

func samePage(w http.ResponseWriter, r *http.Request, _ int) bool {
	if r.URL.Path == podsOfShop {
		sendJSON(w, 200, map[string]any{"kind": "PodList", "metadata": map[string]any{"continue": "x"}, "items": []any{}})
	}
	return r.URL.Path == podsOfShop
}

func TestFaults(t *testing.T) {
	forbidden := `pods is forbidden: User "u" cannot list resource "pods" in API group "" in the namespace "shop"`
	for name, c := range map[string]struct {
		fault    func(http.ResponseWriter, *http.Request, int) bool
		requests int
		gap      string // reason: message
		objects  int
	}{
		"forbidden":            {refuse(403, metav1.StatusReasonForbidden, forbidden), 1, `Forbidden: User "u" cannot list resource "pods" in API group "" in the namespace "shop"`, 0},
		"not served":           {refuse(404, metav1.StatusReasonNotFound, "the server could not find the requested resource"), 1, "NotServed: the server could not find", 0},
		"not allowed":          {refuse(405, metav1.StatusReasonMethodNotAllowed, "no list"), 1, "NotListable: no list", 0},
		"not acceptable":       {refuse(406, metav1.StatusReasonNotAcceptable, "only yaml"), 1, "NotAcceptable: only yaml", 0},
		"gone on the first":    {refuse(410, metav1.StatusReasonExpired, "too old"), 1, "Expired: too old", 0},
		"busy, then well":      {busy(429, "1", 2), 5, "", 5},
		"busy for ever":        {busy(429, "1", 1000), 10, "TooManyRequests: ", 0},
		"busy for an hour":     {busy(503, "3600", 1000), 1, "Unavailable: ", 0},
		"busy, no word":        {busy(429, "", 1000), 4, "TooManyRequests: ", 0},
		"broken, then well":    {busy(500, "", 3), 6, "", 5},
		"broken":               {busy(500, "", 1000), 4, "Unavailable: ", 0},
		"bad gateway":          {busy(502, "", 1000), 4, "Unavailable: ", 0},
		"cut body":             {cut, 4, "Unavailable: the response is incomplete", 0},
		"page of a proxy":      {page, 1, "Unavailable: the response is text/html, not JSON", 0},
		"hangs up":             {hangUp, 4, "Unavailable: ", 0},
		"broken half way":      {secondPage, 5, "Unavailable: ", 2},
		"the same page always": {samePage, 2, "Unavailable: the server returns the same page again", 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.onlyPods()
			f.pods("shop", "a", "b", "c", "d", "e")
			f.fault = c.fault
			f.Config.ErrorLog = quiet()
			cluster, waited := f.cluster(t, ClusterOptions{})
			known(t, cluster)
			got := newRecorder()
			if err := cluster.Read(t.Context(), Query{Namespaces: []string{"shop"}}, got); err != nil {
				t.Fatal(err)
			}
			if n := f.count(podsOfShop); n != c.requests {
				t.Errorf("%d requests, want %d", n, c.requests)
			}
			if len(got.objects) != c.objects {
				t.Errorf("%d objects, want %d", len(got.objects), c.objects)
			}
			if (c.gap == "") != (got.coverage() == "Pod@shop") {
				t.Errorf("covered %q", got.coverage())
			}
			message := ""
			for _, g := range got.gaps {
				message += g.Reason + ": " + g.Message
				if g.Resource != "pods" || g.Namespace != "shop" {
					t.Errorf("gap of %s in %s", g.Resource, g.Namespace)
				}
			}
			if !strings.HasPrefix(message, c.gap) || (c.gap == "") != (message == "") {
				t.Errorf("gaps %q, want %q", message, c.gap)
			}
			total := time.Duration(0)
			for _, d := range waited.all {
				total += d
			}
			if total > requestTimeout {
				t.Errorf("waited %v", total)
			}
		})
	}
}

func TestRetryAfterIsKept(t *testing.T) {
	f := newFake(t)
	f.onlyPods()
	f.fault = busy(429, "7", 1)
	c, waited := f.cluster(t, ClusterOptions{})
	if err := c.Read(t.Context(), Query{Namespaces: []string{"shop"}}, newRecorder()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(waited.all, []time.Duration{7 * time.Second}) {
		t.Errorf("waited %v", waited.all)
	}
}

// TestExpiredTokenStartsAgain has a list whose token expires while an object is
// deleted and another made.
func TestExpiredTokenStartsAgain(t *testing.T) {
	for _, times := range []int{1, 2, 100} {
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			f := newFake(t)
			f.onlyPods()
			f.pods("shop", "a", "b", "c", "d", "e")
			expired := 0
			f.fault = func(w http.ResponseWriter, r *http.Request, _ int) bool {
				if r.URL.Query().Get("continue") != "4" || expired == times {
					return false
				}
				if expired == 0 {
					f.objects[podsOfShop] = append(f.objects[podsOfShop][1:], pod("shop", "f"))
				}
				expired++
				sendStatus(w, 410, metav1.StatusReasonExpired, "The provided continue parameter is too old", "")
				return true
			}
			c, _ := f.cluster(t, ClusterOptions{})
			got := newRecorder()
			if err := c.Read(t.Context(), Query{Namespaces: []string{"shop"}}, got); err != nil {
				t.Fatal(err)
			}
			if want := "Pod/shop/b Pod/shop/c Pod/shop/d Pod/shop/e Pod/shop/f"; got.names() != want || got.coverage() != "Pod@shop" {
				t.Errorf("read %s, covered %s, gaps %v", got.names(), got.coverage(), got.gaps)
			}
			if len(got.resets) != min(times, restarts) || got.resets[0] != "Pod@shop" {
				t.Errorf("resets %v", got.resets)
			}
		})
	}
}

func TestServerGoneIsOneError(t *testing.T) {
	f := newFake(t)
	c, waited := f.cluster(t, ClusterOptions{Parallel: 1})
	known(t, c)
	f.Close()
	got := newRecorder()
	err := c.Read(t.Context(), Query{Namespaces: []string{"a", "b", "c"}}, got)
	var connect *ConnectError
	if !errors.As(err, &connect) || connect.Host != f.URL || strings.Contains(err.Error(), "/api/v1") {
		t.Errorf("error %v", err)
	}
	if len(got.gaps) > 0 || len(waited.all) != tries-1 {
		t.Errorf("gaps %v, waited %d times", got.gaps, len(waited.all))
	}
	if _, err := c.Definitions(t.Context(), got); !errors.As(err, &connect) {
		t.Errorf("definitions: %v", err)
	}
}

func TestWrongCertificateIsNotTriedAgain(t *testing.T) {
	f := newFake(t)
	f.Config.ErrorLog = quiet()
	c, waited := f.cluster(t, ClusterOptions{})
	known(t, c)
	bare, err := NewCluster(ClusterOptions{Config: &rest.Config{Host: f.URL}})
	if err != nil {
		t.Fatal(err)
	}
	bare.found.Store(c.found.Load())
	bare.pause = waited.pause
	f.forget()
	var connect *ConnectError
	if err := bare.Read(t.Context(), Query{All: true}, newRecorder()); !errors.As(err, &connect) || !strings.Contains(err.Error(), "x509") {
		t.Errorf("error %v", err)
	}
	if len(f.log()) > 0 || len(waited.all) > 0 {
		t.Errorf("%d requests, %d tries", len(f.log()), len(waited.all))
	}
}

// slow is a connection on which nothing comes back in time.
type slow struct{}

func (slow) RoundTrip(r *http.Request) (*http.Response, error) {
	httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
	return nil, context.DeadlineExceeded
}

func TestTimeLimitIsAGap(t *testing.T) {
	f := newFake(t)
	f.onlyPods()
	c, waited := f.cluster(t, ClusterOptions{})
	known(t, c)
	c.client = &http.Client{Transport: slow{}}
	got := newRecorder()
	err := c.Read(t.Context(), Query{Namespaces: []string{"shop"}}, got)
	if err != nil || got.reasons() != "pods@shop:Timeout" || len(waited.all) > 0 {
		t.Errorf("error %v, gaps %v", err, got.gaps)
	}
}
