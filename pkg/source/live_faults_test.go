package source

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// TestLiveGoesOn ends a watch in every way while things happen, and looks at what it
// takes to go on.
func TestLiveGoesOn(t *testing.T) {
	for ending, want := range map[string]struct {
		lists   int
		trouble bool
	}{
		"cleanly": {1, false},
		"cut":     {1, true},
		"expired": {2, false},
	} {
		for _, json := range []bool{false, true} {
			t.Run(fmt.Sprint(ending, " json ", json), func(t *testing.T) {
				f := newFake(t)
				f.onlyPods()
				f.jsonOnly[""] = json
				f.Config.ErrorLog = quiet()
				f.put(podsOfShop, pod("shop", "goes"))
				l := f.live(t, ClusterOptions{})
				l.read(shop)
				f.put(podsOfShop, pod("shop", "stays"))
				l.until(shop, names("Pod/shop/goes Pod/shop/stays"))
				f.end(ending)
				f.remove(podsOfShop, "goes")
				f.put(podsOfShop, pod("shop", "comes"))
				if want.trouble {
					down := l.troubled(t)
					if got := l.read(shop); got.names() != "Pod/shop/goes Pod/shop/stays" || got.coverage() != "Pod@shop" || len(got.gaps) > 0 {
						t.Errorf("while it is down: %s, covered %s, gaps %v", got.names(), got.coverage(), got.gaps)
					}
					if len(down) != 1 || down[0].Resource != "pods" || down[0].Namespace != "shop" || down[0].Reason != "Unavailable" || !strings.Contains(down[0].Message, "incomplete") {
						t.Errorf("trouble %v", down)
					}
					if d := l.wait(); d > time.Second {
						t.Errorf("it waits for %s", d)
					}
				}
				l.until(shop, names("Pod/shop/comes Pod/shop/stays"))
				f.until(t, f.isOpen(podsOfShop, 2))
				if f.lists(podsOfShop) != want.lists || len(l.Trouble()) > 0 {
					t.Errorf("%d lists, trouble %v", f.lists(podsOfShop), l.Trouble())
				}
			})
		}
	}
}

// troubled waits until something is out of reach.
func (l *followed) troubled(t *testing.T) []object.Gap {
	t.Helper()
	for {
		if down := l.Trouble(); len(down) > 0 {
			return down
		}
		l.await("trouble")
	}
}

// TestLiveVersionIsGone has a server that does not remember, when the watch comes back
// and again at each attempt after.
func TestLiveVersionIsGone(t *testing.T) {
	f := newFake(t)
	f.onlyPods()
	f.put(podsOfShop, pod("shop", "goes"))
	var gone atomic.Bool
	f.fault = func(w http.ResponseWriter, r *http.Request, n int) bool {
		switch {
		case !gone.Load() || !r.URL.Query().Has("watch"):
			return false
		case n%2 == 0:
			sendStatus(w, http.StatusGone, metav1.StatusReasonExpired, "too old", "")
		default: // A server that was set up anew has not come so far.
			status := apierrors.NewTimeoutError("Too large resource version: 7, current: 3", 1).ErrStatus
			status.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}
			status.Kind, status.APIVersion = "Status", "v1"
			sendJSON(w, http.StatusGatewayTimeout, status)
		}
		return true
	}
	l := f.live(t, ClusterOptions{})
	l.read(shop)
	f.until(t, f.isOpen(podsOfShop, 1))
	gone.Store(true)
	f.end("cleanly")
	f.remove(podsOfShop, "goes")
	// The watch had no event; then versions are gone twice.
	for i, most := range []time.Duration{time.Second, 2 * time.Second} {
		if d := l.wait(); d <= 0 || d > most {
			t.Errorf("wait %d: %s", i, d)
		}
	}
	l.until(shop, names(""))
	if n := f.lists(podsOfShop); n < 2 {
		t.Errorf("%d lists", n)
	}
	gone.Store(false)
	go func() {
		select {
		case <-l.paused: // It may have asked once more.
		case <-l.ctx.Done():
		}
	}()
	for len(l.Trouble()) > 0 {
		l.await("the end of the trouble")
	}
}

// TestLiveIsSentAway has a server that is busy, or broken, when a watch is opened.
func TestLiveIsSentAway(t *testing.T) {
	for name, c := range map[string]struct {
		code   int
		reason metav1.StatusReason
		after  string
		waits  []time.Duration // at least
	}{
		"busy":        {429, metav1.StatusReasonTooManyRequests, "7", []time.Duration{7 * time.Second, 7 * time.Second}},
		"unavailable": {503, metav1.StatusReasonServiceUnavailable, "", []time.Duration{125 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond}},
		"broken":      {500, metav1.StatusReasonInternalError, "", []time.Duration{125 * time.Millisecond, 250 * time.Millisecond}},
		"unknown":     {401, metav1.StatusReasonUnauthorized, "", []time.Duration{125 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.onlyPods()
			refuse, remaining := refuseWatch(c.code, c.reason, c.after), len(c.waits)
			f.fault = func(w http.ResponseWriter, r *http.Request, n int) bool {
				if !r.URL.Query().Has("watch") || remaining == 0 {
					return false
				}
				remaining--
				return refuse(w, r, n)
			}
			l := f.live(t, ClusterOptions{})
			l.read(shop)
			if down := l.troubled(t); down[0].Resource != "pods" || !strings.Contains(down[0].Message, "no watch") {
				t.Errorf("trouble %v", down)
			}
			f.put(podsOfShop, pod("shop", "late"))
			for i, least := range c.waits {
				if d := l.wait(); d < least || d > 3*least {
					t.Errorf("wait %d: %s", i, d)
				}
			}
			l.until(shop, names("Pod/shop/late"))
			if f.lists(podsOfShop) != 1 || f.watches(podsOfShop) != len(c.waits)+1 || len(l.Trouble()) > 0 {
				t.Errorf("%d lists, %d watches, trouble %v", f.lists(podsOfShop), f.watches(podsOfShop), l.Trouble())
			}
		})
	}
}

// TestLivePolls has servers that let the pods be listed, and not watched.
func TestLivePolls(t *testing.T) {
	noVersion := func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if r.URL.Path == podsOfShop && r.URL.Query().Has("watch") {
			panic("a watch from no version")
		}
		return false
	}
	for name, c := range map[string]struct {
		fault   func(http.ResponseWriter, *http.Request, int) bool
		json    bool
		opened  int
		message string
	}{
		"forbidden":   {refuseWatch(403, metav1.StatusReasonForbidden, ""), false, 1, "no watch: Forbidden"},
		"not allowed": {refuseWatch(405, metav1.StatusReasonMethodNotAllowed, ""), false, 1, "no watch: MethodNotAllowed"},
		"a list":      {sendList(false), false, 1, "not a stream of events"},
		"a JSON list": {sendList(true), true, 1, "not a stream of events"},
		"no version":  {noVersion, false, 0, "no resourceVersion"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.onlyPods()
			f.jsonOnly[""] = c.json
			f.fault = c.fault
			f.unversioned.Store(c.opened == 0)
			f.put(podsOfShop, pod("shop", "a"))
			l := f.live(t, ClusterOptions{})
			l.read(shop)
			got := l.until(shop, func(r *recorder) bool { return len(r.gaps) > 0 })
			if g := got.gaps[0]; len(got.gaps) != 1 || g.Reason != "NotWatched" || g.Resource != "pods" || g.Namespace != "shop" || !strings.Contains(g.Message, c.message) || !strings.Contains(g.Message, "10s") {
				t.Errorf("gaps %v", got.gaps)
			}
			if got.coverage() != "Pod@shop" || len(l.Trouble()) > 0 {
				t.Errorf("covered %s, trouble %v", got.coverage(), l.Trouble())
			}
			f.put(podsOfShop, pod("shop", "b"))
			if d := l.wait(); d != pollEvery {
				t.Errorf("it waits for %s", d)
			}
			got = l.until(shop, func(r *recorder) bool { return strings.Contains(r.names(), "Pod/shop/b") })
			if n := f.watches(podsOfShop); n != c.opened || len(got.gaps) != 1 {
				t.Errorf("%d watches, gaps %v", n, got.gaps)
			}
		})
	}
}

// sendList answers a watch with the list, as an API does that does not know watches.
func sendList(json bool) func(http.ResponseWriter, *http.Request, int) bool {
	return func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if !r.URL.Query().Has("watch") {
			return false
		}
		if json {
			sendJSON(w, 200, map[string]any{"kind": "PodList", "metadata": map[string]any{"resourceVersion": "8"}, "items": []any{}})
			return true
		}
		w.Header().Set("Content-Type", protobufType)
		_, _ = w.Write(enveloped(schema.GroupVersionKind{Version: "v1", Kind: "PodList"}, nil))
		return true
	}
}

// TestLiveMayNot is about rights that come and go.
func TestLiveMayNot(t *testing.T) {
	f := newFake(t)
	f.onlyPods()
	f.put(podsOfShop, pod("shop", "a"))
	var refused atomicSet
	refused.set("/api/v1/pods")
	f.fault = func(w http.ResponseWriter, r *http.Request, n int) bool {
		return refused.has(r.URL.Path) && refuse(403, metav1.StatusReasonForbidden, "pods is forbidden: no")(w, r, n)
	}
	l := f.live(t, ClusterOptions{})
	ask := Query{Namespaces: []string{"shop", "other"}, Kinds: []schema.GroupKind{podKind}}
	got := l.read(ask)
	if got.names() != "Pod/shop/a" || got.coverage() != "Pod@other Pod@shop" || got.reasons() != "pods@:Forbidden" || len(l.Trouble()) > 0 {
		t.Fatalf("read %s, covered %s, gaps %s, trouble %v", got.names(), got.coverage(), got.reasons(), l.Trouble())
	}
	refused.set()
	if d := l.wait(); d != refusedFor {
		t.Errorf("it waits for %s", d)
	}
	// A look that the right comes back in the middle of has read both.
	got = l.until(ask, func(r *recorder) bool { return r.reasons() == "" && r.coverage() == "Pod@" })
	if got.names() != "Pod/shop/a" {
		t.Errorf("when it may: %s", got.names())
	}
	before := f.lists(podsOfShop)
	l.read(ask)
	l.read(shop) // It is in what is followed everywhere.
	if f.lists(podsOfShop) != before {
		t.Error("a namespace is read a second time")
	}
	f.until(t, f.isOpen("/api/v1/pods", 1))
	refused.set("/api/v1/pods", podsOfShop, "/api/v1/namespaces/other/pods")
	f.end("expired")
	got = l.until(ask, func(r *recorder) bool { return r.names() == "" })
	if got.coverage() != "" || !strings.Contains(got.reasons(), "pods@:Forbidden") {
		t.Errorf("when it may not any more: covered %s, gaps %s", got.coverage(), got.reasons())
	}
}

// TestLiveWithoutAServer has none at first, and loses one later.
func TestLiveWithoutAServer(t *testing.T) {
	f := newFake(t)
	f.onlyPods()
	f.Config.ErrorLog = quiet()
	f.put(podsOfShop, pod("shop", "a"))
	l := f.live(t, ClusterOptions{})
	if _, err := l.Kinds(t.Context(), newRecorder()); err != nil {
		t.Fatal(err)
	}
	l.read(shop)
	f.until(t, f.isOpen(podsOfShop, 1))
	f.end("cut")
	l.troubled(t)
	f.CloseClientConnections()
	_ = f.Listener.Close()
	l.wait()
	for !strings.HasPrefix(l.troubled(t)[0].Message, "connect to ") {
		l.wait()
	}
	ask := Query{Namespaces: []string{"shop"}, Objects: []object.Ref{{Kind: "Pod", Namespace: "far", Name: "x"}}}
	go func() {
		for range l.paused { // Nothing comes of waiting.
			continue
		}
	}()
	if got := l.read(ask); got.names() != "Pod/shop/a" || got.reasons() != "pods@far:Unavailable" || got.coverage() != "Pod@shop" {
		t.Errorf("read %s, gaps %s, covered %s", got.names(), got.reasons(), got.coverage())
	}
	l.end()
	l.running.Wait()
	close(l.paused)

	f = newFake(t)
	f.onlyPods()
	l = f.live(t, ClusterOptions{})
	if _, err := l.Kinds(t.Context(), newRecorder()); err != nil {
		t.Fatal(err)
	}
	f.Close()
	var gone *ConnectError
	if err := l.Read(t.Context(), shop, newRecorder()); !errors.As(err, &gone) {
		t.Errorf("no server at first: %v", err)
	}
}

// TestLiveReadIsCancelled waits for a list that does not come.
func TestLiveReadIsCancelled(t *testing.T) {
	f := newFake(t)
	f.onlyPods()
	ctx, cancel := context.WithCancel(t.Context())
	f.fault = func(_ http.ResponseWriter, r *http.Request, _ int) bool {
		if r.URL.Path == podsOfShop {
			cancel()
			<-r.Context().Done()
		}
		return r.URL.Path == podsOfShop
	}
	l := f.live(t, ClusterOptions{})
	if err := l.Read(ctx, shop, newRecorder()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestLiveIsAsTheServer does things by chance, and cuts, forgets and expires between
// them; in the end what is followed is what there is.
func TestLiveIsAsTheServer(t *testing.T) {
	for seed := range uint64(20) {
		f := newFake(t)
		f.onlyPods()
		f.Config.ErrorLog = quiet()
		f.jsonOnly[""] = seed%2 == 0
		chance := rand.New(rand.NewPCG(seed, 1))
		l := f.live(t, ClusterOptions{})
		l.pause = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
		everywhere := Query{All: true}
		asks := []Query{shop, {Namespaces: []string{"other"}}, {Objects: []object.Ref{{Kind: "Pod", Namespace: "shop", Name: "p1"}}}, everywhere}
		for range 60 {
			list, ns := podsOfShop, "shop"
			if chance.IntN(2) == 0 {
				list, ns = "/api/v1/namespaces/other/pods", "other"
			}
			name := fmt.Sprint("p", chance.IntN(4))
			switch chance.IntN(8) {
			case 0:
				f.end([]string{"cleanly", "cut", "expired"}[chance.IntN(3)])
			case 1:
				f.compact()
			case 2, 3:
				f.remove(list, name)
			case 4:
				l.read(asks[chance.IntN(len(asks)-chance.IntN(2))])
			default:
				f.put(list, pod(ns, name))
			}
		}
		for _, ask := range []Query{asks[2], shop, everywhere} {
			l.until(ask, func(r *recorder) bool { return slices.Equal(r.versions(), f.versions(ask)) })
		}
		l.end()
		l.running.Wait()
	}
}

func (r *recorder) versions() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for ref, o := range r.objects {
		out = append(out, ref.String()+"@"+o.Meta.GetResourceVersion())
	}
	slices.Sort(out)
	return out
}

// versions returns what the server has of an ask.
func (f *fake) versions(ask Query) []string {
	f.world.RLock()
	defer f.world.RUnlock()
	var out []string
	for _, objects := range f.objects {
		for _, o := range objects {
			ref := object.Ref{Kind: "Pod", Namespace: o.GetNamespace(), Name: o.GetName()}
			if ask.All || slices.Contains(ask.Namespaces, ref.Namespace) || slices.Contains(ask.Objects, ref) {
				out = append(out, ref.String()+"@"+o.GetResourceVersion())
			}
		}
	}
	slices.Sort(out)
	return out
}
