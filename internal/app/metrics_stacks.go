package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// Read reads the graph, and finds the stacks of the request.
func (m *MetricsResult) Read(ctx context.Context) error {
	s, q := m.Session, m.Request
	opts := m.StackOptions()
	if len(q.Args) == 0 {
		first := source.Query{All: true}
		if !m.Input.AllNamespaces && s.Namespace != "" {
			first = m.widen(source.Query{Namespaces: m.alongside([]string{s.Namespace}), Kinds: s.Rules.Crossing()})
		}
		g, err := s.Read(ctx, first, s.Everything, opts)
		if err != nil {
			return err
		}
		m.Graph, m.Home = g, s.Namespace
		return nil
	}
	m.asked = true
	roots, err := SelectedRoots(q.Args, q.Selector, s.Kinds)
	if err != nil {
		return err
	}
	first := s.Query(roots)
	if !first.All {
		first.Namespaces = m.alongside(first.Namespaces)
	}
	g, err := s.Read(ctx, m.widen(first), func(g *graph.Graph) []graph.ID { return s.Resolve(g, roots, m.Request.Selector) }, opts)
	if err != nil {
		return err
	}
	if err := s.Missing(g, roots, m.Request.Selector); err != nil {
		return err
	}
	m.Graph, m.Home = g, s.CommonNamespace(g, s.Resolve(g, roots, m.Request.Selector))
	m.stacks = q.Rows.stacks(roots, func(r Root) []metrics.Stack { return s.StacksOf(g, r, s.Nodes(g, r, m.Request.Selector)) })
	m.fold(opts)
	return nil
}

// widen adds to a query what a cost depends on beyond its namespaces: all pods and nodes, where idle
// cost is split, and the namespaces whose labels are read.
func (m *MetricsResult) widen(first source.Query) source.Query {
	if len(m.Request.asksFor(cost.Key.OfNamespace)) > 0 && !first.All {
		first.Kinds = append(slices.Clone(first.Kinds), namespaceKind)
		first.Objects = slices.Clone(first.Objects)
		for _, ns := range first.Namespaces { // where the list is refused
			first.Objects = append(first.Objects, object.Ref{Kind: namespaceKind.Kind, Name: ns})
		}
	}
	if m.Request.Options.ShareIdle && !first.All {
		first.Kinds = append(slices.Clone(first.Kinds), PodKind, NodeKind)
	}
	return first
}

// alongside adds the namespaces whose cost all stacks share.
func (m *MetricsResult) alongside(namespaces []string) []string {
	namespaces = slices.Concat(namespaces, m.Request.Options.ShareNamespaces)
	slices.Sort(namespaces)
	return slices.Compact(namespaces)
}

// The kinds of the core group that figures are about.
var (
	PodKind       = object.Ref{Kind: "Pod"}.GroupKind()
	NodeKind      = object.Ref{Kind: "Node"}.GroupKind()
	namespaceKind = object.Ref{Kind: "Namespace"}.GroupKind()
)

// StacksOf returns the stacks of one root: that of each node, or one for a group.
func (s *Session) StacksOf(g *graph.Graph, r Root, ids []graph.ID) []metrics.Stack {
	if r.Group != "" && len(ids) > 0 {
		ref := object.Ref{Kind: r.Group, Namespace: s.NamespaceOf(r), Name: r.Name}
		if keepers := s.keepersOf(g, r); r.Group == graph.BySystem && len(keepers) == 1 {
			ref.Namespace = g.Ref(keepers[0]).Namespace
		}
		return []metrics.Stack{{Ref: ref, Roots: ids}}
	}
	var out []metrics.Stack
	for _, id := range ids {
		out = append(out, metrics.Stack{Ref: g.Ref(id), Roots: []graph.ID{id}})
	}
	return out
}

// fold leaves out stacks that were named twice, and those whose root another one owns: their cost
// is a line of the owner.
func (m *MetricsResult) fold(opts graph.StackOptions) {
	roots := map[graph.ID]object.Ref{}
	for _, s := range m.stacks {
		for _, id := range s.Roots {
			roots[id] = s.Ref
		}
	}
	seen, folded := map[object.Ref]bool{}, map[graph.ID]bool{}
	m.stacks = slices.DeleteFunc(m.stacks, func(s metrics.Stack) bool {
		if seen[s.Ref] {
			return true
		}
		seen[s.Ref] = true
		if len(s.Roots) != 1 {
			return false
		}
		for _, above := range m.Graph.OwnerPath(s.Roots[0], opts) {
			// If stacks own each other in a cycle, one stays.
			if in, ok := roots[above]; ok && !folded[above] {
				folded[s.Roots[0]] = true
				m.extra = append(m.extra, metrics.Note{Subject: s.Ref.String(), Reason: "Part", Message: fmt.Sprintf("is owned by %s, and shown in its stack", in)})
				return true
			}
		}
		return false
	})
}

// find finds the stacks by the pods of a report, where the request names none.
func (m *MetricsResult) find(r *metrics.UsageReport) {
	if m.fixed {
		return
	}
	if m.Request.Applications {
		m.applications = m.Session.Applications(m.Graph, m.StackOptions())
		m.stacks = nil
		for _, f := range m.applications.Stacks {
			m.stacks = append(m.stacks, metrics.Stack{Ref: f.Ref(m.Graph), Roots: f.Roots})
		}
		m.apexes = m.roots()
		m.atHome()
		return
	}
	var named, all []graph.ID
	for i := range r.Pods {
		if id, ok := m.nearestOwner(&r.Pods[i]); ok {
			all = append(all, id)
			if m.inNamespace(r.Pods[i].Ref) {
				named = append(named, id)
			}
		}
	}
	for _, ref := range costing(r) {
		// A stack without pods may still have claims, and load balancers.
		id, ok := m.Graph.Find(ref)
		if !ok || len(m.Graph.OwnerPath(id, m.StackOptions())) == 0 {
			continue
		}
		all = append(all, id)
		if m.inNamespace(ref) {
			named = append(named, id)
		}
	}
	m.apexes = m.Graph.TopOwners(all, m.StackOptions())
	if m.asked {
		return
	}
	apexes := m.apexes
	if len(named) < len(all) {
		apexes = m.Graph.TopOwners(named, m.StackOptions())
	}
	m.stacks = nil
	for _, id := range apexes {
		m.stacks = append(m.stacks, metrics.Stack{Ref: m.Graph.Ref(id), Roots: []graph.ID{id}})
	}
	m.atHome()
}

// atHome notes the namespace that all stacks have in common.
func (m *MetricsResult) atHome() {
	m.Home = cmp.Or(m.Home, m.Session.CommonNamespace(m.Graph, m.roots()))
}

// nearestOwner returns the node of a pod, or of its nearest owner that still exists.
func (m *MetricsResult) nearestOwner(pod *metrics.Pod) (graph.ID, bool) {
	for _, ref := range append([]object.Ref{pod.Ref}, pod.Owners...) {
		if id, ok := m.Graph.Find(ref); ok && m.Graph.State(id) == graph.Present {
			return id, true
		}
	}
	return 0, false
}

// inNamespace reports whether an object is in the namespace of the request.
func (m *MetricsResult) inNamespace(r object.Ref) bool {
	return m.everywhere() || r.Namespace == m.Session.Namespace
}

// everywhere reports that the request is not limited to one namespace.
func (m *MetricsResult) everywhere() bool { return m.Session.Namespace == "" || m.Input.AllNamespaces }

// isClusterWide reports that the request covers the whole cluster.
func (m *MetricsResult) isClusterWide() bool { return !m.asked && m.everywhere() }

func (m *MetricsResult) roots() []graph.ID {
	var roots []graph.ID
	for _, s := range m.stacks {
		roots = append(roots, s.Roots...)
	}
	return roots
}

// SharedAmong is among which stacks the cost of what several of them need is split: a stack that is
// requested alone pays all that it needs.
func (m *MetricsResult) SharedAmong() string {
	if len(m.Clusters) > 0 { // nothing is shared between clusters
		return m.Clusters[0].SharedAmong()
	}
	switch {
	case m.asked && len(m.stacks) == 1:
		return "alone"
	case m.asked:
		return "requested"
	case m.everywhere():
		return "cluster"
	}
	return "namespace"
}

// HealthyPods counts the healthy pods of each stack.
func (m *MetricsResult) HealthyPods(a *health.Assessment) map[object.Ref]int {
	n := map[object.Ref]int{}
	for i := range m.Reading.Pods {
		ref := m.Reading.Pods[i].Ref
		id, ok := m.Graph.Find(ref)
		if !ok || a.OwnHealth(id).Status != health.Healthy {
			continue
		}
		for _, stack := range m.Attribution.Of[ref].Stacks {
			n[stack]++
		}
	}
	return n
}
