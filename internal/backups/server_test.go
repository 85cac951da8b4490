package backups

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// server is an API server that stores objects by their paths, in memory.
type server struct {
	mu      sync.Mutex
	objects map[string]*unstructured.Unstructured
	version int
	writes  []string // verb and path of each write
	// before is called with each write, and may store objects.
	before func(verb, path string)
}

var served = map[string]string{
	"/api":                             `{"kind":"APIVersions","versions":["v1"]}`,
	"/apis":                            `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"snapshot.storage.k8s.io","versions":[{"groupVersion":"snapshot.storage.k8s.io/v1","version":"v1"}],"preferredVersion":{"groupVersion":"snapshot.storage.k8s.io/v1","version":"v1"}},{"name":"coordination.k8s.io","versions":[{"groupVersion":"coordination.k8s.io/v1","version":"v1"}],"preferredVersion":{"groupVersion":"coordination.k8s.io/v1","version":"v1"}}]}`,
	"/api/v1":                          `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[{"name":"configmaps","singularName":"configmap","namespaced":true,"kind":"ConfigMap","verbs":["get","list"]},{"name":"secrets","singularName":"secret","namespaced":true,"kind":"Secret","verbs":["get","list"]},{"name":"namespaces","singularName":"namespace","namespaced":false,"kind":"Namespace","verbs":["get","list"]}]}`,
	"/apis/snapshot.storage.k8s.io/v1": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"snapshot.storage.k8s.io/v1","resources":[{"name":"volumesnapshots","singularName":"volumesnapshot","namespaced":true,"kind":"VolumeSnapshot","verbs":["get","list"]}]}`,
	"/apis/coordination.k8s.io/v1":     `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"coordination.k8s.io/v1","resources":[{"name":"leases","singularName":"lease","namespaced":true,"kind":"Lease","verbs":["get","list"]}]}`,
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	verb, at := strings.ToLower(r.Method), r.URL.Path
	if text, ok := served[at]; ok {
		fmt.Fprint(w, text)
		return
	}
	o := &unstructured.Unstructured{}
	if verb == "post" || verb == "put" || verb == "patch" {
		if json.NewDecoder(r.Body).Decode(&o.Object) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
	}
	if verb == "post" {
		at += "/" + o.GetName()
	}
	if verb != "get" {
		s.writes = append(s.writes, verb+" "+at)
		if s.before != nil {
			s.before(verb, at)
		}
	}
	was := s.objects[at]
	switch {
	case verb == "get" && was == nil && resources[path.Base(at)]:
		s.list(w, at, r.URL.Query().Get("labelSelector"))
	case was == nil && verb != "post":
		status(w, http.StatusNotFound, "NotFound")
	case was != nil && verb == "post":
		status(w, http.StatusConflict, "AlreadyExists")
	case verb == "delete":
		var options struct{ Preconditions struct{ UID string } }
		_ = json.NewDecoder(r.Body).Decode(&options) // a delete may have none
		if uid := options.Preconditions.UID; uid != "" && uid != string(was.GetUID()) {
			status(w, http.StatusConflict, "Conflict")
			return
		}
		delete(s.objects, at)
		status(w, http.StatusOK, "")
	case verb == "get":
		_ = json.NewEncoder(w).Encode(was)
	default:
		_ = json.NewEncoder(w).Encode(s.put(at, o))
	}
}

var resources = map[string]bool{"configmaps": true, "secrets": true, "namespaces": true, "leases": true, "storageclasses": true}

// put stores an object as it is written.
func (s *server) put(at string, o *unstructured.Unstructured) *unstructured.Unstructured {
	s.version++
	if was := s.objects[at]; was != nil {
		o.SetUID(was.GetUID())
	} else {
		o.SetUID(types.UID(fmt.Sprint("uid-", s.version)))
	}
	o.SetResourceVersion(fmt.Sprint(s.version))
	s.objects[at] = o
	return o
}

func (s *server) list(w http.ResponseWriter, at, label string) {
	items := []any{}
	for _, p := range slices.Sorted(maps.Keys(s.objects)) {
		if _, labelled := s.objects[p].GetLabels()[label]; path.Dir(p) == at && (label == "" || labelled) {
			items = append(items, s.objects[p].Object)
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "List", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": fmt.Sprint(s.version)}, "items": items})
}

func status(w http.ResponseWriter, code int, reason string) {
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":%[1]q}`, reason, code)
}

// report keeps the warnings.
type report struct{ warnings []string }

func (*report) Gaps([]object.Gap)  {}
func (r *report) Warn(text string) { r.warnings = append(r.warnings, text) }
func (*report) Note(string)        {}
func (*report) Progress(string)    {}
func (*report) Timings(string)     {}

// newServer starts a server with some objects, and returns how to reach it in the namespace shop.
func newServer(t *testing.T, objects ...*unstructured.Unstructured) (*server, *app.Input, *report) {
	t.Helper()
	s := &server{objects: map[string]*unstructured.Unstructured{}}
	for _, o := range objects {
		s.put("/api/v1/namespaces/"+o.GetNamespace()+"/"+strings.ToLower(o.GetKind())+"s/"+o.GetName(), o)
	}
	s.put("/apis/storage.k8s.io/v1/storageclasses/fast", &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": map[string]any{"name": "fast"}, "provisioner": "csi.example.com",
	}})
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: here, clusters: [{name: one, cluster: {server: %q}}], users: [{name: me, user: {}}],
contexts: [{name: here, context: {cluster: one, user: me, namespace: shop}}]}`, web.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	config, cache, r := genericclioptions.NewConfigFlags(true), t.TempDir(), &report{}
	config.KubeConfig, config.CacheDir = &file, &cache
	now := func() time.Time { return time.Date(2026, 9, 10, 0, 0, 0, 0, time.UTC) }
	return s, &app.Input{Config: config, Now: now, Clock: app.NewStopwatch(now), Report: r}, r
}
