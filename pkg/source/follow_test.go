package source

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func TestFollowAsksOnce(t *testing.T) {
	f := newFake(t)
	f.objects["/api/v1/namespaces"] = []fakeObject{&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}}
	f.pods("shop", "a")
	f.pods("far", "b")
	c, _ := f.cluster(t, ClusterOptions{Page: 100})
	known(t, c)
	f.forget()
	deployment := schema.GroupKind{Group: "apps", Kind: "Deployment"}
	rounds := []Query{
		{Namespaces: []string{"shop", "far", ""}, Objects: []object.Ref{{Kind: "Pod", Namespace: "far", Name: "b"}, {Group: "apps", Kind: "Deployment", Namespace: "x", Name: "y"}, {Kind: "Namespace", Name: "shop"}}},
		{Namespaces: []string{"far", "shop"}, Kinds: []schema.GroupKind{deployment}, Objects: []object.Ref{{Kind: "Namespace", Name: "shop"}, {Kind: "Pod", Namespace: "shop", Name: "zzz"}}},
		{},
	}
	got := newRecorder()
	err := Follow(t.Context(), c, Query{Namespaces: []string{"shop"}, Kinds: []schema.GroupKind{deployment}}, got, func() Query {
		next := rounds[0]
		rounds = rounds[1:]
		return next
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range f.log() {
		if seen[r.path] {
			t.Errorf("%s is asked for again", r.path)
		}
		seen[r.path] = true
		if strings.HasSuffix(r.path, "deployments") && strings.Contains(r.path, "/namespaces/") {
			t.Errorf("%s: all deployments are there already", r.path)
		}
		if strings.HasSuffix(r.path, "events") {
			t.Errorf("%s is no part of a stack", r.path)
		}
	}
	if got.names() != "Namespace/shop Pod/far/b Pod/shop/a" {
		t.Errorf("read %s", got.names())
	}
}

// TestFollowRefusedKind has an object that is asked for together with its kind, whose list is
// refused: it is read by name. Where the list is allowed, it is not.
func TestFollowRefusedKind(t *testing.T) {
	for refused, byName := range map[bool]int{true: 1, false: 0} {
		f := newFake(t)
		shop := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
		f.objects["/api/v1/namespaces"] = []fakeObject{shop}
		f.fault = func(w http.ResponseWriter, r *http.Request, _ int) bool {
			if refused && r.URL.Path == "/api/v1/namespaces" {
				sendStatus(w, 403, metav1.StatusReasonForbidden, "no", "")
				return true
			}
			return false
		}
		c, _ := f.cluster(t, ClusterOptions{})
		known(t, c)
		f.forget()
		got := newRecorder()
		namespace := object.Ref{Kind: "Namespace", Name: "shop"}
		first := Query{Namespaces: []string{"shop"}, Kinds: []schema.GroupKind{namespace.GroupKind()}, Objects: []object.Ref{namespace}}
		if err := Follow(t.Context(), c, first, got, func() Query { return Query{} }); err != nil {
			t.Fatal(err)
		}
		if n := f.count("/api/v1/namespaces/shop"); n != byName || got.names() != "Namespace/shop" {
			t.Errorf("refused: %v: read %q, by name %d times", refused, got.names(), n)
		}
	}
}

// What is left out comes along with each namespace where it is included, and with
// no other.
func TestFollowIncludes(t *testing.T) {
	f := newFake(t)
	c, _ := f.cluster(t, ClusterOptions{})
	known(t, c)
	f.forget()
	rounds := []Query{{Namespaces: []string{"far"}}, {}}
	err := Follow(t.Context(), c, Query{Namespaces: []string{"shop"}, Include: []schema.GroupKind{{Kind: "Event"}}}, newRecorder(), func() Query {
		next := rounds[0]
		rounds = rounds[1:]
		return next
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/api/v1/events": 0, "/api/v1/namespaces/shop/events": 1, "/api/v1/namespaces/far/events": 1} {
		if n := f.count(path); n != want {
			t.Errorf("%s is asked for %d times, want %d", path, n, want)
		}
	}
}

func TestSnapshotIncludes(t *testing.T) {
	s, err := SnapshotOptions{}.New("x", parsed(t, "apiVersion: v1\nkind: Event\nmetadata: {name: e, namespace: shop}\n"))
	if err != nil {
		t.Fatal(err)
	}
	event := schema.GroupKind{Kind: "Event"}
	for name, c := range map[string]struct {
		ask  Query
		read int
	}{
		"not":     {Query{Namespaces: []string{"shop"}}, 0},
		"include": {Query{Include: []schema.GroupKind{event}}, 1},
		"kind":    {Query{Kinds: []schema.GroupKind{event}}, 1},
		"by name": {Query{Objects: []object.Ref{{Kind: "Event", Namespace: "shop", Name: "e"}}}, 1},
	} {
		got := newRecorder()
		if err := Follow(t.Context(), s, c.ask, got, func() Query { return Query{} }); err != nil || got.added != c.read {
			t.Errorf("%s: read %d, %v", name, got.added, err)
		}
		if covered := got.coverage() != ""; covered != (c.read > 0) {
			t.Errorf("%s: what was not read is not covered: %s", name, got.coverage())
		}
	}
}

func TestFollowCallsMoreForNothing(t *testing.T) {
	called := 0
	s := &Snapshot{kinds: object.NewKinds(nil)}
	if err := Follow(t.Context(), s, Query{}, newRecorder(), func() Query { called++; return Query{} }); err != nil || called != 1 {
		t.Errorf("called %d times, %v", called, err)
	}
}

func TestFollowReadsASnapshotOnce(t *testing.T) {
	s, err := SnapshotOptions{}.New("x", parsed(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, remaining := newRecorder(), 3
	err = Follow(t.Context(), s, Query{Namespaces: []string{"default"}}, got, func() Query {
		remaining--
		return Query{Namespaces: []string{fmt.Sprint(remaining)}}
	})
	if err != nil || got.added != 1 || remaining != 2 {
		t.Errorf("added %d, left %d, %v", got.added, remaining, err)
	}
}

func parsed(t *testing.T, text string) []Document {
	t.Helper()
	docs, err := Parse("x", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return docs
}
