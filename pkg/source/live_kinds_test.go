package source

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

const (
	crds    = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	widgets = "/apis/x.example.com/v1/namespaces/shop/widgets"
)

var widgetKind = schema.GroupKind{Group: "x.example.com", Kind: "Widget"}

func crd(name string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// serveWidgets makes the server serve widgets, or not.
func (f *fake) serveWidgets(yes bool) {
	f.world.Lock()
	defer f.world.Unlock()
	delete(f.resources, "x.example.com/v1")
	if yes {
		f.resources["x.example.com/v1"] = []metav1.APIResource{{Name: "widgets", Kind: "Widget", Namespaced: true, Verbs: verbs}}
	}
}

// open asks as a command does at its beginning.
func (l *followed) open() (*recorder, string) {
	l.t.Helper()
	got := newRecorder()
	if _, err := l.Kinds(l.t.Context(), got); err != nil {
		l.t.Fatal(err)
	}
	definitions, err := l.Definitions(l.t.Context(), got)
	if err != nil {
		l.t.Fatal(err)
	}
	var names []string
	for _, d := range definitions {
		names = append(names, d.GetName())
	}
	return got, strings.Join(names, " ")
}

func (l *followed) serves(gk schema.GroupKind) bool {
	_, ok := l.Current().Kind(gk)
	return ok
}

// TestLiveSeesKindsComeAndGo has a definition that is made, served late, and deleted.
func TestLiveSeesKindsComeAndGo(t *testing.T) {
	f := newFake(t)
	f.jsonOnly["x.example.com"] = true
	var notFound atomic.Bool // before the discovery says so
	f.fault = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if r.URL.Path != widgets || !notFound.Load() {
			return false
		}
		http.Error(w, "404 page not found", http.StatusNotFound)
		return true
	}
	l := f.live(t, ClusterOptions{Detail: func(r object.Resource) (Detail, string) { return Metadata, "" }})
	if _, names := l.open(); names != "" || l.serves(widgetKind) {
		t.Fatalf("definitions %q at first", names)
	}
	l.read(shop)
	before := len(f.log())
	l.open()
	for _, r := range f.log()[before:] {
		if !strings.Contains(r.query, "watch=true") {
			t.Errorf("asked again: %v", r)
		}
	}
	f.put(crds, crd("widgets.x.example.com"))
	l.await("a definition")
	if _, names := l.open(); names != "widgets.x.example.com" || l.serves(widgetKind) {
		t.Errorf("definitions %q; served %v", names, l.serves(widgetKind))
	}
	f.serveWidgets(true)
	if d := l.wait(); d != time.Second {
		t.Errorf("it looks again in %s", d)
	}
	for !l.serves(widgetKind) {
		l.await("a look at what was not served yet")
		l.open()
	}
	f.put(widgets, widget("w"))
	if got := l.read(shop); got.names() != "Widget.x.example.com/shop/w" || !strings.Contains(got.coverage(), "Widget.x.example.com@shop") {
		t.Errorf("read %s, covered %s", got.names(), got.coverage())
	}
	f.until(t, f.isOpen(widgets, 1))
	f.remove(widgets, "w")
	notFound.Store(true)
	f.end("cleanly")
	got := l.until(shop, func(r *recorder) bool { return len(r.gaps) > 0 })
	if got.names() != "" || got.reasons() != "widgets.x.example.com@shop:NotServed" || strings.Contains(got.coverage(), "Widget") {
		t.Errorf("read %s, gaps %s, covered %s", got.names(), got.reasons(), got.coverage())
	}
	f.remove(crds, "widgets.x.example.com")
	for {
		if _, names := l.open(); names == "" {
			break
		}
		l.await("the end of a definition")
	}
	if !l.serves(widgetKind) {
		t.Error("the server does not serve it any more, and says that it does")
	}
	f.serveWidgets(false)
	for l.wait() != time.Second {
		continue // Others wait, too.
	}
	for l.serves(widgetKind) {
		l.await("a look at what was served for too long")
		l.open()
	}
	if got := l.read(shop); len(got.gaps) > 0 || l.feeds[scope{gk: widgetKind, ns: "shop"}] != nil {
		t.Errorf("gaps %v of a kind that is gone", got.gaps)
	}
}

func widget(name string) *corev1.Pod {
	p := pod("shop", name)
	p.Kind, p.APIVersion = "Widget", "x.example.com/v1"
	return p
}

// TestLiveLooksAFewTimes has a definition that is never served.
func TestLiveLooksAFewTimes(t *testing.T) {
	f := newFake(t)
	f.put(crds, crd("taken.x.example.com"))
	l := f.live(t, ClusterOptions{})
	l.open()
	for i := range 5 {
		if d := l.wait(); d != time.Second<<i {
			t.Errorf("look %d in %s", i, d)
		}
		l.await("a look")
		l.open()
	}
	before := f.count("/apis")
	l.open()
	if n := f.count("/apis"); n != before {
		t.Errorf("discovery is asked %d times more", n-before)
	}
}

func TestLiveTellsGapsOfDiscoveryAgain(t *testing.T) {
	f := newFake(t)
	f.Config.ErrorLog = quiet()
	f.resources["broken.example.com/v1"] = nil
	f.fault = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		switch {
		case strings.HasSuffix(r.URL.Path, "broken.example.com/v1"):
			http.Error(w, "down", http.StatusServiceUnavailable)
		case r.URL.Path == crds:
			sendStatus(w, 403, metav1.StatusReasonForbidden, "crds is forbidden: no", "")
		default:
			return false
		}
		return true
	}
	l := f.live(t, ClusterOptions{})
	first, _ := l.open()
	second, _ := l.open()
	if first.reasons() != "broken.example.com/v1@:Unavailable customresourcedefinitions.apiextensions.k8s.io@:Forbidden" || second.reasons() != first.reasons() {
		t.Errorf("gaps %s, then %s", first.reasons(), second.reasons())
	}
}

// TestLiveFollowsOne follows single objects: there, not there yet, of the cluster.
func TestLiveFollowsOne(t *testing.T) {
	f := newFake(t)
	f.put("/api/v1/namespaces/far/pods", pod("far", "db"))
	f.put("/api/v1/namespaces/far/pods", pod("far", "nobody's"))
	l := f.live(t, ClusterOptions{})
	ask := Query{Objects: []object.Ref{
		{Kind: "Pod", Namespace: "far", Name: "db"},
		{Kind: "Namespace", Name: "far"},
		{Kind: "Pod", Namespace: "far", Name: "../secrets/x"},
	}}
	got := l.read(ask)
	if got.names() != "Pod/far/db" || !sameWords(got.absent, "Namespace/far Pod/far/../secrets/x") || got.coverage() != "" || len(got.gaps) > 0 {
		t.Errorf("read %s, absent %v, covered %s, gaps %v", got.names(), got.absent, got.coverage(), got.gaps)
	}
	f.put("/api/v1/namespaces", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "far"}})
	l.until(ask, names("Namespace/far Pod/far/db"))
	f.remove("/api/v1/namespaces/far/pods", "db")
	got = l.until(ask, names("Namespace/far"))
	if !slices.Contains(got.absent, "Pod/far/db") {
		t.Errorf("absent %v", got.absent)
	}
	for _, r := range f.log() {
		if strings.HasPrefix(r.path, "/api/v1/namespaces") && !strings.Contains(r.query, "metadata.name%3D") {
			t.Errorf("asked for more than one: %v", r)
		}
	}
}

// TestLiveMayOnlyGet has a user who may get an object, and not list it.
func TestLiveMayOnlyGet(t *testing.T) {
	f := newFake(t)
	f.onlyPods()
	f.put(podsOfShop, pod("shop", "a"))
	f.fault = func(w http.ResponseWriter, r *http.Request, n int) bool {
		return refuse(403, metav1.StatusReasonForbidden, "pods is forbidden: no")(w, r, n)
	}
	l := f.live(t, ClusterOptions{})
	ask := Query{Objects: []object.Ref{{Kind: "Pod", Namespace: "shop", Name: "a"}, {Kind: "Pod", Namespace: "shop", Name: "b"}}}
	got := l.read(ask)
	if got.names() != "Pod/shop/a" || !sameWords(got.absent, "Pod/shop/b") || got.reasons() != "pods@shop:NotWatched pods@shop:NotWatched" {
		t.Errorf("read %s, absent %v, gaps %s", got.names(), got.absent, got.reasons())
	}
	f.put(podsOfShop, pod("shop", "b"))
	for l.read(ask).names() != "Pod/shop/a Pod/shop/b" {
		l.wait()
	}
	if got := l.read(ask); len(got.absent) > 0 || f.lists(podsOfShop) != 2 {
		t.Errorf("absent %v after %d lists", got.absent, f.lists(podsOfShop))
	}

	// Many are asked for as a list, which is refused.
	query := Query{}
	for i := range many32 {
		query.Objects = append(query.Objects, object.Ref{Kind: "Pod", Namespace: "far", Name: fmt.Sprint("p", i)})
	}
	if got := l.read(query); len(got.absent) != many32 || got.coverage() != "" {
		t.Errorf("%d absent, covered %s, gaps %s", len(got.absent), got.coverage(), got.reasons())
	}
}

const many32 = many + 1

// TestLiveFollowsManyAsAList asks for more objects of a kind than are got one by one.
func TestLiveFollowsManyAsAList(t *testing.T) {
	f := newFake(t)
	f.onlyPods()
	f.put(podsOfShop, pod("shop", "p1"))
	f.put(podsOfShop, pod("shop", "unasked"))
	l := f.live(t, ClusterOptions{})
	ask := Query{}
	for i := range many32 {
		ask.Objects = append(ask.Objects, object.Ref{Kind: "Pod", Namespace: "shop", Name: fmt.Sprint("p", i)})
	}
	for range 2 {
		if got := l.read(ask); got.names() != "Pod/shop/p1 Pod/shop/unasked" || got.coverage() != "Pod@shop" || len(got.absent) > 0 {
			t.Errorf("read %s, covered %s, absent %v", got.names(), got.coverage(), got.absent)
		}
	}
	if n := len(l.feeds); n != 1 || f.lists(podsOfShop) != 1 {
		t.Errorf("%d feeds, %d lists", n, f.lists(podsOfShop))
	}
}

// TestLiveIsRead in stages by Follow, as a cluster is.
func TestLiveIsReadInStages(t *testing.T) {
	f := newFake(t)
	f.onlyPods()
	f.pods("shop", "a")
	f.pods("far", "b", "c")
	l := f.live(t, ClusterOptions{})
	var requests []int
	for range 2 {
		stages := []Query{{Objects: []object.Ref{{Kind: "Pod", Namespace: "far", Name: "b"}}}, {Kinds: []schema.GroupKind{podKind}}, {}}
		got := newRecorder()
		if err := Follow(t.Context(), l, shop, got, func() Query {
			next := stages[0]
			stages = stages[1:]
			return next
		}); err != nil {
			t.Fatal(err)
		}
		if got.names() != "Pod/far/b Pod/far/c Pod/shop/a" || got.coverage() != "Pod@ Pod@shop" {
			t.Errorf("read %s, covered %s", got.names(), got.coverage())
		}
		requests = append(requests, f.lists(podsOfShop)+f.lists("/api/v1/namespaces/far/pods")+f.lists("/api/v1/pods"))
	}
	if requests[0] != 3 || requests[1] != 3 || len(l.feeds) != 1 {
		t.Errorf("requests %v, %d feeds", requests, len(l.feeds))
	}
}
