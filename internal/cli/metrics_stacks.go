package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// read reads the graph, and finds the stacks that are asked about.
func (m *metricsResult) read(ctx context.Context) error {
	s, q := m.session, m.q
	opts := m.stackOptions()
	if len(q.args) == 0 {
		first := source.Query{All: true}
		if !m.in.allNamespaces && s.namespace != "" {
			first = m.idling(source.Query{Namespaces: m.alongside([]string{s.namespace}), Kinds: s.rules.Crossing()})
		}
		g, err := s.read(ctx, first, s.everything, opts)
		if err != nil {
			return err
		}
		m.graph, m.home = g, s.namespace
		return nil
	}
	m.asked = true
	roots, err := selectedRoots(q.args, q.selector, s.kinds)
	if err != nil {
		return err
	}
	first := s.ask(roots)
	if !first.All {
		first.Namespaces = m.alongside(first.Namespaces)
	}
	g, err := s.read(ctx, m.idling(first), func(g *graph.Graph) []graph.ID { return s.resolve(g, roots, m.q.selector) }, opts)
	if err != nil {
		return err
	}
	if err := s.missing(g, roots, m.q.selector); err != nil {
		return err
	}
	m.graph, m.home = g, s.home(g, s.resolve(g, roots, m.q.selector))
	m.stacks = q.rows.stacks(roots, func(r rootArg) []metrics.Stack { return s.stacksOf(g, r, s.nodes(g, r, m.q.selector)) })
	m.fold(opts)
	return nil
}

// idling asks for all pods and nodes as well, where what is idle is spread: that
// depends on all who run on a node.
func (m *metricsResult) idling(first source.Query) source.Query {
	if m.q.options.ShareIdle && !first.All {
		first.Kinds = append(slices.Clone(first.Kinds), podKind, nodeKind)
	}
	return first
}

// alongside adds the namespaces that all stacks pay for.
func (m *metricsResult) alongside(namespaces []string) []string {
	namespaces = slices.Concat(namespaces, m.q.options.ShareNamespaces)
	slices.Sort(namespaces)
	return slices.Compact(namespaces)
}

var (
	podKind       = object.Ref{Kind: "Pod"}.GroupKind()
	nodeKind      = object.Ref{Kind: "Node"}.GroupKind()
	namespaceKind = object.Ref{Kind: "Namespace"}.GroupKind()
)

// stacksOf are the stacks that one ROOT means: that of each node, or one for a group.
func (s *session) stacksOf(g *graph.Graph, r rootArg, ids []graph.ID) []metrics.Stack {
	if r.group != "" && len(ids) > 0 {
		ref := object.Ref{Kind: r.group, Namespace: s.namespaceOf(r), Name: r.name}
		if keepers := s.keepersOf(g, r); r.group == graph.BySystem && len(keepers) == 1 {
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

// fold leaves out stacks that are asked about twice, and those whose root another
// one owns: they are a part of it and have their line in it.
func (m *metricsResult) fold(opts graph.StackOptions) {
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
		for _, above := range m.graph.OwnerPath(s.Roots[0], opts) {
			// Of those that own each other in a ring, one stays.
			if in, ok := roots[above]; ok && !folded[above] {
				folded[s.Roots[0]] = true
				m.extra = append(m.extra, metrics.Note{Subject: s.Ref.String(), Reason: "Part", Message: fmt.Sprintf("is owned by %s, and shown in its stack", in)})
				return true
			}
		}
		return false
	})
}

// find finds the stacks by the pods of a reading: those that are asked about, where
// none are named.
func (m *metricsResult) find(r *metrics.UsageReport) {
	if m.q.find != nil {
		m.stacks = m.q.find(m)
		m.apexes = m.roots()
		m.atHome()
		return
	}
	var here, all []graph.ID
	for i := range r.Pods {
		if id, ok := m.nearestOwner(&r.Pods[i]); ok {
			all = append(all, id)
			if m.inNamespace(r.Pods[i].Ref) {
				here = append(here, id)
			}
		}
	}
	for _, ref := range costing(r) {
		// A stack without pods may still have claims, and load balancers.
		id, ok := m.graph.Find(ref)
		if !ok || len(m.graph.OwnerPath(id, m.stackOptions())) == 0 {
			continue
		}
		all = append(all, id)
		if m.inNamespace(ref) {
			here = append(here, id)
		}
	}
	m.apexes = m.graph.TopOwners(all, m.stackOptions())
	if m.asked {
		return
	}
	apexes := m.apexes
	if len(here) < len(all) {
		apexes = m.graph.TopOwners(here, m.stackOptions())
	}
	m.stacks = nil
	for _, id := range apexes {
		m.stacks = append(m.stacks, metrics.Stack{Ref: m.graph.Ref(id), Roots: []graph.ID{id}})
	}
	m.atHome()
}

// atHome notes the namespace that all stacks have in common.
func (m *metricsResult) atHome() { m.home = cmp.Or(m.home, m.session.home(m.graph, m.roots())) }

// nearestOwner returns the node of a pod, or of the nearest of its owners that is still
// there.
func (m *metricsResult) nearestOwner(pod *metrics.Pod) (graph.ID, bool) {
	for _, ref := range append([]object.Ref{pod.Ref}, pod.Owners...) {
		if id, ok := m.graph.Find(ref); ok && m.graph.State(id) == graph.Present {
			return id, true
		}
	}
	return 0, false
}

// inNamespace says whether a thing is in the namespace that is asked about.
func (m *metricsResult) inNamespace(r object.Ref) bool {
	return m.everywhere() || r.Namespace == m.session.namespace
}

// everywhere says that the question is not about one namespace.
func (m *metricsResult) everywhere() bool { return m.session.namespace == "" || m.in.allNamespaces }

// isClusterWide says that the question is about all that is in the cluster.
func (m *metricsResult) isClusterWide() bool { return !m.asked && m.everywhere() }

func (m *metricsResult) roots() []graph.ID {
	var roots []graph.ID
	for _, s := range m.stacks {
		roots = append(roots, s.Roots...)
	}
	return roots
}

// well counts the healthy pods of each stack.
func (m *metricsResult) well(a *health.Assessment) map[object.Ref]int {
	n := map[object.Ref]int{}
	for i := range m.reading.Pods {
		ref := m.reading.Pods[i].Ref
		id, ok := m.graph.Find(ref)
		if !ok || a.OwnHealth(id).Status != health.Healthy {
			continue
		}
		for _, stack := range m.place.Of[ref].Stacks {
			n[stack]++
		}
	}
	return n
}
