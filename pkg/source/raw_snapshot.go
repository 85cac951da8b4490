package source

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// SummaryKind is the kind of a snapshot's document with a kubelet's stats/summary.
const SummaryKind = "NodeSummary"

// NodeSummary returns the document for the summary of a node's kubelet.
func NodeSummary(node string, summary map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": APIVersion, "kind": SummaryKind,
		"metadata": map[string]any{"name": node}, "summary": summary,
	}
}

func isSummary(doc map[string]any) bool {
	version, _ := doc["apiVersion"].(string)
	return doc["kind"] == SummaryKind && strings.HasPrefix(version, "sysop.dev/")
}

// takeSummary stores a summary. It is no object of a cluster.
func (s *Snapshot) takeSummary(d *Document) error {
	meta, _ := d.Object["metadata"].(map[string]any)
	node := textOf(meta, "name")
	summary, ok := d.Object["summary"].(map[string]any)
	switch {
	case d.Object["apiVersion"] != APIVersion:
		return fmt.Errorf("%s: a summary of version %v: this program reads %s", d.At, d.Object["apiVersion"], APIVersion)
	case node == "" || !ok:
		return fmt.Errorf("%s: a %s needs metadata.name, the node, and summary", d.At, SummaryKind)
	case s.summaries[node] != nil:
		return fmt.Errorf("%s: the summary of node %s occurs a second time", d.At, node)
	}
	if s.summaries == nil {
		s.summaries = map[string]map[string]any{}
	}
	s.summaries[node] = summary
	return nil
}

// Get returns what Cluster.Get would have, from the snapshot: the lists of the resource metrics
// API, and the summaries of kubelets. What was refused when the snapshot was taken is refused with
// the same message; everything else is NotFound.
func (s *Snapshot) Get(ctx context.Context, path string, _ url.Values) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if node, ok := strings.CutPrefix(path, nodesPath); ok {
		node, _ = strings.CutSuffix(node, "/proxy/stats/summary")
		if summary, ok := s.summaries[node]; ok {
			return json.Marshal(summary)
		}
		return nil, s.notTaken("nodes/proxy", "", path, fmt.Sprintf("the snapshot holds no summary of node %s", node))
	}
	gvk, ns, ok := metricsPath(path)
	if !ok {
		return nil, s.notTaken("", "", path, "a snapshot cannot answer this request")
	}
	resource := schema.GroupResource{Group: gvk.Group, Resource: strings.ToLower(strings.TrimSuffix(gvk.Kind, "Metrics")) + "s"}
	items, found := []any{}, false
	for _, e := range s.entries {
		if e.ref.GroupKind() != gvk.GroupKind() || e.body.GroupVersionKind().Version != gvk.Version {
			continue
		}
		found = true
		if ns == "" || e.ref.Namespace == ns {
			items = append(items, e.body.Object)
		}
	}
	if !found || len(items) == 0 && s.gapOf(resource.String(), ns) != nil {
		return nil, s.notTaken(resource.String(), ns, path, "the snapshot holds no metrics of "+resource.Resource)
	}
	return json.Marshal(map[string]any{"apiVersion": gvk.GroupVersion().String(), "kind": gvk.Kind + "List", "metadata": map[string]any{}, "items": items})
}

// metricsPath parses the path of a list of the resource metrics API.
func metricsPath(path string) (gvk schema.GroupVersionKind, ns string, ok bool) {
	rest, ok := strings.CutPrefix(path, "/apis/metrics.k8s.io/")
	if !ok {
		return gvk, "", false
	}
	parts := strings.Split(rest, "/")
	gvk = schema.GroupVersionKind{Group: "metrics.k8s.io", Version: parts[0]}
	switch {
	case len(parts) == 2 && parts[1] == "pods":
		gvk.Kind = "PodMetrics"
	case len(parts) == 2 && parts[1] == "nodes":
		gvk.Kind = "NodeMetrics"
	case len(parts) == 4 && parts[1] == "namespaces" && parts[3] == "pods":
		gvk.Kind, ns = "PodMetrics", parts[2]
	default:
		return gvk, "", false
	}
	return gvk, ns, true
}

// notTaken returns the error for a path that is not in the snapshot: that of the gap in its header,
// or NotFound.
func (s *Snapshot) notTaken(resource, ns, path, message string) error {
	code, reason := http.StatusNotFound, metav1.StatusReasonNotFound
	if g := s.gapOf(resource, ns); g != nil {
		message, reason = g.Message, metav1.StatusReason(g.Reason)
		switch reason {
		case metav1.StatusReasonForbidden:
			code = http.StatusForbidden
		case metav1.StatusReasonUnauthorized:
			code = http.StatusUnauthorized
		default:
			code, reason = http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable
		}
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
		Details: &metav1.StatusDetails{Name: path},
	}}
}

// gapOf returns the gap in the header for a usage resource.
func (s *Snapshot) gapOf(resource, ns string) *object.Gap {
	if s.head == nil || resource == "" {
		return nil
	}
	for i := range s.head.Gaps {
		if g := &s.head.Gaps[i]; g.Resource == resource && (g.Namespace == ns || g.Namespace == "" || ns == "") {
			return g
		}
	}
	return nil
}

// ofUsage reports whether a gap is about usage, and not about objects.
func ofUsage(resource string) bool {
	return resource == "nodes/proxy" || strings.HasSuffix(resource, ".metrics.k8s.io")
}
