package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// values returns how things are grouped, where that is by something that they say.
func (m *metricsResult) values(ctx context.Context) (func(object.Ref, metrics.Path) string, error) {
	switch m.q.by {
	case "label":
		return m.nearest(m.graph.Label), nil
	case "annotation":
		return m.nearest(m.graph.Annotation), nil
	case "creator":
		return m.creators(ctx)
	}
	return nil, nil
}

// nearest finds what a thing says, or else the nearest above it that says it.
func (m *metricsResult) nearest(of func(graph.ID, string) (string, bool)) func(object.Ref, metrics.Path) string {
	return func(item object.Ref, place metrics.Path) string {
		chain := append(slices.Clone(place.Path), item)
		if len(place.Stacks) == 1 {
			chain = append([]object.Ref{place.Stacks[0]}, chain...)
		}
		for _, ref := range slices.Backward(chain) {
			if id, ok := m.graph.Find(ref); ok {
				if v, ok := of(id, m.q.key); ok {
					return v
				}
			}
		}
		return ""
	}
}

// creators finds who created the topmost owner of each thing.
func (m *metricsResult) creators(ctx context.Context) (func(object.Ref, metrics.Path) string, error) {
	top := func(item object.Ref, place metrics.Path) object.Ref {
		if len(place.Path) > 0 {
			return place.Path[0]
		}
		return item
	}
	seen := map[object.Ref]bool{}
	add := func(r object.Ref) {
		t := top(r, m.place.Of[r])
		if id, ok := m.graph.Find(t); ok && m.graph.State(id) == graph.Present {
			seen[t] = true
		}
	}
	for i := range m.reading.Pods {
		add(m.reading.Pods[i].Ref)
	}
	for i := range m.reading.Claims {
		add(m.reading.Claims[i].Ref)
	}
	for i := range m.reading.LoadBalancers {
		add(m.reading.LoadBalancers[i].Service)
	}
	refs := make([]object.Ref, 0, len(seen))
	for r := range seen {
		refs = append(refs, r)
	}
	slices.SortFunc(refs, object.Compare)
	by, err := m.session.creators(ctx, refs)
	if err != nil {
		return nil, err
	}
	return func(item object.Ref, place metrics.Path) string { return by[top(item, place)] }, nil
}

// clusterID is what the field takes for the identity of a cluster: the UID of its
// first namespace. A snapshot without that namespace is its own.
func (m *metricsResult) clusterID(ctx context.Context) (string, error) {
	if id, ok := m.graph.Find(object.Ref{Kind: "Namespace", Name: "kube-system"}); ok {
		if uid := m.graph.Node(id).UID; uid != "" {
			return string(uid), nil
		}
	}
	switch from := m.session.source.(type) {
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

// tags are the labels of an object.
func (m *metricsResult) tags(r object.Ref) map[string]string {
	if id, ok := m.graph.Find(r); ok && m.graph.State(id) == graph.Present {
		return m.graph.Labels(id)
	}
	return nil
}
