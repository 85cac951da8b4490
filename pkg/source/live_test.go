package source

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// followed is a Live on a fake server.
type followed struct {
	*Live
	t   *testing.T
	end context.CancelFunc
	// paused is where whoever waits says for how long; a test that receives it lets the
	// wait be over.
	paused chan time.Duration
}

func (f *fake) live(t *testing.T, o ClusterOptions) *followed {
	t.Helper()
	if o.Page == 0 {
		// The pages of a real server are of one moment; those of the fake are not.
		o.Page = 100
	}
	c, _ := f.cluster(t, o)
	ctx, end := context.WithCancel(t.Context())
	l := &followed{NewLive(ctx, c), t, end, make(chan time.Duration)}
	l.pause = func(ctx context.Context, d time.Duration) error {
		select {
		case l.paused <- d:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	t.Cleanup(func() {
		end()
		l.running.Wait()
	})
	return l
}

var shop = Query{Namespaces: []string{"shop"}}

func (l *followed) read(ask Query) *recorder {
	l.t.Helper()
	got := newRecorder()
	if err := l.Read(l.t.Context(), ask, got); err != nil {
		l.t.Fatal(err)
	}
	return got
}

// until reads after each change, until what is read is right.
func (l *followed) until(ask Query, right func(*recorder) bool) *recorder {
	l.t.Helper()
	for {
		got := l.read(ask)
		if right(got) {
			return got
		}
		l.await("another change than to " + got.names() + " " + got.reasons())
	}
}

var never = timeout.Scaled(20 * time.Second)

func (l *followed) await(event string) {
	l.t.Helper()
	select {
	case <-l.Changed():
	case <-time.After(never):
		l.t.Fatal("no change comes: ", event)
	}
}

// wait lets a wait be over, and returns how long it would have been.
func (l *followed) wait() time.Duration {
	l.t.Helper()
	select {
	case d := <-l.paused:
		return d
	case <-time.After(never):
		l.t.Fatal("nobody waits")
	}
	return 0
}

func names(want string) func(*recorder) bool {
	return func(got *recorder) bool { return got.names() == want }
}

func labelled(name, value string) *corev1.Pod {
	p := pod("shop", name)
	p.Labels = map[string]string{"l": value}
	return p
}

// TestLiveFollows makes, changes and deletes a pod, as it is read in every detail.
func TestLiveFollows(t *testing.T) {
	for name, c := range map[string]struct {
		detail Detail
		json   bool
		body   func(object.Object) bool
	}{
		"typed":            {Typed, false, func(o object.Object) bool { p, ok := o.Body.(*corev1.Pod); return ok && p.Spec.NodeName == "n1" }},
		"typed, from JSON": {Typed, true, func(o object.Object) bool { p, ok := o.Body.(*corev1.Pod); return ok && p.Spec.NodeName == "n1" }},
		"fields": {Fields, false, func(o object.Object) bool {
			u, ok := o.Body.(*unstructured.Unstructured)
			return ok && u.Object["spec"] != nil
		}},
		"metadata":            {Metadata, false, func(o object.Object) bool { _, ok := o.Body.(*metav1.PartialObjectMetadata); return ok }},
		"metadata, from JSON": {Metadata, true, func(o object.Object) bool { _, ok := o.Body.(*metav1.PartialObjectMetadata); return ok }},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.onlyPods()
			f.jsonOnly[""] = c.json
			f.put(podsOfShop, labelled("a", "1"))
			l := f.live(t, ClusterOptions{Detail: func(object.Resource) (Detail, string) { return c.detail, "" }})
			if got := l.read(shop); got.names() != "Pod/shop/a" || got.coverage() != "Pod@shop" || len(got.gaps) > 0 {
				t.Fatalf("at first %s, covered %s, gaps %v", got.names(), got.coverage(), got.gaps)
			}
			f.put(podsOfShop, labelled("b", "1"))
			l.until(shop, names("Pod/shop/a Pod/shop/b"))
			f.put(podsOfShop, labelled("b", "2"))
			b := object.Ref{Kind: "Pod", Namespace: "shop", Name: "b"}
			got := l.until(shop, func(r *recorder) bool { return r.objects[b].Meta.GetLabels()["l"] == "2" })
			if o := got.objects[b]; !c.body(o) || o.Meta.GetManagedFields() != nil || o.Version != "v1" {
				t.Errorf("read as %T %v", o.Body, o)
			}
			f.remove(podsOfShop, "a")
			if got := l.until(shop, names("Pod/shop/b")); got.coverage() != "Pod@shop" || len(got.resets) > 0 {
				t.Errorf("covered %s, resets %v", got.coverage(), got.resets)
			}
			if f.lists(podsOfShop) != 1 || f.watches(podsOfShop) != 1 || len(l.Trouble()) > 0 {
				t.Errorf("%d lists, %d watches, trouble %v", f.lists(podsOfShop), f.watches(podsOfShop), l.Trouble())
			}
		})
	}
}

// TestLiveReadsFromMemory counts requests: none for what is followed.
func TestLiveReadsFromMemory(t *testing.T) {
	f := newFake(t)
	f.pods("shop", "a", "b", "c", "d", "e")
	f.put("/apis/apps/v1/namespaces/shop/deployments", &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}})
	l := f.live(t, ClusterOptions{Page: 2})
	far := object.Ref{Kind: "Secret", Namespace: "far", Name: "s"}
	ask := Query{Namespaces: []string{"shop"}, Kinds: []schema.GroupKind{{Kind: "Namespace"}}, Objects: []object.Ref{far}}
	want := l.read(ask)
	if lists, opened := f.lists(podsOfShop), f.watches("/api/v1/namespaces/shop/configmaps"); lists != 3 || opened > 1 {
		t.Errorf("%d pages of pods, %d watches of what there is nothing of", lists, opened)
	}
	f.put("/api/v1/namespaces/shop/configmaps", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "late"}})
	l.until(ask, func(r *recorder) bool { return r.added == want.added+1 })
	before := len(f.log())
	for range 3 {
		got := l.read(ask)
		if got.coverage() != want.coverage() || !slices.Equal(got.absent, want.absent) || len(got.gaps) > 0 {
			t.Errorf("covered %s, absent %v, gaps %v", got.coverage(), got.absent, got.gaps)
		}
	}
	for _, r := range f.log()[before:] {
		if !strings.Contains(r.query, "watch=true") {
			t.Errorf("asked again: %v", r)
		}
	}
	for _, r := range f.log() {
		if r.path == "/api/v1/namespaces/shop/events" {
			t.Error("what is left out is followed")
		}
	}
}

// TestLiveSignalsOnce has many changes before anybody looks, and some that are none.
func TestLiveSignalsOnce(t *testing.T) {
	f := newFake(t)
	f.onlyPods()
	l := f.live(t, ClusterOptions{})
	l.read(shop)
	for range 50 {
		f.put(podsOfShop, labelled("a", "1"))
	}
	f.put(podsOfShop, labelled("z", "1"))
	l.until(shop, names("Pod/shop/a Pod/shop/z"))
	select {
	case <-l.Changed(): // There may be one that came while it was read.
	default:
	}
	f.bookmark()
	f.end("expired")
	f.put("/api/v1/namespaces/other/pods", pod("other", "x"))
	f.until(t, f.isOpen(podsOfShop, 2))
	if cap(l.Changed()) != 1 || len(l.Changed()) > 0 {
		t.Errorf("%d of %d signals", len(l.Changed()), cap(l.Changed()))
	}
}

// TestLiveEnds leaves nobody behind.
func TestLiveEnds(t *testing.T) {
	f := newFake(t)
	f.pods("shop", "a")
	l := f.live(t, ClusterOptions{})
	l.read(Query{All: true})
	l.end()
	l.running.Wait()
	if err := l.Read(t.Context(), shop, newRecorder()); !errors.Is(err, context.Canceled) {
		t.Errorf("a Read after the end: %v", err)
	}
	l.running.Wait()
}

// TestLiveHasMoreWatchesThanAConnectionTakes follows more lists than the server lets be
// streams of one connection; a request must still come through.
func TestLiveHasMoreWatchesThanAConnectionTakes(t *testing.T) {
	f := startFake(t, &http.HTTP2Config{MaxConcurrentStreams: 2})
	f.pods("shop", "a")
	f.fault = func(_ http.ResponseWriter, r *http.Request, _ int) bool {
		if r.ProtoMajor != 2 {
			t.Errorf("%s over %s", r.URL, r.Proto)
		}
		return false
	}
	l := f.live(t, ClusterOptions{})
	lists := []string{"pods", "secrets", "configmaps"}
	l.read(shop)
	f.until(t, func() bool {
		return !slices.ContainsFunc(lists, func(rs string) bool { return f.watches("/api/v1/namespaces/shop/"+rs) == 0 })
	})
	if got := l.read(Query{Namespaces: []string{"other"}}); got.coverage() == "" || len(got.gaps) > 0 {
		t.Errorf("covered %s, gaps %v", got.coverage(), got.gaps)
	}
	f.put(podsOfShop, pod("shop", "b"))
	l.until(shop, names("Pod/shop/a Pod/shop/b"))
}

// BenchmarkLiveRead reads 10,000 pods from memory.
func BenchmarkLiveRead(b *testing.B) {
	pods := podResource
	pods.Listable = true
	c := &Cluster{opts: ClusterOptions{Parallel: 16}, found: &atomic.Pointer[discovered]{}}
	c.found.Store(&discovered{kinds: object.NewKinds([]object.Resource{pods})})
	l := NewLive(b.Context(), c)
	f := &feed{scope: scope{gk: podKind}, live: l, resource: pods, first: make(chan struct{})}
	objects := map[object.Ref]object.Object{}
	for i := range 10_000 {
		p := pod("shop", strconv.Itoa(i))
		o := newObject(podResource, p, Typed)
		objects[o.Ref] = o
	}
	f.publish(objects, nil)
	l.feeds[f.scope] = f
	for b.Loop() {
		got := newRecorder()
		if err := l.Read(b.Context(), Query{All: true}, got); err != nil || got.added != len(objects) {
			b.Fatal(err, got.added)
		}
	}
}
