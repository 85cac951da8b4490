package source

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// rememberer is a recorder that also takes what is unread.
type rememberer struct {
	*recorder
	unread []string
}

func (r *rememberer) Unread(o object.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unread = append(r.unread, o.String())
}

// remembered reads until as much is unread as is wanted, and returns what was read.
func (l *followed) remembered(ask Query, want string) *rememberer {
	l.t.Helper()
	for {
		got := &rememberer{recorder: newRecorder()}
		if err := Follow(l.t.Context(), l, ask, got, func() Query { return Query{} }); err != nil {
			l.t.Fatal(err)
		}
		slices.Sort(got.unread)
		if strings.Join(got.unread, " ") == want {
			return got
		}
		l.await("unread objects other than " + strings.Join(got.unread, " "))
	}
}

// TestLiveRightsAreTakenAway ends a watch in every way while the list is refused: what was
// read is unread then, and read again once the rights are back.
func TestLiveRightsAreTakenAway(t *testing.T) {
	for _, ending := range []string{"cleanly", "expired"} {
		t.Run(ending, func(t *testing.T) {
			f := newFake(t)
			f.onlyPods()
			f.put(podsOfShop, pod("shop", "a"))
			f.put(podsOfShop, pod("shop", "b"))
			var refused atomic.Bool
			f.fault = func(w http.ResponseWriter, r *http.Request, n int) bool {
				return refused.Load() && refuse(403, metav1.StatusReasonForbidden, "pods is forbidden: no")(w, r, n)
			}
			l, clock := f.live(t, ClusterOptions{}), &atomic.Int64{}
			l.now = func() time.Time { return time.Unix(clock.Load(), 0) }
			l.read(shop)
			f.until(t, f.isOpen(podsOfShop, 1))
			refused.Store(true)
			f.end(ending)
			if ending == "cleanly" {
				l.wait() // The watch was short, and is opened again a moment later.
			}
			got := l.remembered(shop, "Pod/shop/a Pod/shop/b")
			if got.names() != "" || got.coverage() != "" || got.reasons() != "pods@shop:Forbidden" || len(got.absent) > 0 {
				t.Errorf("refused: read %s, covered %s, gaps %s, absent %v", got.names(), got.coverage(), got.reasons(), got.absent)
			}
			if plain := l.read(shop); plain.names() != "" {
				t.Errorf("a sink that does not take what is unread is given %s", plain.names())
			}
			refused.Store(false)
			f.remove(podsOfShop, "b")
			clock.Add(2)
			for _, g := range l.Refresh(t.Context()) {
				t.Errorf("out of reach: %v", g)
			}
			got = l.remembered(shop, "")
			if got.names() != "Pod/shop/a" || got.coverage() != "Pod@shop" {
				t.Errorf("allowed again: read %s, covered %s, gaps %s", got.names(), got.coverage(), got.reasons())
			}
		})
	}
}

// TestLiveUnreadIsNotWhatIsGone has a list everywhere refused while that of a namespace is
// not: what the namespace does not have any more is gone.
func TestLiveUnreadIsNotWhatIsGone(t *testing.T) {
	f := newFake(t)
	f.onlyPods()
	const far = "/api/v1/namespaces/far/pods"
	f.put(podsOfShop, pod("shop", "a"))
	f.put(far, pod("far", "b"))
	var refused atomicSet
	refused.set()
	f.fault = func(w http.ResponseWriter, r *http.Request, n int) bool {
		return refused.has(r.URL.Path) && refuse(403, metav1.StatusReasonForbidden, "pods is forbidden: no")(w, r, n)
	}
	l := f.live(t, ClusterOptions{})
	ask := Query{Namespaces: []string{"shop"}, Kinds: []schema.GroupKind{podKind}}
	l.read(ask)
	f.until(t, f.isOpen("/api/v1/pods", 1))
	refused.set("/api/v1/pods")
	f.end("expired")
	f.remove(podsOfShop, "a")
	got := l.remembered(ask, "Pod/far/b")
	if got.names() != "" || got.coverage() != "Pod@shop" || got.reasons() != "pods@:Forbidden" {
		t.Errorf("read %s, covered %s, gaps %s", got.names(), got.coverage(), got.reasons())
	}
}

// TestLiveRefreshSaysWhatIsStale has a server that is broken when it is asked what is there now.
func TestLiveRefreshSaysWhatIsStale(t *testing.T) {
	f := newFake(t)
	f.onlyPods()
	f.Config.ErrorLog = quiet()
	f.put(podsOfShop, pod("shop", "a"))
	var broken atomic.Bool
	f.fault = func(w http.ResponseWriter, r *http.Request, n int) bool {
		return broken.Load() && refuse(500, metav1.StatusReasonInternalError, "broken")(w, r, n)
	}
	l := f.live(t, ClusterOptions{})
	l.read(shop)
	f.until(t, f.isOpen(podsOfShop, 1))
	if stale := l.Refresh(t.Context()); len(stale) > 0 || f.lists(podsOfShop) != 1 {
		t.Errorf("all is watched: stale %v after %d lists", stale, f.lists(podsOfShop))
	}
	broken.Store(true)
	f.end("cut")
	l.troubled(t)
	if stale := l.Refresh(t.Context()); len(stale) != 1 || stale[0].Resource != "pods" || stale[0].Namespace != "shop" {
		t.Errorf("stale %v", stale)
	}
	f.remove(podsOfShop, "a")
	broken.Store(false)
	if stale := l.Refresh(t.Context()); len(stale) > 0 {
		t.Errorf("stale %v", stale)
	}
	if got := l.read(shop); got.names() != "" || got.coverage() != "Pod@shop" {
		t.Errorf("read %s, covered %s", got.names(), got.coverage())
	}
}

// TestLiveForgetsKindsThatAreGone has a definition deleted during a watch.
func TestLiveForgetsKindsThatAreGone(t *testing.T) {
	f := newFake(t)
	f.jsonOnly["x.example.com"] = true
	f.serveWidgets(true)
	f.put(widgets, widget("w"))
	l := f.live(t, ClusterOptions{Detail: func(object.Resource) (Detail, string) { return Metadata, "" }})
	if got := l.read(shop); got.names() != "Widget.x.example.com/shop/w" {
		t.Fatal(got.names())
	}
	f.until(t, f.isOpen(widgets, 1))
	f.serveWidgets(false)
	f.end("expired")
	got := l.until(shop, names(""))
	if len(got.gaps) > 0 || l.serves(widgetKind) || l.feeds[scope{gk: widgetKind, ns: "shop"}] != nil {
		t.Errorf("gaps %v, served %v", got.gaps, l.serves(widgetKind))
	}
	if n := f.count("/apis"); n != 2 {
		t.Errorf("discovery is asked %d times", n)
	}
}

// TestLiveRefreshDoesNotWaitForAWatch has a server, or a proxy before it, that does not begin to
// answer a watch: what is there now is listed.
func TestLiveRefreshDoesNotWaitForAWatch(t *testing.T) {
	f := newFake(t)
	f.onlyPods()
	f.put(podsOfShop, pod("shop", "a"))
	f.fault = func(_ http.ResponseWriter, r *http.Request, _ int) bool {
		if !r.URL.Query().Has("watch") {
			return false
		}
		<-r.Context().Done()
		return true
	}
	l, clock := f.live(t, ClusterOptions{}), &atomic.Int64{}
	l.now = func() time.Time { return time.Unix(clock.Load(), 0) }
	l.read(shop)
	f.put(podsOfShop, pod("shop", "b"))
	clock.Add(2)
	for _, g := range l.Refresh(t.Context()) {
		t.Errorf("out of reach: %v", g)
	}
	if got := l.read(shop); got.names() != "Pod/shop/a Pod/shop/b" || f.lists(podsOfShop) != 2 {
		t.Errorf("read %s after %d lists", got.names(), f.lists(podsOfShop))
	}
}
