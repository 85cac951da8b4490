package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// metricsResult is one answer of the metrics command, before it is shown.
type metricsResult struct {
	o       *metricsOptions
	q       *question
	session *session
	graph   *graph.Graph
	stacks  []metrics.Stack
	apexes  []graph.ID // the roots of all stacks that are known
	asked   bool       // for some stacks, not for all of a namespace or the cluster
	whole   bool       // every pod of the cluster is in the reading, until it is priced
	reading *metrics.UsageReport
	place   *metrics.Attribution
	ledger  *cost.Ledger
	report  *cost.Report
	home    string
	extra   []metrics.Note
	// resources are the extended ones that the book and the cluster know by their true names.
	resources []metrics.Resource
}

// measure reads the cluster and the sources of usage, and makes the report.
func (o *metricsOptions) measure(ctx context.Context, q *question) (*metricsResult, error) {
	// One question may be asked again: what reading it notes is of one time only.
	fresh, common, asked := *o, *o.common, *q
	common.rules = nil // each learns its own
	o, fresh.common, q = &fresh, &common, &asked
	if err := o.parseWindow(q); err != nil {
		return nil, err
	}
	m := &metricsResult{o: o, q: q}
	collector := &metrics.Collector{}
	o.collect, o.notes = collector.Add, []string{weightNote}
	if q.by == "annotation" {
		o.notes = append(o.notes, q.key)
	}
	var err error
	if m.session, err = o.open(ctx); err != nil {
		return nil, err
	}
	if err := m.read(ctx); err != nil {
		return nil, err
	}
	m.session.tell(m.graph)
	defer o.clock.stage("measure")()
	return m, m.figure(ctx, collector)
}

// figure makes the report of what was read.
func (m *metricsResult) figure(ctx context.Context, collector *metrics.Collector) error {
	m.scope(collector)
	if err := m.usage(ctx); err != nil {
		return err
	}
	m.price()
	m.alsoNeeded()
	return m.roll(ctx)
}

// costing are the things other than pods that cost.
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

// scope makes the reading that is to be measured, of what the question is about.
func (m *metricsResult) scope(collector *metrics.Collector) {
	m.whole = m.session.inv.Covered(podKind, "") && (m.isClusterWide() || m.o.shareIdle)
	options := metrics.ReportOptions{Whole: m.whole}
	read := func() *metrics.UsageReport {
		if w := m.q.window; w != nil {
			return collector.Window(w.From, w.To, options)
		}
		return collector.Report(m.session.now(), options)
	}
	all := read()
	m.resources = slices.Concat(m.q.book.Resources(), collector.Resources())
	m.find(all)
	for _, namespace := range m.q.options.ShareNamespaces {
		if !costs(all, namespace) {
			m.extra = append(m.extra, metrics.Note{Subject: "Namespace/" + namespace, Reason: "Sharing", Message: "has no shared cost: no pod, volume claim or load balancer was found in it"})
		}
	}
	if shares := m.q.options; (len(shares.ShareNamespaces) > 0 || shares.ShareOverhead.IsPositive()) && (m.asked || m.session.namespace != "") {
		m.extra = append(m.extra, metrics.Note{Reason: "Sharing", Message: "shared cost is split among the requested stacks only: -A without a ROOT splits it among all"})
	}
	if m.o.shareIdle && !m.whole {
		m.extra = append(m.extra, metrics.Note{Reason: "Idle", Message: "idle cost is unknown: not every pod of the cluster was read"})
	}
	m.place = metrics.NewPlacement(m.graph, m.stacks, all, m.stackOptions())
	if !m.whole {
		// With what is idle, those who are not asked about take their part.
		options.Keep = m.keeps
	}
	m.reading = read()
}

// costs says whether anything in a namespace is paid for.
func costs(r *metrics.UsageReport, namespace string) bool {
	return slices.ContainsFunc(r.Pods, func(p metrics.Pod) bool { return p.Ref.Namespace == namespace }) ||
		slices.ContainsFunc(r.Claims, func(c metrics.Claim) bool { return c.Ref.Namespace == namespace }) ||
		slices.ContainsFunc(r.LoadBalancers, func(b metrics.LoadBalancer) bool { return b.Service.Namespace == namespace })
}

func (m *metricsResult) stackOptions() graph.StackOptions {
	return graph.StackOptions{NoInferred: m.o.noInferred}
}

// keeps says whether a thing belongs to a stack that is asked about, to the namespace,
// or to those that all pay for.
func (m *metricsResult) keeps(r object.Ref) bool {
	_, placed := m.place.Of[r]
	return placed || !m.asked && m.inNamespace(r) || slices.Contains(m.q.options.ShareNamespaces, r.Namespace)
}

// drop leaves out of the reading what is not kept.
func (m *metricsResult) drop() {
	r := m.reading
	r.Pods = slices.DeleteFunc(r.Pods, func(p metrics.Pod) bool { return !m.keeps(p.Ref) })
	r.Claims = slices.DeleteFunc(r.Claims, func(c metrics.Claim) bool { return !m.keeps(c.Ref) })
	r.LoadBalancers = slices.DeleteFunc(r.LoadBalancers, func(b metrics.LoadBalancer) bool { return !m.keeps(b.Service) })
	r.Unclaimed = slices.DeleteFunc(r.Unclaimed, func(v metrics.Volume) bool { return !m.keeps(v.Ref()) })
}

// usage asks the sources.
func (m *metricsResult) usage(ctx context.Context) error {
	sources, err := m.sources()
	if err != nil {
		return err
	}
	if m.q.through != nil {
		sources = m.q.through(sources)
	}
	for _, source := range sources {
		if err := source.Measure(ctx, m.reading); err != nil {
			return err
		}
	}
	metrics.Settle(m.reading)
	if m.q.window != nil {
		m.find(m.reading)
		m.place = metrics.NewPlacement(m.graph, m.stacks, m.reading, m.stackOptions())
		if m.asked {
			m.unplaced()
		}
		if !m.whole {
			m.drop()
		}
	}
	m.flat()
	m.noteEmptyStacks()
	m.reading.Notes = append(m.reading.Notes, m.extra...)
	return nil
}

// noteEmptyStacks notes the stacks that were asked about and hold nothing that costs. Of what
// others only live in or run on, it says how to ask about these.
func (m *metricsResult) noteEmptyStacks() {
	if !m.asked {
		return
	}
	filled := map[object.Ref]bool{}
	for _, place := range m.place.Of {
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
		case nodeKind:
			message += " (-A --by node shows what runs on each)"
		}
		m.extra = append(m.extra, metrics.Note{Subject: s.Ref.String(), Reason: "Empty", Message: message})
	}
}

// flat notes the nodes of which nothing is known: no price that is theirs can hold.
func (m *metricsResult) flat() {
	known := map[string]bool{"": true}
	for i := range m.reading.Nodes {
		known[m.reading.Nodes[i].Name] = true
	}
	var nodes []string
	for i := range m.reading.Pods {
		if name := m.reading.Pods[i].Node; !known[name] {
			known[name], nodes = true, append(nodes, name)
		}
	}
	if len(nodes) == 0 {
		return
	}
	const few = 4
	slices.Sort(nodes)
	about := strings.Join(nodes[:min(few, len(nodes))], ", ")
	if more := len(nodes) - few; more > 0 {
		about += fmt.Sprintf(" and %d more", more)
	}
	m.extra = append(m.extra, metrics.Note{Subject: about, Reason: "FlatPrices", Message: "unknown nodes: their pods have the prices that apply to any node"})
}

// namespaces are those of the pods of the reading; nil for all.
func (m *metricsResult) namespaces() []string {
	if m.whole || m.isClusterWide() {
		return nil
	}
	seen := map[string]bool{}
	for i := range m.reading.Pods {
		seen[m.reading.Pods[i].Ref.Namespace] = true
	}
	if !m.asked {
		seen[m.session.namespace] = true
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

// sources are those that are asked, in order.
func (m *metricsResult) sources() ([]metrics.Source, error) {
	get := m.session.get()
	if m.q.window != nil {
		if m.o.env.Talk {
			fmt.Fprintf(m.o.env.ErrOut, "querying Prometheus: %s\n", m.q.window)
		}
		client, err := historyClient(m.o.tokenFile)
		if err != nil {
			return nil, err
		}
		h, err := metrics.NewHistory(m.o.prometheus, get, metrics.HistoryOptions{Window: *m.q.window, Namespaces: m.namespaces(), Matchers: m.o.matchers, Client: client, KindOf: m.session.groupOf, Timeout: m.q.timeout, Resources: m.resources, Step: m.q.step, Progress: m.o.progress()})
		if err != nil {
			return nil, fmt.Errorf("--prometheus: %w", err)
		}
		return []metrics.Source{h}, nil
	}
	if m.q.brief {
		return []metrics.Source{metrics.NewAPI(get, m.namespaces() == nil)}, nil
	}
	asked := func(r object.Ref) bool { _, ok := m.place.Of[r]; return ok || !m.asked && m.inNamespace(r) }
	return []metrics.Source{metrics.NewAPI(get, m.namespaces() == nil), metrics.NewSummary(get, asked)}, nil
}

// groupOf finds the group of a kind of which a history knows no more.
func (s *session) groupOf(kind string) (string, bool) {
	group, found := "", false
	for _, r := range s.kinds.All() {
		if r.Kind == kind {
			if found && r.Group != group {
				return "", false
			}
			group, found = r.Group, true
		}
	}
	return group, found
}

// answer is what is shown.
func (m *metricsResult) answer(ctx context.Context) (view.Output, error) {
	o := view.MetricsOptions{
		Reading: m.reading, Prices: m.q.book.Name, Sharing: m.q.options.Sharing, Tenant: m.o.of.tenant(), By: m.o.by, Depth: m.o.depth, Namespace: m.home, Gaps: m.graph.Gaps(),
		Ledger: m.ledger, Placement: m.place, Shape: render.ShapeOf(m.o.output),
	}
	if o.Shape == view.FocusShape {
		var err error
		if o.Focus, err = m.focus(ctx); err != nil {
			return view.Output{}, err
		}
	}
	return view.Metrics(m.report, o)
}
