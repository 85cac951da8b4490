package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// recordingGetter is a metrics.GetFunc that records the answers. So a snapshot holds exactly the
// requests of a later measurement.
type recordingGetter struct {
	get  metrics.GetFunc
	mu   sync.Mutex
	said map[string][]byte
}

func (r *recordingGetter) Get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	body, err := r.get(ctx, path, query)
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.said[path] = body
	}
	return body, err
}

// measured returns the usage of the pods among the objects, as documents of a snapshot: their
// samples, those of their nodes, and the summaries of the kubelets. A request that is refused or
// fails is a gap; a missing API is none.
func measured(ctx context.Context, s *app.Session, objects []map[string]any) ([]map[string]any, []object.Gap, error) {
	defer s.Input.Clock.Stage("measure")()
	from, ok := s.Source.(interface {
		Get(context.Context, string, url.Values) ([]byte, error)
	})
	if !ok {
		return nil, nil, nil
	}
	var collected metrics.Collector
	for _, fields := range objects {
		u := &unstructured.Unstructured{Object: fields}
		gk := u.GroupVersionKind().GroupKind()
		collected.Add(object.Object{Ref: object.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}, Meta: u, Body: u})
	}
	reading := collected.Report(s.Input.Now(), metrics.ReportOptions{})
	asked := &recordingGetter{get: from.Get, said: map[string][]byte{}}
	for _, m := range []metrics.Source{metrics.NewAPI(asked.Get, false), metrics.NewSummary(asked.Get, nil)} {
		if err := m.Measure(ctx, reading); err != nil {
			return nil, nil, err
		}
	}
	gaps := gapsOf(reading.Notes)
	switch err := nodeSamples(ctx, asked); {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case err != nil && !apierrors.IsNotFound(err):
		reason := cmp.Or(string(apierrors.ReasonForError(err)), "Unavailable")
		gaps = append(gaps, object.Gap{Resource: "nodes.metrics.k8s.io", Reason: reason, Message: err.Error()})
	}
	docs, err := asked.documents(reading)
	return docs, gaps, err
}

// nodeSamples requests the samples of nodes, where there are some of pods.
func nodeSamples(ctx context.Context, asked *recordingGetter) error {
	for path := range asked.said {
		if rest, ok := strings.CutPrefix(path, metricsAPI); ok {
			version, _, _ := strings.Cut(rest, "/")
			_, err := asked.Get(ctx, metricsAPI+version+"/nodes", nil)
			return err
		}
	}
	return nil
}

const metricsAPI = "/apis/metrics.k8s.io/"

// gapsOf returns what sources could not read.
func gapsOf(notes []metrics.Note) []object.Gap {
	var gaps []object.Gap
	for _, n := range notes {
		if n.Source == "" || !slices.Contains([]string{"Forbidden", "Unauthorized", "Unavailable", "Timeout", "Unreadable"}, n.Reason) {
			continue
		}
		g := object.Gap{Resource: "pods.metrics.k8s.io", Namespace: n.Subject, Reason: n.Reason, Message: n.Message}
		several := strings.ContainsAny(n.Subject, ", ")
		if n.Source != "metrics.k8s.io" {
			g.Resource, several = "nodes/proxy", n.Subject != ""
		}
		if several {
			g.Namespace, g.Message = "", n.Subject+": "+n.Message
		}
		gaps = append(gaps, g)
	}
	return gaps
}

// documents returns the recorded answers about the pods and nodes of a report.
func (r *recordingGetter) documents(reading *metrics.UsageReport) ([]map[string]any, error) {
	keep := map[object.Ref]bool{}
	for i := range reading.Pods {
		p := &reading.Pods[i]
		keep[p.Ref], keep[object.Ref{Kind: "Node", Name: p.Node}] = true, true
	}
	var docs []map[string]any
	for _, path := range slices.Sorted(maps.Keys(r.said)) {
		var summary map[string]any
		if err := utiljson.Unmarshal(r.said[path], &summary); err != nil {
			return nil, fmt.Errorf("write the answer of %s: %w", path, err)
		}
		if strings.HasPrefix(path, metricsAPI) {
			docs = append(docs, samples(summary, keep)...)
			continue
		}
		node := strings.TrimSuffix(strings.TrimPrefix(path, "/api/v1/nodes/"), "/proxy/stats/summary")
		docs = append(docs, source.NodeSummary(node, ofPods(summary, node, keep)))
	}
	return docs, nil
}

// samples returns the items of a list of PodMetrics or NodeMetrics that are kept. It adds
// apiVersion and kind, which the items of a list lack.
func samples(list map[string]any, keep map[object.Ref]bool) []map[string]any {
	var out []map[string]any
	kind := strings.TrimSuffix(fmt.Sprint(list["kind"]), "List")
	items, _ := list["items"].([]any)
	for _, item := range items {
		fields, _ := item.(map[string]any)
		u := unstructured.Unstructured{Object: fields}
		if fields == nil || !keep[object.Ref{Kind: strings.TrimSuffix(kind, "Metrics"), Namespace: u.GetNamespace(), Name: u.GetName()}] {
			continue
		}
		fields["apiVersion"], fields["kind"] = list["apiVersion"], kind
		u.SetManagedFields(nil)
		out = append(out, fields)
	}
	return out
}

// ofPods reduces the summary of a kubelet to the kept pods: data of the node and of other pods does
// not leave it.
func ofPods(summary map[string]any, node string, keep map[object.Ref]bool) map[string]any {
	pods := []any{}
	all, _ := summary["pods"].([]any)
	for _, item := range all {
		pod, _ := item.(map[string]any)
		ref, _ := pod["podRef"].(map[string]any)
		namespace, _ := ref["namespace"].(string)
		name, _ := ref["name"].(string)
		if !keep[object.Ref{Kind: "Pod", Namespace: namespace, Name: name}] {
			continue
		}
		containers, _ := pod["containers"].([]any)
		for _, c := range containers {
			if c, ok := c.(map[string]any); ok {
				delete(c, "userDefinedMetrics") // An application names and labels them as it likes.
			}
		}
		pods = append(pods, pod)
	}
	return map[string]any{"node": map[string]any{"nodeName": node}, "pods": pods}
}
