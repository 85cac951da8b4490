package source

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

const crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// define adds a custom kind and its definition.
func (f *fake) define(group string, versions ...string) {
	for _, v := range versions {
		f.resources[group+"/"+v] = []metav1.APIResource{{Name: "widgets", Kind: "Widget", SingularName: "widget", Namespaced: true, Verbs: verbs}}
	}
	f.objects[crdPath] = append(f.objects[crdPath], &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "widgets." + group}})
}

func (f *fake) onDisk(t *testing.T, dir string) *disk.CachedDiscoveryClient {
	t.Helper()
	d, err := disk.NewCachedDiscoveryClientForConfig(f.config(), dir, "", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestStaleDiscoveryIsAskedAgain(t *testing.T) {
	f := newFake(t)
	dir := t.TempDir()
	first, _ := f.cluster(t, ClusterOptions{Discovery: f.onDisk(t, dir)})
	known(t, first)
	f.define("example.com", "v1")
	c, _ := f.cluster(t, ClusterOptions{Discovery: f.onDisk(t, dir)})
	known(t, c)
	widget := schema.GroupKind{Group: "example.com", Kind: "Widget"}
	if _, ok := c.Current().Kind(widget); ok {
		t.Fatal("the cache knows the kind already")
	}
	defs, err := c.Definitions(t.Context(), newRecorder())
	if err != nil || len(defs) != 1 || defs[0].GetName() != "widgets.example.com" {
		t.Fatalf("definitions %v, %v", defs, err)
	}
	if r, ok := c.Current().Kind(widget); !ok || !r.Custom || r.Version != "v1" {
		t.Errorf("resource %v, %v", r, ok)
	}
	// A definition that is not served at all is no reason to ask again and again.
	f.objects[crdPath] = append(f.objects[crdPath], &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "refused.example.com"}})
	f.forget()
	if _, err := c.Definitions(t.Context(), newRecorder()); err != nil || f.count("/apis") > 0 {
		t.Errorf("error %v, %d times", err, f.count("/apis"))
	}
}

func TestDefinitions(t *testing.T) {
	for name, c := range map[string]struct {
		code    int
		reason  metav1.StatusReason
		gaps    string
		connect bool
	}{
		"forbidden":    {403, metav1.StatusReasonForbidden, "customresourcedefinitions.apiextensions.k8s.io@:Forbidden", false},
		"unauthorized": {401, metav1.StatusReasonUnauthorized, "", true},
		"not served":   {404, metav1.StatusReasonNotFound, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.fault = func(w http.ResponseWriter, r *http.Request, _ int) bool {
				if r.URL.Path == crdPath {
					sendStatus(w, c.code, c.reason, "no", "")
				}
				return r.URL.Path == crdPath
			}
			cluster, _ := f.cluster(t, ClusterOptions{})
			got := newRecorder()
			_, err := cluster.Definitions(t.Context(), got)
			var connect *ConnectError
			if errors.As(err, &connect) != c.connect || got.reasons() != c.gaps {
				t.Errorf("error %v, gaps %s", err, got.reasons())
			}
		})
	}
}

func TestDefinitionsStartAgain(t *testing.T) {
	f := newFake(t)
	for i := range 5 {
		f.define(fmt.Sprintf("g%d.example.com", i), "v1")
	}
	expired := false
	f.fault = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if r.URL.Query().Get("continue") != "4" || expired {
			return false
		}
		expired = true
		sendStatus(w, 410, metav1.StatusReasonExpired, "too old", "")
		return true
	}
	c, _ := f.cluster(t, ClusterOptions{})
	got := newRecorder()
	defs, err := c.Definitions(t.Context(), got)
	if err != nil || len(defs) != 5 || !expired || len(got.resets) > 0 {
		t.Errorf("%d definitions, %v", len(defs), err)
	}
}

func TestBrokenAPIIsAGap(t *testing.T) {
	f := newFake(t)
	f.define("broken.example.com", "v1")
	f.fault = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if strings.HasPrefix(r.URL.Path, "/apis/broken.example.com/") {
			http.Error(w, "service unavailable", http.StatusServiceUnavailable)
			return true
		}
		return false
	}
	f.pods("shop", "a")
	c, _ := f.cluster(t, ClusterOptions{})
	got := newRecorder()
	kinds, err := c.Kinds(t.Context(), got)
	if err != nil || got.reasons() != "broken.example.com/v1@:Unavailable" {
		t.Fatalf("error %v, gaps %v", err, got.gaps)
	}
	if kinds.NotServed(schema.GroupKind{Group: "broken.example.com", Kind: "Widget"}) || !kinds.NotServed(schema.GroupKind{Kind: "Widget"}) {
		t.Error("what is not known is not told from what is not served")
	}
	if err := c.Read(t.Context(), Query{Namespaces: []string{"shop"}}, got); err != nil || got.names() != "Pod/shop/a" {
		t.Errorf("read %s, %v", got.names(), err)
	}
}

func TestNoServer(t *testing.T) {
	f := newFake(t)
	c, _ := f.cluster(t, ClusterOptions{})
	f.Close()
	var connect *ConnectError
	if _, err := c.Kinds(t.Context(), newRecorder()); !errors.As(err, &connect) {
		t.Errorf("error %v", err)
	}
	if _, err := NewCluster(ClusterOptions{Config: &rest.Config{Host: "http://a b"}}); err == nil {
		t.Error("a host that is none is taken")
	}
}

func TestDetailOfVersions(t *testing.T) {
	f := newFake(t)
	f.resources["apps/v1beta9"] = f.resources["apps/v1"]
	delete(f.resources, "apps/v1")
	f.define("example.com", "v2", "v1")
	wanted := "v1"
	c, _ := f.cluster(t, ClusterOptions{Detail: func(r object.Resource) (Detail, string) {
		switch r.Group {
		case "apps":
			return Typed, wanted
		case "example.com":
			return Fields, "v1"
		}
		return Metadata, ""
	}})
	got := newRecorder()
	if err := c.Read(t.Context(), Query{Namespaces: []string{"shop"}}, got); err != nil {
		t.Fatal(err)
	}
	wanted = ""
	if err := c.Read(t.Context(), Query{Namespaces: []string{"shop"}}, got); err != nil {
		t.Fatal(err)
	}
	if f.count("/apis/example.com/v1/namespaces/shop/widgets") != 2 || f.count("/apis/apps/v1beta9/namespaces/shop/deployments") != 2 {
		t.Errorf("requests %v", f.log())
	}
	if want := "deployments.apps@:UnknownVersion deployments.apps@:UnknownVersion"; got.reasons() != want {
		t.Errorf("gaps %v", got.gaps)
	}
}
