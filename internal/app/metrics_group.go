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

// byLabel is how things are grouped by what the graph says of them.
func (m *MetricsResult) byLabel() cost.Grouping {
	value := func(k cost.Key, id graph.ID) string {
		var v string
		if k.IsAnnotation() {
			v, _ = m.Graph.Annotation(id, k.Name)
		} else if k.IsLabel() {
			v, _ = m.Graph.Label(id, k.Name)
		}
		return v
	}
	return cost.Grouping{
		Keys: m.Request.Keys, Cluster: m.clusterName(), Containers: m.Request.Containers,
		Custom: func(r object.Ref) bool { k, ok := m.Session.Kinds.Kind(r.GroupKind()); return ok && k.Custom },
		// Value is that of the object, or else that of its nearest owner that has one.
		Value: func(k cost.Key, item object.Ref, place metrics.Path) string {
			chain := append(slices.Clone(place.Path), item)
			if len(place.Stacks) == 1 {
				chain = append([]object.Ref{place.Stacks[0]}, chain...)
			}
			for _, ref := range slices.Backward(chain) {
				if id, ok := m.Graph.Find(ref); ok {
					if v := value(k, id); v != "" {
						return v
					}
				}
			}
			return ""
		},
		OfNamespace: func(k cost.Key, namespace string) string {
			if id, ok := m.Graph.Find(object.Ref{Kind: namespaceKind.Kind, Name: namespace}); ok {
				return value(k, id)
			}
			return ""
		},
	}
}

// grouping is how the request groups and filters things.
func (m *MetricsResult) grouping(ctx context.Context) (cost.Grouping, error) {
	g := m.byLabel()
	if !m.Request.keyed(cost.ByCreator) {
		return g, nil
	}
	creator, err := m.creators(ctx)
	value := g.Value
	g.Value = func(k cost.Key, item object.Ref, place metrics.Path) string {
		if k.By == cost.ByCreator {
			return creator(item, place)
		}
		return value(k, item, place)
	}
	return g, err
}

// shared says which things all stacks pay for by the rules of the price book; nil for none.
func (m *MetricsResult) shared() func(object.Ref) bool {
	book := m.Request.Book
	if !book.SharesAnything() || !m.isClusterWide() {
		return nil
	}
	value := m.byLabel().Values(m.Reading, m.Attribution)
	return func(thing object.Ref) bool {
		return book.Shares(thing.Namespace, func(key string) string { return value(cost.Key{By: cost.ByNamespaceLabel, Name: key}, thing) })
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
