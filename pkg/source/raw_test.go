package source

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

const (
	summaryOfN1 = "/api/v1/nodes/n1/proxy/stats/summary"
	podSamples  = "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods"
	prometheus  = "/api/v1/namespaces/mon/services/http:prometheus:9090/proxy/api/v1/query"
)

func TestGet(t *testing.T) {
	f := newFake(t)
	f.fault = func(w http.ResponseWriter, r *http.Request, n int) bool {
		switch {
		case r.URL.Path == prometheus:
			_, _ = w.Write([]byte(r.URL.RawQuery))
		case strings.Contains(r.URL.Path, "/busy/"), r.URL.Path == podSamples && n < 3:
			sendStatus(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "not now", "")
		case strings.Contains(r.URL.Path, "/secret/"):
			http.Error(w, "Forbidden (user=me, verb=get, resource=nodes, subresource=stats)", http.StatusForbidden)
		default:
			_, _ = w.Write([]byte("answer"))
		}
		return true
	}
	c, _ := f.cluster(t, ClusterOptions{})
	for _, want := range []struct {
		path, body string
		is         func(error) bool
		asked      int
	}{
		{summaryOfN1, "answer", nil, 1},
		{podSamples, "answer", nil, 3}, // an API is asked again
		{"/api/v1/nodes/busy/proxy/stats/summary", "", apierrors.IsServiceUnavailable, 1}, // a node is not
		{"/api/v1/nodes/secret/proxy/stats/summary", "", apierrors.IsForbidden, 1},
		{prometheus, "query=up%7Ba%3D%22b%22%7D", nil, 1},
		{"/api/v1/nodes/../secrets", "", func(err error) bool { return err != nil }, 0},
	} {
		var query url.Values
		if want.path == prometheus {
			query = url.Values{"query": {`up{a="b"}`}}
		}
		body, err := c.Get(t.Context(), want.path, query)
		if string(body) != want.body || (err == nil) != (want.is == nil) || err != nil && !want.is(err) || f.count(want.path) != want.asked {
			t.Errorf("%s: %q %v after %d requests", want.path, body, err, f.count(want.path))
		}
	}
	if last := f.log()[0]; last.accept != jsonType {
		t.Errorf("accepts %s", last.accept)
	}
}

func TestGetEnds(t *testing.T) {
	f := newFake(t)
	f.fault = func(_ http.ResponseWriter, r *http.Request, _ int) bool {
		<-r.Context().Done()
		return true
	}
	c, _ := f.cluster(t, ClusterOptions{})
	for _, path := range []string{summaryOfN1, podSamples} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, err := c.Get(ctx, path, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", path, err)
		}
		cancel()
	}
	f = newFake(t)
	c, _ = f.cluster(t, ClusterOptions{})
	f.Close()
	var gone *ConnectError
	if _, err := c.Get(t.Context(), summaryOfN1, nil); !errors.As(err, &gone) {
		t.Errorf("a server that is gone: %v", err)
	}
}

const withMetrics = `apiVersion: sysop.dev/v1alpha1
kind: Snapshot
objects: 5
gaps:
- {resource: nodes/proxy, reason: Forbidden, message: "cannot get nodes/proxy"}
- {resource: pods.metrics.k8s.io, namespace: dark, reason: Timeout, message: "too late"}
- {resource: secrets, namespace: shop, reason: Forbidden, message: "cannot list"}
creators:
- {manager: helm, objects: [Pod/shop/web]}
---
{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: web}}
---
{apiVersion: metrics.k8s.io/v1beta1, kind: PodMetrics, metadata: {namespace: shop, name: web}, containers: [{name: c, usage: {cpu: 146648300n, memory: 407491Ki}}]}
---
{apiVersion: metrics.k8s.io/v1beta1, kind: PodMetrics, metadata: {namespace: other, name: web}, containers: []}
---
{apiVersion: metrics.k8s.io/v1beta1, kind: NodeMetrics, metadata: {name: n1}, usage: {cpu: "1"}}
---
{apiVersion: sysop.dev/v1alpha1, kind: NodeSummary, metadata: {name: n1}, summary: {node: {nodeName: n1}, pods: [{podRef: {name: web, namespace: shop}, network: {rxBytes: 9007199254740993}}]}}
...
`

func TestGetFromASnapshot(t *testing.T) {
	s := snapshotOf(t, withMetrics)
	for path, want := range map[string]string{
		summaryOfN1:                          `{"node":{"nodeName":"n1"},"pods":[{"network":{"rxBytes":9007199254740993},"podRef":{"name":"web","namespace":"shop"}}]}`,
		podSamples:                           "web",
		"/apis/metrics.k8s.io/v1beta1/pods":  "web web",
		"/apis/metrics.k8s.io/v1beta1/nodes": "n1",
		"/apis/metrics.k8s.io/v1beta1/namespaces/quiet/pods": "",
	} {
		body, err := s.Get(t.Context(), path, nil)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		var list struct {
			Kind  string
			Items []metav1.PartialObjectMetadata
		}
		if err := json.Unmarshal(body, &list); err != nil {
			t.Fatal(err)
		}
		got := string(body)
		if list.Kind != "" {
			var names []string
			for _, o := range list.Items {
				names = append(names, o.Name)
			}
			got = strings.Join(names, " ")
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	for path, matches := range map[string]func(error) bool{
		"/api/v1/nodes/n2/proxy/stats/summary":              apierrors.IsForbidden, // as it was then
		"/apis/metrics.k8s.io/v1beta1/namespaces/dark/pods": apierrors.IsServiceUnavailable,
		"/apis/metrics.k8s.io/v1/namespaces/shop/pods":      apierrors.IsNotFound,
		"/api/v1/nodes/n1/proxy/metrics":                    apierrors.IsForbidden,
		"/apis/metrics.k8s.io/v1beta1/deployments":          apierrors.IsNotFound,
		prometheus: apierrors.IsNotFound,
	} {
		if body, err := s.Get(t.Context(), path, nil); !matches(err) {
			t.Errorf("%s: %s %v", path, body, err)
		}
	}
	// What is not of the graph does not come into it.
	got := read(t, s)
	if got.names() != "Pod/shop/web" || len(got.gaps) != 1 {
		t.Errorf("objects %s, gaps %v", got.names(), got.gaps)
	}
	if _, err := snapshotOf(t, "{apiVersion: v1, kind: Pod, metadata: {name: a}}").Get(t.Context(), summaryOfN1, nil); !apierrors.IsNotFound(err) {
		t.Errorf("a dump without summaries: %v", err)
	}
}

func TestSummariesThatAreWrong(t *testing.T) {
	const good = "{apiVersion: sysop.dev/v1alpha1, kind: NodeSummary, metadata: {name: n1}, summary: {}}\n---\n"
	for text, want := range map[string]string{
		good + good: "a second time",
		"{apiVersion: sysop.dev/v1alpha1, kind: NodeSummary, metadata: {name: n1}}":     "needs metadata.name",
		"{apiVersion: sysop.dev/v1alpha1, kind: NodeSummary, summary: {}}":              "needs metadata.name",
		"{apiVersion: sysop.dev/v9, kind: NodeSummary, metadata: {name: n}, summary: }": "version sysop.dev/v9",
		strings.Replace(withMetrics, "objects: 5", "objects: 6", 1):                     "it has 5 objects",
	} {
		docs, err := Parse("x", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (SnapshotOptions{}).New("x", docs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

const managed = `managedFields: [
  {manager: kubelet, operation: Update, subresource: status, time: "2026-01-01T00:00:00Z", fieldsV1: {"f:status": {}}},
  {manager: late, operation: Apply, time: "2026-01-03T00:00:00Z", fieldsV1: {"f:spec": {"f:a": {}, "f:b": {}}}},
  {manager: finalizer, operation: Update, time: "2026-01-02T00:00:00Z", fieldsV1: {"f:metadata": {"f:finalizers": {}}}},
  {manager: helm, operation: Update, time: "2026-01-02T00:00:00Z", fieldsV1: {"f:spec": {"f:a": {}, "f:b": {}}}},
  {manager: before, operation: Update}]`

// Who made an object is told by a dump with managed fields as by a cluster.
func TestCreatorsOfASnapshot(t *testing.T) {
	refs := []object.Ref{{Kind: "Pod", Namespace: "shop", Name: "web"}, {Kind: "Pod", Namespace: "shop", Name: "quiet"}, {Kind: "Pod", Namespace: "shop", Name: "none"}}
	s := snapshotOf(t, "{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: web, "+managed+"}}\n---\n{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: quiet, managedFields: [{manager: kubelet, subresource: status, time: \"2026-01-01T00:00:00Z\"}, 7]}}")
	got, err := s.Creators(t.Context(), refs)
	if want := map[object.Ref]string{refs[0]: "helm"}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v %v, want %v", got, err, want)
	}
	s = snapshotOf(t, withMetrics)
	if got, err := s.Creators(t.Context(), refs); err != nil || len(got) != 1 || got[refs[0]] != "helm" {
		t.Errorf("of our own: %v %v", got, err)
	}
}

func (f *fake) managed(ns string, names ...string) {
	at := func(day int) *metav1.Time { return &metav1.Time{Time: time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)} }
	for _, n := range names {
		p := pod(ns, n)
		p.ManagedFields = []metav1.ManagedFieldsEntry{
			{Manager: "kubelet", Subresource: "status", Time: at(1)},
			{Manager: "late", Time: at(3)},
			{Manager: "maker-of-" + n, Time: at(2), FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)},
		}
		list := "/api/v1/namespaces/" + ns + "/pods"
		f.objects[list] = append(f.objects[list], p)
	}
}

// Few are got by name, many found in one list, and what may not be read is left out.
func TestCreatorsOfACluster(t *testing.T) {
	f := newFake(t)
	f.onlyPods()
	f.managed("shop", "a", "b", "c")
	var names []string
	for i := range 40 {
		names = append(names, string(rune('A'+i)))
	}
	f.managed("many", names...)
	f.fault = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if strings.HasSuffix(r.URL.Path, "/shop/pods/b") {
			sendStatus(w, http.StatusForbidden, metav1.StatusReasonForbidden, "no", "b")
			return true
		}
		return false
	}
	c, _ := f.cluster(t, ClusterOptions{Page: 25})
	if _, err := c.Creators(t.Context(), nil); err == nil {
		t.Error("before the kinds are known")
	}
	known(t, c)
	f.forget()
	refs := []object.Ref{{Kind: "Pod", Namespace: "shop", Name: "a"}, {Kind: "Pod", Namespace: "shop", Name: "b"}, {Kind: "Pod", Namespace: "shop", Name: "gone"}, {Kind: "Pod", Namespace: "shop", Name: "../c"}, {Group: "x", Kind: "Y", Name: "z"}}
	for _, n := range names[:35] {
		refs = append(refs, object.Ref{Kind: "Pod", Namespace: "many", Name: n})
	}
	got, err := c.Creators(t.Context(), refs)
	if err != nil || len(got) != 36 || got[refs[0]] != "maker-of-a" || got[refs[39]] != "maker-of-"+names[34] {
		t.Errorf("%d: %v %v", len(got), got, err)
	}
	if n := len(f.log()); n != 5 {
		t.Errorf("%d requests, want 3 by name and 2 pages: %v", n, f.log())
	}
	for _, r := range f.log() {
		if !strings.Contains(r.accept, "as=PartialObjectMetadata") {
			t.Errorf("%s accepts %s", r.path, r.accept)
		}
	}
	f.Close()
	var gone *ConnectError
	if _, err := c.Creators(t.Context(), refs); !errors.As(err, &gone) {
		t.Errorf("a server that is gone: %v", err)
	}
}

// A snapshot that is written tells who made what has no owner, and nothing more of
// managed fields.
func TestKeeperKnowsCreators(t *testing.T) {
	f := newFake(t)
	f.onlyPods()
	f.managed("shop", "a", "owned")
	f.objects["/api/v1/namespaces/shop/pods"][1].SetOwnerReferences([]metav1.OwnerReference{{Kind: "ReplicaSet", Name: "r"}})
	c, _ := f.cluster(t, ClusterOptions{Detail: func(object.Resource) (Detail, string) { return Whole, "" }})
	known(t, c)
	k := NewMemorySink(newRecorder(), nil)
	if err := c.Read(t.Context(), Query{Namespaces: []string{"shop"}}, k); err != nil {
		t.Fatal(err)
	}
	head := CreatorsOf(k.Creators())
	if want := []Creator{{Manager: "maker-of-a", Objects: []string{"Pod/shop/a"}}}; !reflect.DeepEqual(head, want) {
		t.Errorf("%v, want %v", head, want)
	}
	for _, o := range k.Objects() {
		if _, has := o["metadata"].(map[string]any)["managedFields"]; has {
			t.Errorf("%v has managed fields", o["metadata"])
		}
	}
}
