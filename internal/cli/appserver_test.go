package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
)

// appServer is as much of an API server as health asks: a Deployment with its ReplicaSet and its
// Pod. It answers without a network, so that a test of it has a clock of its own.
type appServer struct {
	mu sync.Mutex
	// refused says that nothing in apps may be read, unwatched that it may only be listed, and
	// silent that nothing is answered.
	refused, unwatched, silent bool
	// without are resources that may not be read, and gone says that nothing is there.
	without []string
	gone    bool
	// available is how many pods the Deployment has.
	available int
	changed   chan struct{}
}

func newAppServer() *appServer { return &appServer{available: 1, changed: make(chan struct{})} }

// change changes what the server says, and ends all watches.
func (s *appServer) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *appServer) refuse()  { s.change(func() { s.refused = true }) }
func (s *appServer) restore() { s.change(func() { s.refused = false }) }

// objects are the items of each list.
func (s *appServer) objects(resource string) string {
	const (
		meta  = `"metadata":{"name":%q,"namespace":"shop","uid":%q,"resourceVersion":"%d","generation":1,"labels":{"app":"web"}%s}`
		owner = `,"ownerReferences":[{"apiVersion":"apps/v1","kind":%q,"name":%q,"uid":%q,"controller":true}]`
		spec  = `"spec":{"replicas":1,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"web"}]}}}`
	)
	status := fmt.Sprintf(`"observedGeneration":1,"replicas":1,"readyReplicas":%d,"availableReplicas":%[1]d`, s.available)
	switch resource {
	case "deployments":
		return fmt.Sprintf(`{`+meta+`,`+spec+`,"status":{%s,"updatedReplicas":1,"conditions":[{"type":"Available","status":"True"}]}}`, "web", "d1", s.available+1, "", status)
	case "replicasets":
		return fmt.Sprintf(`{`+meta+`,`+spec+`,"status":{%s,"fullyLabeledReplicas":1}}`, "web-1", "r1", s.available+1, fmt.Sprintf(owner, "Deployment", "web", "d1"), status)
	}
	return fmt.Sprintf(`{`+meta+`,"spec":{"containers":[{"name":"web","image":"web"}]},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"web","ready":true,"state":{"running":{}}}]}}`,
		"web-1-a", "p1", 1, fmt.Sprintf(owner, "ReplicaSet", "web-1", "r1"))
}

const appStatus = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":"%s: no"}`

// RoundTrip implements http.RoundTripper.
func (s *appServer) RoundTrip(r *http.Request) (*http.Response, error) {
	name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	watch := r.URL.Query().Has("watch")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.silent {
		s.mu.Unlock()
		<-r.Context().Done()
		s.mu.Lock()
		return nil, r.Context().Err()
	}
	const resource = `{"name":%q,"namespaced":true,"kind":%q,"verbs":["get","list","watch"]}`
	listed := name == "pods" || name == "deployments" || name == "replicasets"
	mayNot := strings.HasPrefix(r.URL.Path, "/apis/apps/v1/") && (s.refused || watch && s.unwatched) || slices.Contains(s.without, name)
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/api":
		fmt.Fprint(w, `{"kind":"APIVersions","versions":["v1"]}`)
	case r.URL.Path == "/apis":
		fmt.Fprint(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}]}`)
	case r.URL.Path == "/api/v1":
		fmt.Fprintf(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[`+resource+`]}`, "pods", "Pod")
	case r.URL.Path == "/apis/apps/v1":
		fmt.Fprintf(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1","resources":[`+resource+`,`+resource+`]}`, "deployments", "Deployment", "replicasets", "ReplicaSet")
	case mayNot:
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, appStatus, "Forbidden", http.StatusForbidden, name)
	case listed && watch:
		resp := w.Result()
		resp.Body = watchUntil(r.Context(), s.changed)
		return resp, nil
	case listed && s.gone:
		fmt.Fprint(w, `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[]}`)
	case listed:
		fmt.Fprintf(w, `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[%s]}`, s.available+1, s.objects(name))
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, appStatus, "NotFound", http.StatusNotFound, name)
	}
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

// stream is the body of a watch.
type stream struct {
	io.Reader
	close func()
}

func (s stream) Close() error {
	s.close()
	return nil
}

// watchUntil returns the body of a watch without events, which ends with a change: its version
// is too old then, so that the list is read again.
func watchUntil(ctx context.Context, changed <-chan struct{}) io.ReadCloser {
	ctx, stop := context.WithCancel(ctx)
	r, w := io.Pipe()
	go func() {
		select {
		case <-changed:
			fmt.Fprintf(w, `{"type":"ERROR","object":`+appStatus+"}\n", "Expired", http.StatusGone, "too old")
			_ = w.Close()
		case <-ctx.Done():
			w.CloseWithError(ctx.Err())
		}
	}()
	return stream{r, func() { stop(); _ = r.Close() }}
}

// lineChannel is a writer that hands on each line.
type lineChannel struct {
	part  bytes.Buffer
	lines chan string
}

func (l *lineChannel) Write(p []byte) (int, error) {
	l.part.Write(p)
	for {
		i := bytes.IndexByte(l.part.Bytes(), '\n')
		if i < 0 {
			return len(p), nil
		}
		l.lines <- string(l.part.Next(i + 1))
	}
}

// health returns the options of a health command whose user is of the namespace shop.
func (s *appServer) health(t *testing.T, out, errOut io.Writer, output string, args ...string) *healthOptions {
	t.Helper()
	file, cache := filepath.Join(t.TempDir(), "kubeconfig"), t.TempDir()
	const config = `{apiVersion: v1, kind: Config, current-context: here, clusters: [{name: one, cluster: {server: "http://api.invalid"}}], users: [{name: me, user: {}}],
contexts: [{name: here, context: {cluster: one, user: me, namespace: shop}}]}`
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	env := command.Env{IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: errOut}, Getenv: func(string) string { return "" }, Now: time.Now}
	o := &healthOptions{Common: command.NewCommon(env, "tree", "json"), args: args}
	o.Output, o.timeout = output, time.Minute
	o.Config.KubeConfig, o.Config.CacheDir = &file, &cache
	wrap := o.Config.WrapConfigFn
	o.Config.WrapConfigFn = func(c *rest.Config) *rest.Config {
		c.Transport = s
		return wrap(c)
	}
	return o
}
