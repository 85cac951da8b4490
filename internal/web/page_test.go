package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/demotest"
	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
)

// uiServer is as much of an API server as the page asks: pods that can be watched, and no metrics.
type uiServer struct {
	*httptest.Server
	mu      sync.Mutex
	version int
	phase   string
	gone    bool
	changed chan struct{}
	log     func(query url.Values) (status int, text string)
}

func newUIServer(t *testing.T) *uiServer {
	t.Helper()
	s := &uiServer{version: 1, phase: "Running", changed: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func (s *uiServer) pod() string {
	status := `"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"web","ready":true,"state":{"running":{}}}]`
	if s.phase == "Failed" {
		status = `"phase":"Failed","reason":"Evicted","message":"the node was low on memory"`
	}
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"shop","uid":"u1","resourceVersion":"%d","creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"containers":[{"name":"web","image":"web","env":[{"name":"PASSWORD","value":"hunter2"}]}]},"status":{%s}}`, s.version, status)
}

// change makes the pod another one.
func (s *uiServer) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *uiServer) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	const named = `{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get","list","watch"]}`
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.URL.Path {
	case "/api":
		fmt.Fprint(w, `{"kind":"APIVersions","versions":["v1"]}`)
	case "/apis":
		fmt.Fprint(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
	case "/api/v1":
		fmt.Fprintf(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[%s]}`, named)
	case "/api/v1/pods", "/api/v1/namespaces/shop/pods":
		if r.URL.Query().Get("watch") != "" {
			s.watch(w, r)
			return
		}
		items := s.pod()
		if s.gone {
			items = ""
		}
		fmt.Fprintf(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[%s]}`, s.version, items)
	case "/api/v1/namespaces/shop/pods/web/log":
		status, text := s.log(r.URL.Query())
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	case "/api/v1/namespaces/shop/pods/web":
		fmt.Fprint(w, s.pod())
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"not here"}`)
	}
}

// watch tells of what has changed since a version.
func (s *uiServer) watch(w http.ResponseWriter, r *http.Request) {
	told, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	w.(http.Flusher).Flush()
	for {
		if s.version > told {
			event := "MODIFIED"
			if s.gone {
				event = "DELETED"
			}
			fmt.Fprintf(w, `{"type":%q,"object":%s}`+"\n", event, s.pod())
			w.(http.Flusher).Flush()
			told = s.version
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-r.Context().Done():
			s.mu.Lock()
			return
		case <-changed:
			s.mu.Lock()
		}
	}
}

// seen is who is shown what a survey sees.
type seen struct {
	pictures chan *uistate.State
	stale    chan string
}

func (s *seen) Publish(p *uistate.State) { s.pictures <- p }

func (s *seen) Stale(why string) {
	select {
	case s.stale <- why:
	default:
	}
}

func surveyOf(t *testing.T, s *uiServer) *app.Page {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: here, clusters: [{name: one, cluster: {server: %q}}], users: [{name: me, user: {}}],
contexts: [{name: here, context: {cluster: one, user: me, namespace: shop}}]}`, s.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	config, cache := genericclioptions.NewConfigFlags(true), t.TempDir()
	config.KubeConfig, config.CacheDir = &file, &cache
	in := (&app.Input{Config: config, Now: time.Now}).Another("")
	v, err := in.StacksPage(t.Context(), nil, "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	v.Mode = "live"
	return v
}

// TestFollows holds that a change is shown, that who has a number keeps it, and that what is gone
// leaves a null behind.
func TestFollows(t *testing.T) {
	s := newUIServer(t)
	v := surveyOf(t, s)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if err := v.Open(ctx); err != nil {
		t.Fatal(err)
	}
	first, err := v.Observe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	at := nodeNamed(first, "web")
	if at < 0 || first.Mode != "live" || first.Source != "context here" || first.Namespace != "shop" {
		t.Fatalf("the first look: %+v", first)
	}
	if first.Parts["usage"] == "" && first.Stacks != nil && len(first.Stacks) > 0 && first.Stacks[0].Usage != nil && first.Stacks[0].Usage.CPU != nil {
		t.Error("usage is known without a metrics server")
	}
	shown := &seen{pictures: make(chan *uistate.State, 16), stale: make(chan string, 16)}
	ended := make(chan struct{})
	go func() { defer close(ended); follow(ctx, v, shown) }()
	s.change(func() { s.phase = "Failed" })
	for p := range shown.pictures {
		if n := p.Nodes[at]; n != nil && n.Health == 6 && n.Name == "web" {
			break
		}
	}
	s.change(func() { s.gone = true })
	for p := range shown.pictures {
		if len(p.Nodes) > at && p.Nodes[at] == nil {
			break
		}
	}
	s.CloseClientConnections()
	s.Close()
	for why := range shown.stale {
		if why != "" {
			break
		}
	}
	stop()
	<-ended
}

func nodeNamed(p *uistate.State, name string) int {
	for i, n := range p.Nodes {
		if n != nil && n.Name == name {
			return i
		}
	}
	return -1
}

// TestObject holds that the page gets one object without its secrets.
func TestObject(t *testing.T) {
	s := newUIServer(t)
	v := surveyOf(t, s)
	if err := v.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Observe(t.Context()); err != nil {
		t.Fatal(err)
	}
	a := &API{Page: v}
	text, err := a.object(t.Context(), url.Values{"ref": {"Pod/shop/web"}})
	if err != nil {
		t.Fatal(err)
	}
	var got objectAnswer
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "hunter2") || !strings.Contains(got.YAML, "name: web") || got.Hidden == 0 || got.Unavailable != "" {
		t.Errorf("%+v", got)
	}
	if _, err := a.object(t.Context(), url.Values{"ref": {"Pod/shop/other"}}); err == nil {
		t.Error("an object that was not read is shown")
	}
}

func TestPortInUse(t *testing.T) {
	l, err := listen(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	_, err = listen(t.Context(), port)
	if want := fmt.Sprintf("listen at 127.0.0.1:%d: bind: ", port); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s and the reason", err, want)
	}
}

// demoPage is the page of the example, after its first observation.
func demoPage(t *testing.T) *app.Page {
	t.Helper()
	now := func() time.Time { return time.Date(2026, 9, 14, 9, 30, 0, 0, time.UTC) }
	in := (&app.Input{From: "demo", AllNamespaces: true, Demo: demotest.FS(), Config: genericclioptions.NewConfigFlags(true), Now: now}).Another("")
	v, err := in.StacksPage(t.Context(), nil, "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	v.Mode = "live"
	if err := v.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Observe(t.Context()); err != nil {
		t.Fatal(err)
	}
	return v
}
