package cli

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// uiSource looks at stacks as the page shows them: what belongs to each and why, how it fares, what
// it uses and what it costs. It reads with one session, again and again where a cluster changes.
type uiSource struct {
	o *metricsOptions
	q *question
	// selector chooses among the stacks that are found, where no ROOT is named.
	selector labels.Selector
	// ground also takes the stacks of the cluster itself.
	ground bool
	// byPods finds the stacks as metrics does: those that hold what is paid for.
	byPods bool
	// members leaves out what is in no stack, unless it is in trouble, or all is asked for.
	members, all bool
	// mode and shown are the Mode and the View of its UIStates.
	mode, shown string
	// missingSources says of a part of the page that is not there how it can be had.
	missingSources map[string]string

	verdicts *healthCollector
	created  *creationTimes
	session  *session
	live     *source.Live
	include  int // how many kinds the flags include
	usage    *usageMemory
	warned   *warnMemory

	mu      sync.Mutex // of what follows
	numbers *view.Numbering
	last    *uiSnapshot
}

// uiSnapshot is one look.
type uiSnapshot struct {
	*metricsResult
	assessment *health.Assessment
	found      []surveyStack
	findings   graph.FoundStacks
	events     map[object.Ref][]view.Event
	// deaf is why warnings are not known; nil where they are.
	deaf *object.Gap
}

// surveyStack is a stack that was looked at.
type surveyStack struct {
	view.UIFound
	tops []graph.ID
}

// newSurvey returns a survey that has not connected yet. What it notes in the options is its own.
func newSurvey(o *metricsOptions, q *question, rules *healthRules) *uiSource {
	fresh, common, asked := *o, *o.common, *q
	common.rules = nil // each learns its own
	o, fresh.common, q = &fresh, &common, &asked
	v := &uiSource{o: o, q: q, mode: "file", created: &creationTimes{byRef: map[object.Ref]time.Time{}, every: true}, numbers: view.NewNumbering(), include: len(o.include)}
	v.usage, v.warned = &usageMemory{now: o.env.Now}, &warnMemory{now: o.env.Now}
	o.collect, o.notes = func(object.Object) {}, []string{weightNote}
	o.extract = append(slices.Clone(o.extract), v.created.extractor)
	v.verdicts = o.collectHealth(rules)
	q.through = v.usage.through
	return v
}

// open connects. A cluster is followed until ctx ends, where the survey is live.
func (v *uiSource) open(ctx context.Context) error {
	var err error
	if v.session, err = v.o.open(ctx); err != nil {
		return err
	}
	if v.mode == "live" {
		if v.live = v.session.live(ctx); v.live == nil {
			v.mode = "snapshot"
		}
	}
	return nil
}

// kinds are those of the last look.
func (v *uiSource) kinds() *object.Kinds {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.last.session.kinds
}

// look reads and judges all that is asked about, and makes the UIState of it.
func (v *uiSource) look(ctx context.Context) (*view.UIState, error) {
	collector := &metrics.Collector{}
	v.o.collect, v.o.include = collector.Add, v.o.include[:v.include]
	q := *v.q
	s, err := v.session.renewed(ctx)
	if err != nil {
		return nil, err
	}
	v.session = s
	l := &uiSnapshot{metricsResult: &metricsResult{o: v.o, q: &q, session: v.session}}
	if q.find == nil && len(v.o.args) == 0 && !v.byPods {
		q.find = l.find
	}
	if err := v.o.parseWindow(&q); err != nil {
		return nil, err
	}
	if err := l.read(ctx); err != nil {
		return nil, err
	}
	if err := l.figure(ctx, collector); err != nil {
		return nil, err
	}
	l.assessment = v.verdicts.assess(l.graph)
	l.evaluate(v)
	if err := v.warn(ctx, l); err != nil {
		return nil, err
	}
	costs, err := l.groupings(ctx)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last = l
	return legible(view.NewUIState(v.stateOf(l, costs), v.numbers)), nil
}

// find finds the stacks, to be measured.
func (l *uiSnapshot) find(m *metricsResult) []metrics.Stack {
	l.findings = m.session.applications(m.graph, m.stackOptions())
	var out []metrics.Stack
	for _, f := range l.findings.Stacks {
		out = append(out, metrics.Stack{Ref: f.Ref(m.graph), Roots: f.Roots})
	}
	return out
}

// evaluate says of each stack how it fares, and what others have of it as well.
func (l *uiSnapshot) evaluate(v *uiSource) {
	opts := l.stackOptions()
	parted := opts
	parted.PartOf = l.graph.PartOf(l.roots(), opts)
	well := l.well(l.assessment)
	in := map[graph.ID]int{}
	for i, s := range l.stacks {
		one := surveyStack{tops: s.Roots}
		if l.findings.Stacks != nil {
			f := l.findings.Stacks[i]
			one.tops, one.By, one.Cluster = f.TopObjects, f.Group.By, l.session.isClusterSystem(l.graph, f)
		}
		opts.SameRoot = map[graph.ID]graph.ID{} // The roots of one stack share nothing with each other.
		for _, id := range s.Roots {
			opts.SameRoot[id] = s.Roots[0]
		}
		one.Name, one.Stack = s.Ref, l.graph.Stack(s.Roots, opts)
		one.Health = l.assessment.Stack(one.Stack)
		for _, id := range one.Stack.Members() {
			if one.Stack.IsOwnPart(id) || one.Stack.Provenance(id) {
				in[id]++
			}
		}
		own := l.graph.Stack(s.Roots, parted)
		for _, id := range own.Members() {
			if own.IsOwnPart(id) {
				one.Objects++
			}
		}
		one.HealthyPods, one.Created = well[s.Ref], v.created.earliest(l.graph, one.tops)
		one.Shared = func(id graph.ID) bool { return in[id] > 1 }
		if v.wants(l, &one) {
			l.found = append(l.found, one)
		}
	}
	slices.SortFunc(l.found, func(a, b surveyStack) int {
		return cmp.Or(strings.Compare(a.Name.Namespace, b.Name.Namespace), strings.Compare(a.Name.Name, b.Name.Name), object.Compare(a.Name, b.Name))
	})
}

// wants says whether a stack is shown.
func (v *uiSource) wants(l *uiSnapshot, s *surveyStack) bool {
	if v.selector != nil && len(v.o.args) == 0 && !slices.ContainsFunc(s.tops, func(id graph.ID) bool { return v.selector.Matches(labels.Set(l.graph.Labels(id))) }) {
		return false
	}
	return v.ground || !s.Cluster
}

// commonLabels are those that costs are shown by, where objects have them.
var commonLabels = []string{"app.kubernetes.io/name", "app.kubernetes.io/part-of", "app.kubernetes.io/instance", "team"}

// groupings are the reports by something else than stacks, of the same ledger.
func (l *uiSnapshot) groupings(ctx context.Context) ([]view.UIGrouping, error) {
	r, err := l.reportBy(ctx, cost.ByNamespace, "")
	if err != nil {
		return nil, err
	}
	out := []view.UIGrouping{{By: cost.ByNamespace, Report: r}}
	for _, key := range commonLabels {
		r, err := l.reportBy(ctx, cost.ByLabel, key)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(r.Rows, func(row *cost.Row) bool { return row.Level == cost.LevelGroup && row.Name != "(none)" }) {
			out = append(out, view.UIGrouping{By: "label " + key, Report: r})
		}
	}
	return out, nil
}

// reportBy is the report of the same ledger by something else.
func (l *uiSnapshot) reportBy(ctx context.Context, by, key string) (*cost.Report, error) {
	m, q := *l.metricsResult, *l.q
	q.by, q.key, m.q = by, key, &q
	err := m.roll(ctx)
	return m.report, err
}

// warn asks for the warnings about the causes, when these are others or some time has passed.
func (v *uiSource) warn(ctx context.Context, l *uiSnapshot) error {
	h := &healthResult{o: &healthOptions{common: v.o.common}, session: l.session, graph: l.graph, assessment: l.assessment}
	for i := range l.found {
		s := &l.found[i]
		h.stacks = append(h.stacks, view.HealthStack{Name: s.Name, Stack: s.Stack, Health: s.Health})
	}
	_, about := h.warned()
	if !v.warned.due(about) {
		l.events, l.deaf = v.warned.events, v.warned.deaf
		return nil
	}
	deaf, err := h.warn(ctx)
	if err != nil {
		return err
	}
	v.warned.keep(about, h.events, deaf)
	l.events, l.deaf = h.events, deaf
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

// remeasuring is how often the API server is asked for usage and for warnings, at most, however
// much changes meanwhile.
const remeasuring = 30 * time.Second

// usageMemory asks for usage at most every so often, and knows it in between.
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

// Measure fills in what the pods of a reading use: what was known of them a short time ago, or
// what the sources say now.
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

// fill gives each pod what it had, if it is the same one.
func (u *usageMemory) fill(r *metrics.UsageReport) {
	for i := range r.Pods {
		p := &r.Pods[i]
		known, ok := u.pods[p.Ref]
		if !ok || known.UID != p.UID {
			p.Unmeasured = "it is new, and not measured yet"
			continue
		}
		p.Used, p.Counters, p.Unmeasured = maps.Clone(known.Used), maps.Clone(known.Counters), known.Unmeasured
	}
	for i := range r.Claims {
		c := &r.Claims[i]
		if known, ok := u.held[c.Ref]; ok && known.UID == c.UID {
			c.Used, c.UsedKnown = known.Used, known.UsedKnown
		}
	}
	r.Notes = append(r.Notes, u.notes...)
}
