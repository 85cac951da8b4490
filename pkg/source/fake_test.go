package source

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

	mu       sync.Mutex
	requests []request
	counts   map[string]int
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
	f := &fake{
		resources: map[string][]metav1.APIResource{
			"v1": {
				{Name: "namespaces", Kind: "Namespace", Verbs: verbs}, {Name: "pods", Kind: "Pod", Namespaced: true, Verbs: verbs},
				{Name: "pods/log", Kind: "Pod", Namespaced: true, Verbs: verbs}, {Name: "events", Kind: "Event", Namespaced: true, Verbs: verbs},
				{Name: "secrets", Kind: "Secret", Namespaced: true, Verbs: verbs}, {Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: verbs},
			},
			"apps/v1":                 {{Name: "deployments", Kind: "Deployment", Namespaced: true, Verbs: verbs}},
			"apiextensions.k8s.io/v1": {{Name: "customresourcedefinitions", Kind: "CustomResourceDefinition", Verbs: verbs}},
		},
		objects: map[string][]fakeObject{}, jsonOnly: map[string]bool{}, counts: map[string]int{},
	}
	f.Server = httptest.NewUnstartedServer(f)
	f.EnableHTTP2 = true
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

// serve answers a list or a get.
func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	if gv, rs := f.served(r.URL.Path); rs != "" {
		f.list(w, r, gv, rs)
		return
	}
	i := strings.LastIndexByte(r.URL.Path, '/')
	gv, rs := f.served(r.URL.Path[:i])
	name := r.URL.Path[i+1:]
	if rs == "" {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	for _, o := range f.objects[r.URL.Path[:i]] {
		if o.GetName() == name {
			f.send(w, r, gv, o.GetObjectKind().GroupVersionKind().Kind, f.encode(r, gv, o))
			return
		}
	}
	sendStatus(w, http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("%s %q not found", rs, name), name)
}

// served returns the group, version and resource of the path of a list.
func (f *fake) served(path string) (string, string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	gv, rest := "", []string(nil)
	switch {
	case parts[0] == "api" && len(parts) > 2:
		gv, rest = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		gv, rest = parts[1]+"/"+parts[2], parts[3:]
	}
	if len(rest) == 3 && rest[0] == "namespaces" {
		rest = rest[2:]
	}
	if len(rest) == 1 && slices.ContainsFunc(f.resources[gv], func(r metav1.APIResource) bool { return r.Name == rest[0] }) {
		return gv, rest[0]
	}
	return "", ""
}

func (f *fake) list(w http.ResponseWriter, r *http.Request, gv, rs string) {
	all := f.objects[r.URL.Path]
	if !strings.Contains(r.URL.Path, "/namespaces/") {
		for path, more := range f.objects {
			if g, name := f.served(path); path != r.URL.Path && g == gv && name == rs {
				all = append(slices.Clone(all), more...)
			}
		}
		slices.SortFunc(all, func(a, b fakeObject) int {
			return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
		})
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	to, next := len(all), ""
	if limit, err := strconv.Atoi(r.URL.Query().Get("limit")); err == nil && from+limit < len(all) {
		to, next = from+limit, strconv.Itoa(from+limit)
	}
	if !f.protobuf(r, gv) {
		items := []json.RawMessage{}
		for _, o := range all[from:to] {
			items = append(items, f.encode(r, gv, o))
		}
		b, _ := json.Marshal(map[string]any{"kind": "SomeList", "apiVersion": gv, "metadata": map[string]any{"continue": next}, "items": items})
		f.send(w, r, gv, "", b)
		return
	}
	meta, _ := (&metav1.ListMeta{Continue: next, ResourceVersion: "7"}).Marshal()
	b := protowire.AppendBytes(protowire.AppendTag(nil, listMeta, protowire.BytesType), meta)
	for _, o := range all[from:to] {
		b = protowire.AppendBytes(protowire.AppendTag(b, listItems, protowire.BytesType), f.encode(r, gv, o))
	}
	f.send(w, r, gv, "SomeList", b)
}

func (f *fake) protobuf(r *http.Request, gv string) bool {
	group, _, _ := strings.Cut(gv, "/")
	return strings.Contains(r.Header.Get("Accept"), protobufType) && !f.jsonOnly[group]
}

// encode writes an object as the request would have it.
func (f *fake) encode(r *http.Request, gv string, o fakeObject) []byte {
	group, _, _ := strings.Cut(gv, "/")
	if strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata") && !f.jsonOnly[group] {
		meta := &metav1.PartialObjectMetadata{}
		meta.Name, meta.Namespace, meta.UID = o.GetName(), o.GetNamespace(), o.GetUID()
		meta.Labels, meta.Annotations, meta.ManagedFields = o.GetLabels(), o.GetAnnotations(), o.GetManagedFields()
		o = meta
	}
	var b []byte
	var err error
	if f.protobuf(r, gv) {
		b, err = o.Marshal()
	} else {
		b, err = json.Marshal(o)
	}
	if err != nil {
		panic(err)
	}
	return b
}

func (f *fake) send(w http.ResponseWriter, r *http.Request, gv, kind string, b []byte) {
	if !f.protobuf(r, gv) {
		w.Header().Set("Content-Type", jsonType)
		_, _ = w.Write(b)
		return
	}
	w.Header().Set("Content-Type", protobufType)
	_, _ = w.Write(enveloped(schema.FromAPIVersionAndKind(gv, kind), b))
}

// enveloped is protobuf as a server sends it.
func enveloped(gvk schema.GroupVersionKind, raw []byte) []byte {
	version, kind := gvk.ToAPIVersionAndKind()
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: version, Kind: kind}, Raw: raw}
	b, err := u.Marshal()
	if err != nil {
		panic(err)
	}
	return append([]byte(magic), b...)
}

func sendJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}

func sendStatus(w http.ResponseWriter, code int, reason metav1.StatusReason, message, name string) {
	sendJSON(w, code, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Code: int32(code), Reason: reason, Message: message, Details: &metav1.StatusDetails{Name: name},
	})
}
