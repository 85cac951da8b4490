package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func pod(ns, name string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: metav1.NewFieldsV1("{}")}}}}
	p.Spec.NodeName = "n1"
	return p
}

func (f *fake) pods(ns string, names ...string) {
	for _, n := range names {
		f.objects["/api/v1/namespaces/"+ns+"/pods"] = append(f.objects["/api/v1/namespaces/"+ns+"/pods"], pod(ns, n))
	}
}

func known(t *testing.T, c *Cluster) *Cluster {
	t.Helper()
	if _, err := c.Kinds(t.Context(), newRecorder()); err != nil {
		t.Fatal(err)
	}
	return c
}

var podKind = schema.GroupKind{Kind: "Pod"}

// onlyPods leaves the other lists out of a test.
func (f *fake) onlyPods() {
	f.resources = map[string][]metav1.APIResource{"v1": {{Name: "pods", Kind: "Pod", Namespaced: true, Verbs: verbs}}}
}

func TestReadsANamespaceInPages(t *testing.T) {
	f := newFake(t)
	f.pods("shop", "a", "b", "c", "d", "e")
	f.pods("other", "x")
	f.objects["/api/v1/namespaces/shop/secrets"] = []fakeObject{&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "s", Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "password", "k": "v"}},
		Data:       map[string][]byte{"p": []byte("password")},
	}}
	c, _ := f.cluster(t, ClusterOptions{})
	known(t, c)
	got := newRecorder()
	if err := c.Read(t.Context(), Query{Namespaces: []string{"shop"}}, got); err != nil {
		t.Fatal(err)
	}
	if want := "Pod/shop/a Pod/shop/b Pod/shop/c Pod/shop/d Pod/shop/e Secret/shop/s"; got.names() != want {
		t.Errorf("read %s, want %s", got.names(), want)
	}
	if want := "ConfigMap@shop Deployment.apps@shop Pod@shop Secret@shop"; got.coverage() != want {
		t.Errorf("covered %s, want %s", got.coverage(), want)
	}
	if len(got.gaps) > 0 {
		t.Errorf("gaps %v", got.gaps)
	}
	if n := f.count("/api/v1/namespaces/shop/pods"); n != 3 {
		t.Errorf("%d pages of pods, want 3", n)
	}
	p := got.objects[object.Ref{Kind: "Pod", Namespace: "shop", Name: "a"}].Body.(*corev1.Pod)
	if p.Spec.NodeName != "n1" || p.ManagedFields != nil {
		t.Errorf("pod read as %v", p)
	}
	s := got.objects[object.Ref{Kind: "Secret", Namespace: "shop", Name: "s"}].Body.(*metav1.PartialObjectMetadata)
	if len(s.Annotations) != 1 {
		t.Errorf("annotations of the secret: %v", s.Annotations)
	}
}

// TestValuesAreNeverRequested asks for everything in every way, whole.
func TestValuesAreNeverRequested(t *testing.T) {
	f := newFake(t)
	for _, kind := range []string{"secrets", "configmaps"} {
		f.objects["/api/v1/namespaces/shop/"+kind] = []fakeObject{&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "x"}}}
	}
	c, _ := f.cluster(t, ClusterOptions{Detail: func(object.Resource) (Detail, string) { return Fields, "" }})
	known(t, c)
	refs := []object.Ref{{Kind: "Secret", Namespace: "shop", Name: "x"}, {Kind: "ConfigMap", Namespace: "shop", Name: "y"}, {Kind: "Pod", Namespace: "shop", Name: "../secrets/x"}, {Kind: "Pod", Namespace: "a/../shop", Name: "x"}}
	for i := range many + 1 {
		refs = append(refs, object.Ref{Kind: "Secret", Namespace: "far", Name: fmt.Sprint(i)})
	}
	got := newRecorder()
	for _, ask := range []Query{{All: true}, {Namespaces: []string{"shop"}}, {Kinds: []schema.GroupKind{{Kind: "Secret"}}}, {Objects: refs}} {
		if err := c.Read(t.Context(), ask, got); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Definitions(t.Context(), got); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, r := range f.log() {
		if !strings.Contains(r.path, "secrets") && !strings.Contains(r.path, "configmaps") {
			continue
		}
		asked++
		for media := range strings.SplitSeq(r.accept, ",") {
			if !strings.Contains(media, "as=PartialObjectMetadata") {
				t.Errorf("%s?%s asked for as %s", r.path, r.query, r.accept)
			}
		}
	}
	if asked < 8 {
		t.Errorf("only %d requests for secrets and config maps", asked)
	}
	if want := "ConfigMap/shop/y Pod/a/../shop/x Pod/shop/../secrets/x"; !sameWords(got.absent, want) {
		t.Errorf("absent %v, want %s", got.absent, want)
	}
	if n := f.count("/api/v1/namespaces/far/secrets"); n != 1 {
		t.Errorf("many secrets took %d lists, want 1", n)
	}
}

func sameWords(a []string, b string) bool {
	r := &recorder{covered: a}
	return r.coverage() == b
}

func TestReadsWhatIsJSONOnly(t *testing.T) {
	for _, d := range []Detail{Metadata, Typed, Fields} {
		f := newFake(t)
		f.onlyPods()
		f.jsonOnly[""] = true
		f.pods("shop", "a", "b", "c")
		c, _ := f.cluster(t, ClusterOptions{Detail: func(object.Resource) (Detail, string) { return d, "" }})
		got := newRecorder()
		if err := c.Read(t.Context(), Query{All: true, Objects: []object.Ref{{Kind: "Pod", Namespace: "shop", Name: "a"}}}, got); err != nil {
			t.Fatal(err)
		}
		if got.names() != "Pod/shop/a Pod/shop/b Pod/shop/c" || got.coverage() != "Pod@" {
			t.Errorf("detail %d: read %s, covered %s, gaps %v", d, got.names(), got.coverage(), got.gaps)
		}
		for _, o := range got.objects {
			if o.Meta.GetManagedFields() != nil {
				t.Errorf("detail %d: managed fields", d)
			}
		}
	}
}

func TestInFlightIsBounded(t *testing.T) {
	f := newFake(t)
	entered, release := make(chan struct{}, 100), make(chan struct{})
	f.fault = func(_ http.ResponseWriter, r *http.Request, _ int) bool {
		if strings.Contains(r.URL.Path, "/namespaces/") {
			entered <- struct{}{}
			<-release
		}
		return false
	}
	c, _ := f.cluster(t, ClusterOptions{Parallel: 3})
	known(t, c)
	f.most = 0
	done := make(chan error, 1)
	go func() {
		done <- c.Read(context.Background(), Query{Namespaces: []string{"a", "b", "c", "d"}}, newRecorder())
	}()
	for range 3 {
		<-entered
	}
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if f.most != 3 {
		t.Errorf("%d requests in flight, want 3", f.most)
	}
}

// TestCancelEndsTheReading has a server that answers only after the reading has
// ended.
func TestCancelEndsTheReading(t *testing.T) {
	for name, fault := range map[string]func(w http.ResponseWriter){
		"before the head":   func(http.ResponseWriter) {},
		"within the answer": func(w http.ResponseWriter) { _, _ = w.Write([]byte("k8s")); w.(http.Flusher).Flush() },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			entered, release := make(chan struct{}, 100), make(chan struct{})
			f.fault = func(w http.ResponseWriter, r *http.Request, _ int) bool {
				if !strings.Contains(r.URL.Path, "/namespaces/") {
					return false
				}
				fault(w)
				entered <- struct{}{}
				<-release
				return true
			}
			c, _ := f.cluster(t, ClusterOptions{Parallel: 2})
			known(t, c)
			ctx, cancel := context.WithCancel(t.Context())
			got := newRecorder()
			done := make(chan error, 1)
			go func() { done <- c.Read(ctx, Query{Namespaces: []string{"a", "b"}}, got) }()
			<-entered
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			close(release)
			if len(got.gaps) > 0 || len(got.covered) > 0 {
				t.Errorf("a reading that was cancelled tells of gaps %v and covers %v", got.gaps, got.covered)
			}
		})
	}
}

func TestCancelEndsTheWaiting(t *testing.T) {
	f := newFake(t)
	f.onlyPods()
	ctx, cancel := context.WithCancel(t.Context())
	f.fault = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if strings.HasSuffix(r.URL.Path, "/pods") {
			w.Header().Set("Retry-After", "50")
			http.Error(w, "busy", http.StatusTooManyRequests)
			return true
		}
		return false
	}
	c, _ := f.cluster(t, ClusterOptions{})
	known(t, c)
	c.pause = func(ctx context.Context, d time.Duration) error {
		cancel()
		return pause(ctx, d)
	}
	got := newRecorder()
	if err := c.Read(ctx, Query{All: true}, got); !errors.Is(err, context.Canceled) || len(got.gaps) > 0 {
		t.Errorf("error %v, gaps %v", err, got.gaps)
	}
}
