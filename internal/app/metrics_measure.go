package app

import "github.com/kubectl-sysop/kubectl-sysop/internal/prometheus"

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// MetricsResult is one answer of the metrics command, before it is shown.
type MetricsResult struct {
	Input   *Input
	Request *MetricsRequest
	Session *Session
	Graph   *graph.Graph
	stacks  []metrics.Stack
	// applications are the stacks with what is in none of them, if the request selects these.
	applications graph.FoundStacks
	apexes       []graph.ID // the roots of all known stacks
	asked        bool       // for some stacks, not for all of a namespace or the cluster
	whole        bool       // every pod of the cluster is in the report, until it is priced
	Reading      *metrics.UsageReport
	Attribution  *metrics.Attribution
	Ledger       *cost.Ledger
	Report       *cost.Report
	// Periods are those of the window, where the request divides it; Divided has a row for each.
	Periods []cost.Period
	Divided *cost.Report
	Home    string
	// Options are those by which the ledger was made.
	Options cost.Options
	// Clusters are the results that a report of several clusters sums up; that has no Graph and no
	// Session of its own.
	Clusters []*MetricsResult
	fixed    bool // the stacks are those of a longer window
	extra    []metrics.Note
	// resources are the extended ones that the book and the cluster know by their full names.
	resources []metrics.Resource
}

// Measure reads the cluster and the sources of usage, and makes the report.
func (c *Input) Measure(ctx context.Context, q *MetricsRequest) (*MetricsResult, error) {
	asked := *q
	if err := asked.SetWindow(c.Now()); err != nil {
		return nil, err
	}
	return c.measure(ctx, &asked)
}

// measure makes the report of a request whose window is computed.
func (c *Input) measure(ctx context.Context, q *MetricsRequest) (*MetricsResult, error) {
	// A request may run again: state of one run must not reach the next.
	in, asked := *c, *q
	in.rules = nil // each learns its own
	q = &asked
	q.History = q.History.ForCluster(c.ClusterName())
	m := &MetricsResult{Input: &in, Request: q}
	collector := &metrics.Collector{}
	in.Collect, in.Notes = collector.Add, []string{WeightAnnotation}
	for _, k := range q.asksFor(cost.Key.IsAnnotation) {
		in.Notes = append(in.Notes, k.Name)
	}
	var err error
	if m.Session, err = in.Open(ctx); err != nil {
		return nil, err
	}
	if err := m.Read(ctx); err != nil {
		return nil, err
	}
	m.Session.ReportGaps(m.Graph)
	defer in.Clock.Stage("measure")()
	if err := m.Compute(ctx, collector); err != nil || q.Every == "" {
		in.Collect = nil // what it kept is in the report
		return m, err
	}
	return m, m.divide(ctx, collector)
}

// Compute makes the report of what was read.
func (m *MetricsResult) Compute(ctx context.Context, collector *metrics.Collector) error {
	m.scope(collector)
	if err := m.usage(ctx); err != nil {
		return err
	}
	m.price()
	m.alsoNeeded()
	if err := m.filter(ctx); err != nil {
		return err
	}
	return m.roll(ctx)
}

// costing returns the objects other than pods that have a cost.
func costing(r *metrics.UsageReport) []object.Ref {
	var refs []object.Ref
	for i := range r.Claims {
		refs = append(refs, r.Claims[i].Ref)
	}
	for i := range r.LoadBalancers {
		refs = append(refs, r.LoadBalancers[i].Service)
	}
	return refs
}

// scope makes the report that is to be measured, from the scope of the request.
func (m *MetricsResult) scope(collector *metrics.Collector) {
	m.whole = (m.isClusterWide() || m.Request.Options.ShareIdle) && m.hasAllPods()
	options := metrics.ReportOptions{Whole: m.whole, Containers: m.Request.Containers}
	read := func() *metrics.UsageReport {
		if w := m.Request.Window; w != nil {
			return collector.Window(w.From, w.To, options)
		}
		return collector.Report(m.Session.now(), options)
	}
	all := read()
	m.resources = slices.Concat(m.Request.Book.Resources(), collector.Resources())
	m.find(all)
	for _, namespace := range m.Request.Options.ShareNamespaces {
		if !costs(all, namespace) {
			m.extra = append(m.extra, metrics.Note{Subject: "Namespace/" + namespace, Reason: "Sharing", Message: "has no shared cost: no pod, volume claim or load balancer was found in it"})
		}
	}
	if shares := m.Request.Options; (len(shares.ShareNamespaces) > 0 || shares.ShareOverhead.IsPositive()) && (m.asked || m.Session.Namespace != "") {
		m.extra = append(m.extra, metrics.Note{Reason: "Sharing", Message: "shared cost is split among the requested stacks only: -A without a ROOT splits it among all"})
	}
	if m.Request.Book.SharesAnything() && m.Request.Options.Sharing != cost.ShareNone && !m.isClusterWide() {
		m.extra = append(m.extra, metrics.Note{Reason: "Sharing", Message: "without the cost that the price book shares among all stacks of the cluster: -A without a ROOT includes it"})
	}
	if m.Request.Options.ShareIdle && !m.whole {
		m.extra = append(m.extra, metrics.Note{Reason: "Idle", Message: "idle cost is unknown: not every pod of the cluster was read"})
	}
	m.Attribution = metrics.NewPlacement(m.Graph, m.stacks, all, m.StackOptions())
	m.Reading = all
	if !m.whole {
		// Idle cost is split among all pods of a node; what is outside the request takes its part.
		options.Keep = m.keeps
		m.Reading = read()
	}
}

// costs reports whether anything in a namespace has a cost.
func costs(r *metrics.UsageReport, namespace string) bool {
	return slices.ContainsFunc(r.Pods, func(p metrics.Pod) bool { return p.Ref.Namespace == namespace }) ||
		slices.ContainsFunc(r.Claims, func(c metrics.Claim) bool { return c.Ref.Namespace == namespace }) ||
		slices.ContainsFunc(r.LoadBalancers, func(b metrics.LoadBalancer) bool { return b.Service.Namespace == namespace })
}

// StackOptions are those by which stacks are followed.
func (m *MetricsResult) StackOptions() graph.StackOptions {
	return graph.StackOptions{NoInferred: m.Input.NoInferred}
}

// keeps reports whether an object belongs to a selected stack, to the namespace, or to what all
// share.
func (m *MetricsResult) keeps(r object.Ref) bool {
	_, placed := m.Attribution.Of[r]
	return placed || !m.asked && m.inNamespace(r) || slices.Contains(m.Request.Options.ShareNamespaces, r.Namespace)
}

// drop removes from the report what is not kept.
func (m *MetricsResult) drop() {
	r := m.Reading
	r.Pods = slices.DeleteFunc(r.Pods, func(p metrics.Pod) bool { return !m.keeps(p.Ref) })
	r.Claims = slices.DeleteFunc(r.Claims, func(c metrics.Claim) bool { return !m.keeps(c.Ref) })
	r.LoadBalancers = slices.DeleteFunc(r.LoadBalancers, func(b metrics.LoadBalancer) bool { return !m.keeps(b.Service) })
	r.Unclaimed = slices.DeleteFunc(r.Unclaimed, func(v metrics.Volume) bool { return !m.keeps(v.Ref()) })
}

// usage queries the sources.
func (m *MetricsResult) usage(ctx context.Context) error {
	sources, err := m.sources()
	if err != nil {
		return err
	}
	if m.Request.Wrap != nil {
		sources = m.Request.Wrap(sources)
	}
	for _, source := range sources {
		if err := source.Measure(ctx, m.Reading); err != nil {
			return prometheus.WithRemedy(err)
		}
	}
	metrics.Settle(m.Reading)
	if m.Request.Window != nil {
		m.find(m.Reading)
		m.Attribution = metrics.NewPlacement(m.Graph, m.stacks, m.Reading, m.StackOptions())
		if m.asked {
			m.unplaced()
		}
		if !m.whole {
			m.drop()
		}
	}
	m.flat()
	m.noteUnreadNamespaces()
	m.noteEmptyStacks()
	m.Reading.Notes = append(m.Reading.Notes, m.extra...)
	return nil
}

// noteEmptyStacks notes the selected stacks that hold nothing with a cost. Where others only live
// in or run on one, it shows how to select those.
func (m *MetricsResult) noteEmptyStacks() {
	if !m.asked {
		return
	}
	filled := map[object.Ref]bool{}
	for _, place := range m.Attribution.Of {
		for _, stack := range place.Stacks {
			filled[stack] = true
		}
	}
	for _, s := range m.stacks {
		if filled[s.Ref] {
			continue
		}
		message := "holds no pod, volume claim or load balancer"
		switch s.Ref.GroupKind() {
		case namespaceKind:
			message += " (-n " + s.Ref.Name + " without a ROOT shows the stacks in it)"
		case NodeKind:
			message += " (-A --by node shows what runs on each)"
		}
		m.extra = append(m.extra, metrics.Note{Subject: s.Ref.String(), Reason: "Empty", Message: message})
	}
}

// flat notes the nodes without data: no price can be specific to them.
func (m *MetricsResult) flat() {
	known := map[string]bool{"": true}
	for i := range m.Reading.Nodes {
		known[m.Reading.Nodes[i].Name] = true
	}
	var nodes []string
	for i := range m.Reading.Pods {
		if name := m.Reading.Pods[i].Node; !known[name] {
			known[name], nodes = true, append(nodes, name)
		}
	}
	if len(nodes) == 0 {
		return
	}
	m.extra = append(m.extra, metrics.Note{Subject: someOf(nodes), Reason: "FlatPrices", Message: "unknown nodes: their pods have the prices that apply to any node"})
}

// someOf sorts names and writes the first ones.
func someOf(names []string) string {
	const maxShown = 4
	slices.Sort(names)
	text := strings.Join(names[:min(maxShown, len(names))], ", ")
	if more := len(names) - maxShown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// noteUnreadNamespaces notes the namespaces whose labels rows need, and that were not read.
func (m *MetricsResult) noteUnreadNamespaces() {
	keys := m.Request.asksFor(cost.Key.OfNamespace)
	if len(keys) == 0 {
		return
	}
	refs := costing(m.Reading)
	for i := range m.Reading.Pods {
		refs = append(refs, m.Reading.Pods[i].Ref)
	}
	unread := map[string]bool{}
	for _, ref := range refs {
		if ref.Namespace != "" && m.Graph.StateOf(object.Ref{Kind: namespaceKind.Kind, Name: ref.Namespace}) == graph.Unread {
			unread[ref.Namespace] = true
		}
	}
	for _, k := range keys {
		if len(unread) > 0 {
			m.extra = append(m.extra, metrics.Note{
				Subject: someOf(slices.Collect(maps.Keys(unread))), Reason: "NamespaceLabels",
				Message: fmt.Sprintf("unread namespaces: what has no %s %s of its own or of its owner is in (none)", strings.TrimPrefix(k.By, "ns"), k.Name),
			})
		}
	}
}

// namespaces returns the namespaces of the pods of the report; nil for all.
func (m *MetricsResult) namespaces() []string {
	if m.whole || m.isClusterWide() || m.Reading == nil {
		return nil
	}
	seen := map[string]bool{}
	for i := range m.Reading.Pods {
		seen[m.Reading.Pods[i].Ref.Namespace] = true
	}
	if !m.asked {
		seen[m.Session.Namespace] = true
	}
	for _, s := range m.stacks {
		if s.Ref.Namespace != "" {
			seen[s.Ref.Namespace] = true
		}
	}
	out := make([]string, 0, len(seen))
	for ns := range seen {
		out = append(out, ns)
	}
	slices.Sort(out)
	return out
}

// sources returns the sources that are queried, in order.
func (m *MetricsResult) sources() ([]metrics.Source, error) {
	get := m.Session.get()
	if m.Request.Window != nil {
		h, err := m.history()
		if err != nil {
			return nil, err
		}
		return []metrics.Source{h}, nil
	}
	if m.Request.Brief {
		return []metrics.Source{metrics.NewAPI(get, m.namespaces() == nil)}, nil
	}
	asked := func(r object.Ref) bool { _, ok := m.Attribution.Of[r]; return ok || !m.asked && m.inNamespace(r) }
	return []metrics.Source{metrics.NewAPI(get, m.namespaces() == nil), metrics.NewSummary(get, asked)}, nil
}

// history is the source of the window.
func (m *MetricsResult) history() (*metrics.History, error) {
	m.Input.Report.Progress(fmt.Sprintf("querying Prometheus: %s", m.Request.Window))
	return m.Session.newHistory(m.Request.History, metrics.HistoryOptions{
		Window: *m.Request.Window, Step: m.Request.History.Step, Namespaces: m.namespaces(), Matchers: m.Request.History.Matchers, Resources: m.resources,
		Timeout: m.Request.Timeout, KindOf: m.Session.groupOf, Progress: m.answered,
	})
}

// EvaluatedStep is the step with which the window is evaluated.
func (m *MetricsResult) EvaluatedStep(ctx context.Context) (time.Duration, error) {
	h, err := m.history()
	if err != nil {
		return 0, err
	}
	step, err := h.EvaluatedStep(ctx)
	return step, prometheus.WithRemedy(err)
}

// groupOf finds the group of a kind, where a history has only the kind.
func (s *Session) groupOf(kind string) (string, bool) {
	group, found := "", false
	for _, r := range s.Kinds.All() {
		if r.Kind == kind {
			if found && r.Group != group {
				return "", false
			}
			group, found = r.Group, true
		}
	}
	return group, found
}
