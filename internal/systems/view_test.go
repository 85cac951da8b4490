package systems

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// widgetServer is an API server on which somebody defines Widgets, of which there is one.
type widgetServer struct {
	defined atomic.Bool
	changed chan struct{}
}

const widgetDefinition = `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{"name":"widgets.x.example.com","uid":"c1","resourceVersion":"2"}}`

func (s *widgetServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	const widget = `{"apiVersion":"x.example.com/v1","kind":"Widget","metadata":{"name":"one","namespace":"shop","uid":"w1","resourceVersion":"2"}}`
	const crds = `{"name":"customresourcedefinitions","singularName":"customresourcedefinition","namespaced":false,"kind":"CustomResourceDefinition","verbs":["get","list","watch"]}`
	const widgets = `{"name":"widgets","singularName":"widget","namespaced":true,"kind":"Widget","verbs":["get","list","watch"]}`
	group := func(name string) string {
		return fmt.Sprintf(`{"name":%q,"versions":[{"groupVersion":"%[1]s/v1","version":"v1"}],"preferredVersion":{"groupVersion":"%[1]s/v1","version":"v1"}}`, name)
	}
	defined := s.defined.Load()
	switch path := r.URL.Path; {
	case r.URL.Query().Has("watch"):
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-s.changed:
		}
		if strings.HasSuffix(path, "/customresourcedefinitions") {
			fmt.Fprintf(w, `{"type":"ADDED","object":%s}`+"\n", widgetDefinition)
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	case path == "/api":
		fmt.Fprint(w, `{"kind":"APIVersions","versions":["v1"]}`)
	case path == "/api/v1":
		fmt.Fprint(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[]}`)
	case path == "/apis" && defined:
		fmt.Fprintf(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[%s,%s]}`, group("apiextensions.k8s.io"), group("x.example.com"))
	case path == "/apis":
		fmt.Fprintf(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[%s]}`, group("apiextensions.k8s.io"))
	case path == "/apis/apiextensions.k8s.io/v1":
		fmt.Fprintf(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apiextensions.k8s.io/v1","resources":[%s]}`, crds)
	case path == "/apis/x.example.com/v1" && defined:
		fmt.Fprintf(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"x.example.com/v1","resources":[%s]}`, widgets)
	case strings.HasSuffix(path, "/customresourcedefinitions"):
		items := ""
		if defined {
			items = widgetDefinition
		}
		fmt.Fprintf(w, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"items":[%s]}`, items)
	case strings.HasSuffix(path, "/widgets") && defined:
		fmt.Fprintf(w, `{"kind":"WidgetList","apiVersion":"x.example.com/v1","metadata":{"resourceVersion":"2"},"items":[%s]}`, widget)
	case strings.HasSuffix(path, "/widgets/one") && defined:
		fmt.Fprint(w, widget)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"not here"}`)
	}
}

// A look that follows its cluster sees the objects of an app whose definition was installed since it
// began.
func TestLookSeesNewDefinitions(t *testing.T) {
	s := &widgetServer{changed: make(chan struct{})}
	server := httptest.NewServer(s)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: here, clusters: [{name: one, cluster: {server: %q}}], users: [{name: me, user: {}}],
contexts: [{name: here, context: {cluster: one, user: me, namespace: shop}}]}`, server.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	config, cache := genericclioptions.NewConfigFlags(true), t.TempDir()
	config.KubeConfig, config.CacheDir = &file, &cache
	in := &app.Input{Config: config, Now: time.Now, Clock: app.NewStopwatch(time.Now), Report: noReport{}}
	l, err := Open(t.Context(), in, &system.System{Name: "shop", Namespace: "shop", Apps: []system.App{{Name: "web", Roots: []system.Root{{Type: "widget.x.example.com", Name: "one"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	live := l.Session.Live(t.Context())
	if err := l.Observe(t.Context()); err != nil || len(l.State.Apps[0].Roots) != 0 {
		t.Fatalf("before: %+v, %v", l.State, err)
	}
	s.defined.Store(true)
	close(s.changed)
	deadline := time.After(timeout.Scaled(time.Minute))
	for len(l.State.Apps[0].Roots) == 0 {
		select {
		case <-deadline:
			t.Fatalf("it is not seen: %+v", l.State.Apps[0])
		case <-live.Changed():
		}
		if err := l.Observe(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := l.State.Apps[0].Roots[0].String(); got != "Widget.x.example.com/shop/one" {
		t.Errorf("it sees %s", got)
	}
}
