package app

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// Page reads stacks as the page shows them: their parts with the evidence, health, usage and cost.
// It reads with one session, repeatedly where a cluster changes.
type Page struct {
	Input   *Input
	Request *MetricsRequest
	// Selector chooses among the found stacks, where no ROOT is named.
	Selector labels.Selector
	// Among names the ROOTs whose stacks are shown out of all that are found, which share costs with
	// these. The Request names none, until one of them is not the root of a stack.
	Among []string
	// Ground includes the stacks of the cluster itself.
	Ground bool
	// ByPods finds the stacks as metrics does: those with anything that has a cost.
	ByPods bool
	// Members leaves out objects in no stack, except unhealthy ones. All keeps them.
	Members, All bool
	// Mode, Shown and Address are the Mode, the View and the Address of its UIStates.
	Mode, Shown, Address string
	// Flags are those that make another command read the same.
	Flags map[string]string
	// MissingSources says for a missing part of the page how to get it.
	MissingSources map[string]string

	verdicts *HealthCollector
	Created  *creationTimes
	services servicePorts
	Session  *Session
	Live     *source.Live
	include  int // how many kinds the flags include
	usage    *usageMemory
	warned   *warnMemory

	Mu      sync.Mutex // of the fields below
	Numbers *uistate.Numbering
	Last    *PageState
}

// PageState is one observation.
type PageState struct {
	*MetricsResult
	Assessment *health.Assessment
	Found      []pageStack
	events     map[object.Ref][]view.Event
	// State is the UIState of it.
	State *uistate.State
	// EventsGap is why warnings are unknown; nil if they are known.
	EventsGap *object.Gap
}

// pageStack is a stack of the page.
type pageStack struct {
	uistate.Found
	tops []graph.ID
}

// NewPage returns a page that is not connected yet.
func (c *Input) NewPage(q *MetricsRequest, rules *healthRules) *Page {
	in, asked := *c, *q
	in.rules = nil // each learns its own
	v := &Page{Input: &in, Request: &asked, Mode: "file", Created: &creationTimes{ByRef: map[object.Ref]time.Time{}, every: true}, Numbers: uistate.NewNumbering(), include: len(in.Include)}
	v.usage, v.warned = &usageMemory{now: in.Now}, &warnMemory{now: in.Now}
	in.Collect, in.Notes = func(object.Object) {}, []string{WeightAnnotation}
	in.Extract = append(slices.Clone(in.Extract), v.Created.Extractor, v.services.extractor)
	v.verdicts = in.CollectHealth(rules)
	v.Request.Wrap = v.usage.through
	return v
}

// StacksPage returns the page of stacks that is not about their figures. prices is the name of a price
// book.
func (c *Input) StacksPage(ctx context.Context, args []string, selector, prices string, rules *HealthRuleOptions) (*Page, error) {
	q := &MetricsRequest{Args: args, Options: cost.Options{Sharing: cost.ShareEven}, Brief: true}
	chosen, err := ParseSelector(selector)
	if err != nil {
		return nil, err
	}
	if len(args) > 0 {
		q.Selector = chosen
	}
	own, err := rules.Read(ctx)
	if err != nil {
		return nil, err
	}
	if q.Book, err = ReadPrices(ctx, prices); err != nil {
		return nil, err
	}
	v := c.NewPage(q, own)
	v.Selector = chosen
	return v, nil
}

// Open connects. A live page follows its cluster until ctx ends.
func (v *Page) Open(ctx context.Context) error {
	var err error
	if v.Session, err = v.Input.Open(ctx); err != nil {
		return err
	}
	if v.Mode == "live" {
		if v.Live = v.Session.Live(ctx); v.Live == nil {
			v.Mode = "snapshot"
		}
	}
	return nil
}

// Kinds are those of the last observation.
func (v *Page) Kinds() *object.Kinds {
	v.Mu.Lock()
	defer v.Mu.Unlock()
	return v.Last.Session.Kinds
}

// Observe reads and evaluates the request, and makes the UIState of it.
func (v *Page) Observe(ctx context.Context) (*uistate.State, error) {
	collector := &metrics.Collector{}
	v.Input.Collect, v.Input.Include = collector.Add, v.Input.Include[:v.include]
	q := *v.Request
	s, err := v.Session.Renewed(ctx)
	if err != nil {
		return nil, err
	}
	v.Session = s
	l := &PageState{MetricsResult: &MetricsResult{Input: v.Input, Request: &q, Session: v.Session}}
	q.Applications = q.Applications || len(v.Request.Args) == 0 && !v.ByPods
	if err := q.SetWindow(v.Input.Now()); err != nil {
		return nil, err
	}
	if err := l.Read(ctx); err != nil {
		return nil, err
	}
	if err := l.Compute(ctx, collector); err != nil {
		return nil, err
	}
	l.Assessment = v.verdicts.Assess(l.Graph)
	l.evaluate(v)
	if len(v.Among) > 0 && !l.choose(v.Among) {
		v.Request.Args, v.Among = v.Among, nil
		return v.Observe(ctx)
	}
	if err := v.warn(ctx, l); err != nil {
		return nil, err
	}
	var costs []uistate.Grouping
	if len(v.Among) == 0 {
		if costs, err = l.groupings(ctx); err != nil {
			return nil, err
		}
	}
	v.Mu.Lock()
	defer v.Mu.Unlock()
	v.Last = l
	l.State = EscapeTexts(uistate.New(v.stateOf(l, costs), v.Numbers))
	return l.State, nil
}

// evaluate finds the health of each stack, and what it shares.
func (l *PageState) evaluate(v *Page) {
	opts := l.StackOptions()
	parted := opts
	parted.PartOf = l.Graph.PartOf(l.roots(), opts)
	well := l.HealthyPods(l.Assessment)
	in := map[graph.ID]int{}
	for i, s := range l.stacks {
		one := pageStack{tops: s.Roots}
		if l.applications.Stacks != nil {
			f := l.applications.Stacks[i]
			one.tops, one.By, one.Cluster = f.TopObjects, f.Group.By, l.Session.IsClusterSystem(l.Graph, f)
		}
		opts.SameRoot = map[graph.ID]graph.ID{} // The roots of one stack share nothing with each other.
		for _, id := range s.Roots {
			opts.SameRoot[id] = s.Roots[0]
		}
		one.Name, one.Stack = s.Ref, l.Graph.Stack(s.Roots, opts)
		one.Health = l.Assessment.Stack(one.Stack)
		for _, id := range one.Stack.Members() {
			if one.Stack.IsOwnPart(id) || one.Stack.Provenance(id) {
				in[id]++
			}
		}
		own := l.Graph.Stack(s.Roots, parted)
		for _, id := range own.Members() {
			if own.IsOwnPart(id) {
				one.Objects++
			}
		}
		one.HealthyPods, one.Created = well[s.Ref], v.Created.earliest(l.Graph, one.tops)
		one.Shared = func(id graph.ID) bool { return in[id] > 1 }
		if v.wants(l, &one) {
			l.Found = append(l.Found, one)
		}
	}
	slices.SortFunc(l.Found, func(a, b pageStack) int {
		return cmp.Or(strings.Compare(a.Name.Namespace, b.Name.Namespace), strings.Compare(a.Name.Name, b.Name.Name), object.Compare(a.Name, b.Name))
	})
}

// wants reports whether a stack is shown.
func (v *Page) wants(l *PageState, s *pageStack) bool {
	if v.Selector != nil && len(v.Request.Args) == 0 && !slices.ContainsFunc(s.tops, func(id graph.ID) bool { return v.Selector.Matches(labels.Set(l.Graph.Labels(id))) }) {
		return false
	}
	return v.Ground || len(v.Among) > 0 || !s.Cluster
}

// choose leaves the found stacks of some ROOTs. It reports whether each of these has one.
func (l *PageState) choose(among []string) bool {
	roots, err := ParseRoots(among, l.Session.Kinds)
	if err != nil {
		return false
	}
	chosen := map[object.Ref]bool{}
	for _, r := range roots {
		ids := l.Session.Nodes(l.Graph, r, nil)
		for _, id := range ids {
			i := slices.IndexFunc(l.Found, func(f pageStack) bool { return slices.Contains(f.tops, id) })
			if i < 0 {
				return false
			}
			chosen[l.Found[i].Name] = true
		}
		if len(ids) == 0 {
			return false
		}
	}
	l.Found = slices.DeleteFunc(l.Found, func(f pageStack) bool { return !chosen[f.Name] })
	return true
}

// commonLabels are those that costs are shown by, where objects have them.
var commonLabels = []string{"app.kubernetes.io/name", "app.kubernetes.io/part-of", "app.kubernetes.io/instance", "team"}

// groupings are the reports of the same ledger by other groups than stacks.
func (l *PageState) groupings(ctx context.Context) ([]uistate.Grouping, error) {
	r, err := l.ReportBy(ctx, cost.Key{By: cost.ByNamespace})
	if err != nil {
		return nil, err
	}
	out := []uistate.Grouping{{By: cost.ByNamespace, Report: r}}
	for _, key := range commonLabels {
		r, err := l.ReportBy(ctx, cost.Key{By: cost.ByLabel, Name: key})
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(r.Rows, func(row *cost.Row) bool { return row.Level == cost.LevelGroup && row.Name != "(none)" }) {
			out = append(out, uistate.Grouping{By: "label " + key, Report: r})
		}
	}
	return out, nil
}

// ReportBy is the report of the same ledger by another group.
func (l *PageState) ReportBy(ctx context.Context, key cost.Key) (*cost.Report, error) {
	m, q := *l.MetricsResult, *l.Request
	q.Keys, m.Request = []cost.Key{key}, &q
	err := m.roll(ctx)
	return m.Report, err
}

// warn requests the warnings of the causes, if these changed or some time has passed.
func (v *Page) warn(ctx context.Context, l *PageState) error {
	h := &HealthResult{Input: v.Input, Request: &HealthRequest{}, Session: l.Session, Graph: l.Graph, assessment: l.Assessment}
	for i := range l.Found {
		s := &l.Found[i]
		h.Stacks = append(h.Stacks, view.HealthStack{Name: s.Name, Stack: s.Stack, Health: s.Health})
	}
	_, about := h.warned()
	if !v.warned.due(about) {
		l.events, l.EventsGap = v.warned.events, v.warned.deaf
		return nil
	}
	deaf, err := h.ReadWarnings(ctx)
	if err != nil {
		return err
	}
	v.warned.keep(about, h.events, deaf)
	l.events, l.EventsGap = h.events, deaf
	return nil
}

// warnMemory keeps the last warnings.
type warnMemory struct {
	now    func() time.Time
	at     time.Time
	about  []object.Ref
	events map[object.Ref][]view.Event
	deaf   *object.Gap
}

func (w *warnMemory) due(about []object.Ref) bool {
	return w.at.IsZero() || w.now().Sub(w.at) >= remeasuring || !slices.Equal(w.about, about)
}

func (w *warnMemory) keep(about []object.Ref, events map[object.Ref][]view.Event, deaf *object.Gap) {
	w.at, w.about, w.events, w.deaf = w.now(), about, events, deaf
}

// remeasuring is the shortest time between two requests for usage, and for warnings.
const remeasuring = 30 * time.Second

// usageMemory requests usage at most once in an interval, and caches it in between.
type usageMemory struct {
	now   func() time.Time
	at    time.Time
	from  []metrics.Source
	pods  map[object.Ref]metrics.Pod
	held  map[object.Ref]metrics.Claim
	notes []metrics.Note
}

func (u *usageMemory) through(from []metrics.Source) []metrics.Source {
	u.from = from
	return []metrics.Source{u}
}

// Measure sets the usage of the pods of a report: from the cache, or from the sources.
func (u *usageMemory) Measure(ctx context.Context, r *metrics.UsageReport) error {
	if r.Instant() && !u.at.IsZero() && u.now().Sub(u.at) < remeasuring {
		u.fill(r)
		return nil
	}
	before := len(r.Notes)
	for _, from := range u.from {
		if err := from.Measure(ctx, r); err != nil {
			return err
		}
	}
	u.at, u.notes = u.now(), slices.Clone(r.Notes[min(before, len(r.Notes)):])
	u.pods, u.held = map[object.Ref]metrics.Pod{}, map[object.Ref]metrics.Claim{}
	for i := range r.Pods {
		u.pods[r.Pods[i].Ref] = r.Pods[i]
	}
	for i := range r.Claims {
		u.held[r.Claims[i].Ref] = r.Claims[i]
	}
	return nil
}

// fill gives each pod its cached usage, if it is the same pod.
func (u *usageMemory) fill(r *metrics.UsageReport) {
	for i := range r.Pods {
		p := &r.Pods[i]
		known, ok := u.pods[p.Ref]
		if !ok || known.UID != p.UID {
			p.Unmeasured = "it is new, and not measured yet"
			continue
		}
		p.Used, p.Counters, p.Unmeasured = known.Used, known.Counters, known.Unmeasured
	}
	for i := range r.Claims {
		c := &r.Claims[i]
		if known, ok := u.held[c.Ref]; ok && known.UID == c.UID {
			c.Used, c.UsedKnown = known.Used, known.UsedKnown
		}
	}
	r.Notes = append(r.Notes, u.notes...)
}

// SingleStackReport makes the report of one stack as if it were the only one selected; nil if a
// part of it was not measured.
func (l *PageState) SingleStackReport(ctx context.Context, id graph.ID, stack *graph.Stack) *MetricsResult {
	if !l.whole && slices.ContainsFunc(stack.Members(), func(m graph.ID) bool { return stack.IsOwnPart(m) && !l.measuredHere(m) }) {
		return nil
	}
	m, r, q := *l.MetricsResult, *l.Reading, *l.Request
	r.Pods, r.Claims, r.LoadBalancers, r.Notes = slices.Clone(r.Pods), slices.Clone(r.Claims), slices.Clone(r.LoadBalancers), nil
	r.Unclaimed = slices.Clone(r.Unclaimed)
	m.Reading, m.Request, m.asked, m.extra = &r, &q, true, nil
	m.stacks = []metrics.Stack{{Ref: l.Graph.Ref(id), Roots: []graph.ID{id}}}
	m.Attribution = metrics.NewPlacement(m.Graph, m.stacks, m.Reading, m.StackOptions())
	m.price()
	if err := m.roll(ctx); err != nil {
		return nil // which it cannot be: no request is made
	}
	return &m
}

// measuredHere reports whether all data of an object was read: it is in a selected stack, or in the
// namespace.
func (l *PageState) measuredHere(id graph.ID) bool {
	return !l.asked && l.inNamespace(l.Graph.Ref(id)) || slices.ContainsFunc(l.Found, func(s pageStack) bool { return s.Stack.IsOwnPart(id) })
}
