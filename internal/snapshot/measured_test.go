package snapshot

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// answers is a source that answers what it was told to, and keeps the paths.
type answers struct {
	source.Source
	mu    sync.Mutex
	say   map[string]string // "forbidden" is refused
	asked []string
}

func (a *answers) Get(_ context.Context, path string, _ url.Values) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, path)
	switch said, ok := a.say[path]; {
	case !ok:
		return nil, apierrors.NewNotFound(schema.GroupResource{}, path)
	case said == "forbidden":
		return nil, apierrors.NewForbidden(schema.GroupResource{Resource: "nodes/proxy"}, path, nil)
	default:
		return []byte(said), nil
	}
}

func aPod(ns, name, node, phase string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"namespace": ns, "name": name},
		"spec": map[string]any{"nodeName": node, "containers": []any{}}, "status": map[string]any{"phase": phase},
	}
}

func (a *answers) measured(t *testing.T, objects ...map[string]any) (names []string, gaps []string) {
	t.Helper()
	now := func() time.Time { return time.Time{} }
	s := &app.Session{Input: &app.Input{Now: now, Clock: app.NewStopwatch(now)}, Source: a}
	docs, lost, err := measured(t.Context(), s, objects)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		meta := d["metadata"].(map[string]any)
		name := fmt.Sprint(d["kind"], " ", meta["name"])
		if summary, ok := d["summary"].(map[string]any); ok {
			for _, p := range summary["pods"].([]any) {
				name += " " + p.(map[string]any)["podRef"].(map[string]any)["name"].(string)
			}
			if node := summary["node"].(map[string]any); len(node) != 1 {
				t.Errorf("of the node: %v", node)
			}
		}
		names = append(names, name)
	}
	for _, g := range lost {
		gaps = append(gaps, g.Resource+" "+g.Namespace+" "+g.Reason)
	}
	slices.Sort(a.asked)
	return names, gaps
}

// A snapshot asks for one list of samples a namespace, one of nodes, and each node
// that runs a pod once.
func TestWhatASnapshotAsks(t *testing.T) {
	const list = `{"apiVersion": "metrics.k8s.io/v1", "kind": "PodMetricsList", "items": [{"metadata": {"namespace": %q, "name": "web"}}, {"metadata": {"namespace": %q, "name": "of-somebody-else"}}]}`
	a := &answers{say: map[string]string{
		"/apis/metrics.k8s.io/v1/namespaces/one/pods": fmt.Sprintf(list, "one", "one"),
		"/apis/metrics.k8s.io/v1/namespaces/two/pods": fmt.Sprintf(list, "two", "two"),
		"/apis/metrics.k8s.io/v1/nodes":               `{"apiVersion": "metrics.k8s.io/v1", "kind": "NodeMetricsList", "items": [{"metadata": {"name": "n1"}}, {"metadata": {"name": "n9"}}]}`,
		"/api/v1/nodes/n1/proxy/stats/summary":        `{"node": {"nodeName": "n1", "cpu": {}}, "pods": [{"podRef": {"namespace": "one", "name": "web"}}, {"podRef": {"namespace": "secret", "name": "web"}}]}`,
		"/api/v1/nodes/n2/proxy/stats/summary":        `{"node": {"nodeName": "n2"}, "pods": [{"podRef": {"namespace": "two", "name": "web"}, "containers": [{"name": "c", "userDefinedMetrics": [{"name": "x"}]}]}]}`,
	}}
	names, gaps := a.measured(t, aPod("one", "web", "n1", "Running"), aPod("one", "web-2", "n1", "Running"), aPod("two", "web", "n2", "Running"), aPod("three", "done", "n3", "Succeeded"))
	if got, want := strings.Join(names, "; "), "NodeSummary n1 web; NodeSummary n2 web; PodMetrics web; PodMetrics web; NodeMetrics n1"; got != want || len(gaps) != 0 {
		t.Errorf("%s, want %s; gaps %v", got, want, gaps)
	}
	if len(a.asked) != len(a.say) || len(slices.Compact(a.asked)) != len(a.say) {
		t.Errorf("asked %v", a.asked)
	}
}

// What is refused is a gap, what is not there is none, and nothing is asked for
// nobody.
func TestWhatASnapshotMayNotAsk(t *testing.T) {
	pods := []map[string]any{aPod("one", "web", "n1", "Running"), aPod("two", "web", "n2", "Running")}
	a := &answers{say: map[string]string{"/api/v1/nodes/n1/proxy/stats/summary": "forbidden", "/api/v1/nodes/n2/proxy/stats/summary": "forbidden"}}
	names, gaps := a.measured(t, pods...)
	if got := strings.Join(gaps, "; "); got != "nodes/proxy  Forbidden" || len(names) != 0 || len(a.asked) != 3 {
		t.Errorf("%v, gaps %s, asked %v", names, got, a.asked)
	}
	a = &answers{say: map[string]string{"/apis/metrics.k8s.io/v1/namespaces/one/pods": "forbidden", "/apis/metrics.k8s.io/v1/namespaces/two/pods": `{"kind": "PodMetricsList", "items": []}`, "/apis/metrics.k8s.io/v1/nodes": "forbidden"}}
	_, gaps = a.measured(t, pods...)
	if got := strings.Join(gaps, "; "); got != "pods.metrics.k8s.io one Forbidden; nodes.metrics.k8s.io  Forbidden" {
		t.Errorf("gaps %s", got)
	}
	a = &answers{}
	if _, gaps = a.measured(t, map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "n"}}); len(gaps) != 0 || len(a.asked) != 0 {
		t.Errorf("gaps %v, asked %v", gaps, a.asked)
	}
}
