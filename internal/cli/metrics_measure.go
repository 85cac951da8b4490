package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/render"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/view"
)

// measured is one answer of the metrics command, before it is shown.
type measured struct {
	o       *metricsOptions
	q       *question
	session *session
	graph   *graph.Graph
	stacks  []metrics.Stack
	apexes  []graph.ID // the roots of all stacks that are known
	asked   bool       // for some stacks, not for all of a namespace or the cluster
	whole   bool       // every pod of the cluster is in the reading, until it is priced
	reading *metrics.Reading
	place   *metrics.Placement
	ledger  *cost.Ledger
	report  *cost.Report
	home    string
	extra   []metrics.Note
}

// measure reads the cluster and the sources of usage, and makes the report.
func (o *metricsOptions) measure(ctx context.Context, q *question) (*measured, error) {
	// One question may be asked again: what reading it notes is of one time only.
	fresh, common, asked := *o, *o.common, *q
	o, fresh.common, q = &fresh, &common, &asked
	if err := o.windowMeant(q); err != nil {
		return nil, err
	}
	m := &measured{o: o, q: q}
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
	defer o.clock.stage("measure")()
	m.scope(collector)
	if err := m.usage(ctx); err != nil {
		return nil, err
	}
	m.price()
	return m, m.roll(ctx)
}

// read reads the graph, and finds the stacks that are asked about.
func (m *measured) read(ctx context.Context) error {
	s, o := m.session, m.o
	opts := m.stackOptions()
	if len(o.args) == 0 {
		first := source.Ask{All: true}
		if !o.allNamespaces && s.namespace != "" {
			first = m.idling(source.Ask{Namespaces: m.alongside([]string{s.namespace}), Kinds: s.rules.Crossing()})
		}
		g, err := s.read(ctx, first, s.everything, opts)
		if err != nil {
			return err
		}
		m.graph, m.home = g, s.namespace
		s.tell(g)
		return nil
	}
	m.asked = true
	roots, err := parseRoots(o.args, s.kinds)
	if err != nil {
		return err
	}
	if m.q.selector != nil && slices.ContainsFunc(roots, func(r rootArg) bool { return r.name != "" }) {
		return fmt.Errorf("--selector chooses among all of a TYPE: it cannot go with a name")
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
	s.tell(g)
	m.graph, m.home = g, s.home(g, s.resolve(g, roots, m.q.selector))
	for _, r := range roots {
		m.stacks = append(m.stacks, s.stacksOf(g, r, s.nodes(g, r, m.q.selector))...)
	}
	m.fold(opts)
	return nil
}

// idling asks for all pods and nodes as well, where what is idle is spread: that
// depends on all who run on a node.
func (m *measured) idling(first source.Ask) source.Ask {
	if m.o.shareIdle && !first.All {
		first.Kinds = append(slices.Clone(first.Kinds), podKind, nodeKind)
	}
	return first
}

// alongside adds the namespaces that all stacks pay for.
func (m *measured) alongside(namespaces []string) []string {
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
		return []metrics.Stack{{Ref: object.Ref{Kind: r.group, Namespace: s.in(r), Name: r.name}, Roots: ids}}
	}
	var out []metrics.Stack
	for _, id := range ids {
		out = append(out, metrics.Stack{Ref: g.Ref(id), Roots: []graph.ID{id}})
	}
	return out
}

// fold leaves out stacks that are asked about twice, and those whose root another
// one owns: they are a part of it and have their line in it.
func (m *measured) fold(opts graph.StackOptions) {
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
				m.extra = append(m.extra, metrics.Note{About: s.Ref.String(), Reason: "Part", Message: fmt.Sprintf("is owned by %s, and shown in its stack", in)})
				return true
			}
		}
		return false
	})
}

// find finds the stacks by the pods of a reading: those that are asked about, where
// none are named.
func (m *measured) find(r *metrics.Reading) {
	var here, all []graph.ID
	for i := range r.Pods {
		if id, ok := m.standing(&r.Pods[i]); ok {
			all = append(all, id)
			if m.here(r.Pods[i].Ref) {
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
		if m.here(ref) {
			here = append(here, id)
		}
	}
	m.apexes = m.graph.Apexes(all, m.stackOptions())
	if m.asked {
		return
	}
	apexes := m.apexes
	if len(here) < len(all) {
		apexes = m.graph.Apexes(here, m.stackOptions())
	}
	m.stacks = nil
	for _, id := range apexes {
		m.stacks = append(m.stacks, metrics.Stack{Ref: m.graph.Ref(id), Roots: []graph.ID{id}})
	}
	if m.home == "" && len(m.stacks) > 0 {
		m.home = m.stacks[0].Ref.Namespace
		if slices.ContainsFunc(m.stacks, func(s metrics.Stack) bool { return s.Ref.Namespace != m.home }) {
			m.home = ""
		}
	}
}

// costing are the things other than pods that cost.
func costing(r *metrics.Reading) []object.Ref {
	var refs []object.Ref
	for i := range r.Claims {
		refs = append(refs, r.Claims[i].Ref)
	}
	for i := range r.Balancers {
		refs = append(refs, r.Balancers[i].Service)
	}
	return refs
}

// standing returns the node of a pod, or of the nearest of its owners that is still
// there.
func (m *measured) standing(pod *metrics.Pod) (graph.ID, bool) {
	for _, ref := range append([]object.Ref{pod.Ref}, pod.Owners...) {
		if id, ok := m.graph.Find(ref); ok && m.graph.State(id) == graph.Present {
			return id, true
		}
	}
	return 0, false
}

// here says whether a thing is in the namespace that is asked about.
func (m *measured) here(r object.Ref) bool {
	return m.everywhere() || r.Namespace == m.session.namespace
}

// everywhere says that the question is not about one namespace.
func (m *measured) everywhere() bool { return m.session.namespace == "" || m.o.allNamespaces }

// all says that the question is about all that is in the cluster.
func (m *measured) all() bool { return !m.asked && m.everywhere() }

// scope makes the reading that is to be measured, of what the question is about.
func (m *measured) scope(collector *metrics.Collector) {
	m.whole = m.session.inv.Covered(podKind, "") && (m.all() || m.o.shareIdle)
	options := metrics.ReadingOptions{Whole: m.whole}
	read := func() *metrics.Reading {
		if w := m.q.window; w != nil {
			return collector.Window(w.From, w.To, options)
		}
		return collector.Reading(m.session.now(), options)
	}
	all := read()
	m.find(all)
	for _, namespace := range m.q.options.ShareNamespaces {
		if !costs(all, namespace) {
			m.extra = append(m.extra, metrics.Note{About: "Namespace/" + namespace, Reason: "Sharing", Message: "has nothing that all could pay for: no pod, volume claim or load balancer of it was found"})
		}
	}
	if shares := m.q.options; (len(shares.ShareNamespaces) > 0 || shares.ShareOverhead.IsPositive()) && (m.asked || m.session.namespace != "") {
		m.extra = append(m.extra, metrics.Note{Reason: "Sharing", Message: "what all pay for is split among the stacks that are asked about alone: -A without a ROOT splits it among all"})
	}
	if m.o.shareIdle && !m.whole {
		m.extra = append(m.extra, metrics.Note{Reason: "Idle", Message: "what is idle is not known: not every pod of the cluster was read"})
	}
	m.place = metrics.NewPlacement(m.graph, m.stacks, all, m.stackOptions())
	if !m.whole {
		// With what is idle, those who are not asked about take their part.
		options.Keep = m.keeps
	}
	m.reading = read()
}

// costs says whether anything in a namespace is paid for.
func costs(r *metrics.Reading, namespace string) bool {
	return slices.ContainsFunc(r.Pods, func(p metrics.Pod) bool { return p.Ref.Namespace == namespace }) ||
		slices.ContainsFunc(r.Claims, func(c metrics.Claim) bool { return c.Ref.Namespace == namespace }) ||
		slices.ContainsFunc(r.Balancers, func(b metrics.Balancer) bool { return b.Service.Namespace == namespace })
}

func (m *measured) stackOptions() graph.StackOptions {
	return graph.StackOptions{NoInferred: m.o.noInferred}
}

// keeps says whether a thing belongs to a stack that is asked about, to the namespace,
// or to those that all pay for.
func (m *measured) keeps(r object.Ref) bool {
	_, placed := m.place.Of[r]
	return placed || !m.asked && m.here(r) || slices.Contains(m.q.options.ShareNamespaces, r.Namespace)
}

// drop leaves out of the reading what is not kept.
func (m *measured) drop() {
	r := m.reading
	r.Pods = slices.DeleteFunc(r.Pods, func(p metrics.Pod) bool { return !m.keeps(p.Ref) })
	r.Claims = slices.DeleteFunc(r.Claims, func(c metrics.Claim) bool { return !m.keeps(c.Ref) })
	r.Balancers = slices.DeleteFunc(r.Balancers, func(b metrics.Balancer) bool { return !m.keeps(b.Service) })
}

// usage asks the sources.
func (m *measured) usage(ctx context.Context) error {
	sources, err := m.sources()
	if err != nil {
		return err
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
	} else {
		m.flat()
	}
	m.hollow()
	m.reading.Notes = append(m.reading.Notes, m.extra...)
	return nil
}

// hollow notes the stacks that were asked about and hold nothing that costs. Of what
// others only live in or run on, it says how to ask about these.
func (m *measured) hollow() {
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
		m.extra = append(m.extra, metrics.Note{About: s.Ref.String(), Reason: "Empty", Message: message})
	}
}

// flat notes the nodes of which nothing is known: no price that is theirs can hold.
func (m *measured) flat() {
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
	m.extra = append(m.extra, metrics.Note{About: about, Reason: "FlatPrices", Message: "nodes that are not known: what runs there has the prices that hold for any node"})
}

// namespaces are those of the pods of the reading; nil for all.
func (m *measured) namespaces() []string {
	if m.whole || m.all() {
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
func (m *measured) sources() ([]metrics.Source, error) {
	get := m.session.get()
	if m.q.window != nil {
		client, err := historyClient(m.o.tokenFile)
		if err != nil {
			return nil, err
		}
		h, err := metrics.NewHistory(m.o.prometheus, get, metrics.HistoryOptions{Window: *m.q.window, Namespaces: m.namespaces(), Matchers: m.o.matchers, Client: client, KindOf: m.session.groupOf, Timeout: m.q.patience})
		if err != nil {
			return nil, fmt.Errorf("--prometheus: %w", err)
		}
		return []metrics.Source{h}, nil
	}
	asked := func(r object.Ref) bool { _, ok := m.place.Of[r]; return ok || !m.asked && m.here(r) }
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

// unplaced notes the pods of the past that nobody can place. Those that are there are
// in other stacks, which are not asked about.
func (m *measured) unplaced() {
	n, names := 0, []string{}
	for i := range m.reading.Pods {
		p := &m.reading.Pods[i]
		if _, ok := m.place.Of[p.Ref]; ok || !p.Gone || len(p.Owners) > 0 {
			continue
		}
		if id, ok := m.graph.Find(p.Ref); ok && m.graph.State(id) == graph.Present {
			continue
		}
		if n++; n <= 3 {
			names = append(names, p.Ref.Namespace+"/"+p.Ref.Name)
		}
	}
	if n > 0 {
		m.extra = append(m.extra, metrics.Note{Reason: "Unattributed", Marks: true, Message: fmt.Sprintf("%d pods that are gone cannot be placed in a stack: %s; without a ROOT, metrics shows what they used", n, strings.Join(names, ", "))})
	}
}

// price makes the ledger.
func (m *measured) price() {
	m.place.Weights = m.weights()
	options := m.q.options
	options.Alone = m.asked
	m.ledger = cost.Allocate(m.reading, m.place, m.q.book, options)
	m.reading.Notes = append(m.reading.Notes, m.ledger.Notes...)
	if !m.all() {
		m.ledger.Charges = slices.DeleteFunc(m.ledger.Charges, m.others)
		m.drop()
	}
}

// others says whether a charge is for others than are asked about: of stacks that are
// asked about, what others pay of what is idle; of a namespace, what is idle elsewhere
// and what is not in it.
func (m *measured) others(c cost.Charge) bool {
	switch {
	case c.Stack != object.Ref{}:
		return false
	case m.asked:
		return true
	case c.Kind == cost.Idle:
		return c.Namespace != m.session.namespace
	case c.Kind == cost.Used, c.Kind == cost.Unmounted:
		return !m.keeps(c.Item)
	}
	return false
}

// weights are those that the roots of stacks ask for.
func (m *measured) weights() map[object.Ref]decimal.Decimal {
	out := map[object.Ref]decimal.Decimal{}
	for _, s := range m.stacks {
		for _, id := range s.Roots {
			text, ok := m.graph.Note(id, weightNote)
			if !ok {
				continue
			}
			w, err := decimal.NewFromString(text)
			if err != nil || w.IsNegative() {
				m.reading.Notes = append(m.reading.Notes, metrics.Note{About: s.Ref.String(), Reason: "Weight", Message: fmt.Sprintf("annotation %s: %q is no weight (want a number, 0 or more): taken as 1", weightNote, text)})
				continue
			}
			out[s.Ref] = w
		}
	}
	return out
}

// roll makes the report that is asked for.
func (m *measured) roll(ctx context.Context) error {
	value, err := m.values(ctx)
	if err != nil {
		return err
	}
	m.report = cost.Roll(m.reading, m.place, m.ledger, cost.Grouping{
		By: m.q.by, Key: m.q.key, Value: value, Containers: m.o.containers,
		Custom: func(r object.Ref) bool { k, ok := m.session.kinds.Kind(r.GroupKind()); return ok && k.Custom },
	})
	if m.q.sortBy != "" {
		if err := cost.Sort(m.report, m.q.sortBy); err != nil {
			return err
		}
	}
	if m.o.top > 0 {
		m.report = cost.Limit(m.report, m.o.top, 0)
	}
	return nil
}

// values returns how things are grouped, where that is by something that they say.
func (m *measured) values(ctx context.Context) (func(object.Ref, metrics.Place) string, error) {
	switch m.q.by {
	case "label":
		return m.nearest(m.graph.Label), nil
	case "annotation":
		return m.nearest(m.graph.Note), nil
	case "creator":
		return m.creators(ctx)
	}
	return nil, nil
}

// nearest finds what a thing says, or else the nearest above it that says it.
func (m *measured) nearest(of func(graph.ID, string) (string, bool)) func(object.Ref, metrics.Place) string {
	return func(item object.Ref, place metrics.Place) string {
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
func (m *measured) creators(ctx context.Context) (func(object.Ref, metrics.Place) string, error) {
	top := func(item object.Ref, place metrics.Place) object.Ref {
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
	for i := range m.reading.Balancers {
		add(m.reading.Balancers[i].Service)
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
	return func(item object.Ref, place metrics.Place) string { return by[top(item, place)] }, nil
}

// answer is what is shown.
func (m *measured) answer(ctx context.Context) (view.Answer, error) {
	o := view.MetricsOptions{
		Reading: m.reading, Prices: m.q.book.Name, Sharing: m.q.options.Sharing, By: m.o.by, Depth: m.o.depth, Namespace: m.home, Gaps: m.graph.Gaps(),
		Ledger: m.ledger, Placement: m.place, Shape: render.ShapeOf(m.o.output),
	}
	if o.Shape == view.FocusShape {
		var err error
		if o.Focus, err = m.focus(ctx); err != nil {
			return view.Answer{}, err
		}
	}
	return view.Metrics(m.report, o)
}

// tellMetrics says on stderr what the figures leave out.
func (o *metricsOptions) tellMetrics(m *measured) {
	t := &m.report.Total
	if len(m.report.Rows) == 0 {
		fmt.Fprintln(o.env.ErrOut, "none found")
	}
	if t.Measured < t.Pods {
		fmt.Fprintf(o.env.ErrOut, "%d of %d pods measured%s\n", t.Measured, t.Pods, m.unmeasured())
	}
	for _, n := range m.reading.Notes {
		about := ""
		if n.About != "" {
			about = n.About + ": "
		}
		word := "note"
		if n.Marks {
			word = "warning"
		}
		fmt.Fprintf(o.env.ErrOut, "%s: %s%s\n", word, safe(about), safe(n.Message))
	}
	m.alsoNeeded()
}

// unmeasured names the first pods of which no usage is known, and why.
func (m *measured) unmeasured() string {
	const few = 3
	var names []string
	more := 0
	for i := range m.reading.Pods {
		p := &m.reading.Pods[i]
		if p.Unmeasured == "" {
			continue
		}
		if len(names) == few {
			more++
			continue
		}
		name := p.Ref.Name
		if p.Ref.Namespace != m.home {
			name = p.Ref.Namespace + "/" + name
		}
		names = append(names, fmt.Sprintf("%s: %s", safe(name), safe(p.Unmeasured)))
	}
	text := "; " + strings.Join(names, "; ")
	if more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// alsoNeeded says who else needs what was counted whole, of those who are known.
func (m *measured) alsoNeeded() {
	if m.all() || !m.o.human() {
		return
	}
	way := "-A splits it"
	if m.asked {
		way = "name those as well, to split it"
	}
	parts := m.parts()
	opts := m.stackOptions()
	opts.Apart = m.graph.Apart(m.apexes, opts)
	by := map[graph.ID][]string{}
	for _, apex := range m.apexes {
		stack := m.graph.Stack([]graph.ID{apex}, opts)
		if slices.ContainsFunc(m.roots(), func(id graph.ID) bool { return id == apex || stack.Holds(id) }) {
			continue
		}
		for _, part := range parts {
			if part != apex && stack.Holds(part) {
				by[part] = append(by[part], m.graph.Ref(apex).String())
			}
		}
	}
	for _, part := range parts {
		if len(by[part]) > 0 {
			fmt.Fprintf(m.o.env.ErrOut, "note: %s is also needed by %s: nothing of it is charged there (%s)\n", safe(m.graph.Ref(part).String()), safe(strings.Join(by[part], ", ")), way)
		}
	}
}

// parts are the topmost owners of what the stacks hold, or what nobody owns, other than
// their roots.
func (m *measured) parts() []graph.ID {
	roots, parts := m.roots(), map[graph.ID]bool{}
	for part, place := range m.place.Of {
		if len(place.Path) > 0 {
			part = place.Path[0]
		}
		if id, ok := m.graph.Find(part); ok && !slices.Contains(roots, id) {
			parts[id] = true
		}
	}
	return slices.Sorted(maps.Keys(parts))
}

func (m *measured) roots() []graph.ID {
	var roots []graph.ID
	for _, s := range m.stacks {
		roots = append(roots, s.Roots...)
	}
	return roots
}
