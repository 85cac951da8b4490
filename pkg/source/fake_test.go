package source

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// fake is an API server of a few kinds: discovery by group, lists in pages, as
// protobuf, JSON or metadata, and whatever fault a test wants.
type fake struct {
	*httptest.Server
	resources map[string][]metav1.APIResource // by group and version
	objects   map[string][]fakeObject         // by path, of a list in a namespace or of a cluster-scoped kind
	jsonOnly  map[string]bool                 // groups that know nothing but whole JSON
	// fault answers a request instead, and says so; n counts those of the path.
	fault func(w http.ResponseWriter, r *http.Request, n int) bool

	world  sync.RWMutex // of objects, where they change while they are served
	past   []happened
	news   chan struct{} // closed when something has happened
	oldest int           // versions before it are compacted
	ends   []ending      // of watches, the newest last
	// unversioned lists have no version.
	unversioned atomic.Bool
	came        chan struct{} // signalled when a request has come, and when a watch streams

	mu       sync.Mutex
	requests []request
	counts   map[string]int
	opened   map[string]int // watches
	flying   int
	most     int
}

type request struct{ path, query, accept string }

type fakeObject interface {
	metav1.Object
	runtime.Object
	Marshal() ([]byte, error)
}

func newFake(t *testing.T) *fake {
	t.Helper()
	return startFake(t, nil)
}

// startFake starts a server that keeps to limits of HTTP/2.
func startFake(t *testing.T, limits *http.HTTP2Config) *fake {
	t.Helper()
	f := &fake{
		resources: map[string][]metav1.APIResource{
			"v1": {
				{Name: "namespaces", Kind: "Namespace", Verbs: verbs},
				{Name: "pods", Kind: "Pod", Namespaced: true, Verbs: verbs},
				{Name: "pods/log", Kind: "Pod", Namespaced: true, Verbs: verbs},
				{Name: "events", Kind: "Event", Namespaced: true, Verbs: verbs},
				{Name: "secrets", Kind: "Secret", Namespaced: true, Verbs: verbs},
				{Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: verbs},
			},
			"apps/v1":                 {{Name: "deployments", Kind: "Deployment", Namespaced: true, Verbs: verbs}},
			"apiextensions.k8s.io/v1": {{Name: "customresourcedefinitions", Kind: "CustomResourceDefinition", Verbs: verbs}},
		},
		objects: map[string][]fakeObject{}, jsonOnly: map[string]bool{}, counts: map[string]int{},
		opened: map[string]int{}, news: make(chan struct{}), came: make(chan struct{}, 1),
	}
	f.Server = httptest.NewUnstartedServer(f)
	f.EnableHTTP2, f.Config.HTTP2 = true, limits
	f.StartTLS()
	t.Cleanup(f.Close)
	return f
}

var verbs = metav1.Verbs{"get", "list"}

func (f *fake) config() *rest.Config {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.Certificate().Raw})
	return &rest.Config{Host: f.URL, TLSClientConfig: rest.TLSClientConfig{CAData: ca}, QPS: -1}
}

// cluster returns a source that reads the server, two objects a page, and does
// not wait between tries.
func (f *fake) cluster(t *testing.T, o ClusterOptions) (*Cluster, *waits) {
	t.Helper()
	o.Config = f.config()
	o.Config.QPS, o.Config.Burst = 0.001, 1 // who is throttled does not come back in time
	if o.Discovery == nil {
		o.Discovery = memory.NewMemCacheClient(discovery.NewDiscoveryClientForConfigOrDie(f.config()))
	}
	if o.Page == 0 {
		o.Page = 2
	}
	if o.Detail == nil {
		o.Detail = func(r object.Resource) (Detail, string) {
			if r.Custom {
				return Fields, ""
			}
			return Typed, ""
		}
	}
	c, err := NewCluster(o)
	if err != nil {
		t.Fatal(err)
	}
	w := &waits{}
	c.pause = w.pause
	return c, w
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.requests = append(f.requests, request{r.URL.Path, r.URL.RawQuery, r.Header.Get("Accept")})
	f.counts[r.URL.Path]++
	n := f.counts[r.URL.Path]
	f.flying++
	f.most = max(f.most, f.flying)
	f.mu.Unlock()
	f.signal()
	defer func() {
		f.mu.Lock()
		f.flying--
		f.mu.Unlock()
	}()
	if f.fault != nil && f.fault(w, r, n) {
		return
	}
	if !f.discover(w, r) {
		f.serve(w, r)
	}
}

// count returns how often a path was asked for.
func (f *fake) count(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[path]
}

func (f *fake) log() []request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.requests)
}

func (f *fake) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests, f.counts = nil, map[string]int{}
}

func (f *fake) discover(w http.ResponseWriter, r *http.Request) bool {
	f.world.RLock()
	defer f.world.RUnlock()
	switch r.URL.Path {
	case "/api":
		sendJSON(w, 200, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
		return true
	case "/apis":
		list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		for gv := range f.resources {
			group, version, ok := strings.Cut(gv, "/")
			if !ok {
				continue
			}
			v := metav1.GroupVersionForDiscovery{GroupVersion: gv, Version: version}
			i := slices.IndexFunc(list.Groups, func(g metav1.APIGroup) bool { return g.Name == group })
			if i < 0 {
				i = len(list.Groups)
				list.Groups = append(list.Groups, metav1.APIGroup{Name: group, PreferredVersion: v})
			}
			list.Groups[i].Versions = append(list.Groups[i].Versions, v)
		}
		sendJSON(w, 200, list)
		return true
	}
	gv := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/apis/"), "/api/")
	if rs, ok := f.resources[gv]; ok {
		sendJSON(w, 200, metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv, APIResources: rs})
		return true
	}
	return false
}
