package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// values returns the group of an object, where the group is a field or label of the object.
func (m *MetricsResult) values(ctx context.Context) (func(object.Ref, metrics.Path) string, error) {
	switch m.Request.By {
	case cost.ByLabel, cost.ByNamespaceLabel:
		return m.nearest(m.Graph.Label), nil
	case "annotation":
		return m.nearest(m.Graph.Annotation), nil
	case "creator":
		return m.creators(ctx)
	}
	return nil, nil
}

// nearest returns the value of an object, or else that of its nearest owner that has one.
func (m *MetricsResult) nearest(value func(graph.ID, string) (string, bool)) func(object.Ref, metrics.Path) string {
	return func(item object.Ref, place metrics.Path) string {
		chain := append(slices.Clone(place.Path), item)
		if len(place.Stacks) == 1 {
			chain = append([]object.Ref{place.Stacks[0]}, chain...)
		}
		for _, ref := range slices.Backward(chain) {
			if id, ok := m.Graph.Find(ref); ok {
				if v, ok := value(id, m.Request.Key); ok {
					return v
				}
			}
		}
		return ""
	}
}

// labelOf returns the value that the label of a namespace gives to what is in it; nil where rows are
// by something else.
func (m *MetricsResult) labelOf() func(namespace string) string {
	if m.Request.By != cost.ByNamespaceLabel {
		return nil
	}
	return func(namespace string) string {
		if id, ok := m.Graph.Find(object.Ref{Kind: namespaceKind.Kind, Name: namespace}); ok {
			v, _ := m.Graph.Label(id, m.Request.Key)
			return v
		}
		return ""
	}
}

// creators finds who created the topmost owner of each object.
func (m *MetricsResult) creators(ctx context.Context) (func(object.Ref, metrics.Path) string, error) {
	top := func(item object.Ref, place metrics.Path) object.Ref {
		if len(place.Path) > 0 {
			return place.Path[0]
		}
		return item
	}
	seen := map[object.Ref]bool{}
	add := func(r object.Ref) {
		t := top(r, m.Attribution.Of[r])
		if id, ok := m.Graph.Find(t); ok && m.Graph.State(id) == graph.Present {
			seen[t] = true
		}
	}
	for i := range m.Reading.Pods {
		add(m.Reading.Pods[i].Ref)
	}
	for i := range m.Reading.Claims {
		add(m.Reading.Claims[i].Ref)
	}
	for i := range m.Reading.LoadBalancers {
		add(m.Reading.LoadBalancers[i].Service)
	}
	refs := make([]object.Ref, 0, len(seen))
	for r := range seen {
		refs = append(refs, r)
	}
	slices.SortFunc(refs, object.Compare)
	creators, err := m.Session.Creators(ctx, refs)
	if err != nil {
		return nil, err
	}
	return func(item object.Ref, place metrics.Path) string { return creators[top(item, place)] }, nil
}

// ClusterID is the usual identity of a cluster: the UID of its first namespace. A snapshot without
// that namespace is its own.
func (m *MetricsResult) ClusterID(ctx context.Context) (string, error) {
	if id, ok := m.Graph.Find(object.Ref{Kind: "Namespace", Name: "kube-system"}); ok {
		if uid := m.Graph.Node(id).UID; uid != "" {
			return string(uid), nil
		}
	}
	switch from := m.Session.Source.(type) {
	case *source.Snapshot:
		return from.Name(), nil
	case *source.Cluster:
		body, err := from.Get(ctx, "/api/v1/namespaces/kube-system", nil)
		if err != nil {
			return "", err
		}
		var ns struct {
			Metadata struct {
				UID string `json:"uid"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(body, &ns); err != nil {
			return "", err
		}
		if ns.Metadata.UID != "" {
			return ns.Metadata.UID, nil
		}
	}
	return "", fmt.Errorf("the namespace kube-system has no UID")
}

// Tags are the labels of an object.
func (m *MetricsResult) Tags(r object.Ref) map[string]string {
	if id, ok := m.Graph.Find(r); ok && m.Graph.State(id) == graph.Present {
		return m.Graph.Labels(id)
	}
	return nil
}
