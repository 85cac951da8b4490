package metrics

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// HistoryOptions say what a History measures.
type HistoryOptions struct {
	// Window that is measured; its ends are moved back to those of a step.
	Window Window
	// Step is one of Steps; 0 means StepFor the window.
	Step time.Duration
	// Namespaces that are measured; none means all.
	Namespaces []string
	// Matchers are added to every query, as PromQL has them, where a server has the
	// series of several clusters: cluster="prod-1".
	Matchers string
	// KindOf returns the API group of the kind of an owner, for kinds beyond the
	// built-in ones: kube-state-metrics has the kind alone. May be nil.
	KindOf func(kind string) (group string, ok bool)
	// Resources are true names of extended resources (google.com/tpu), such as those of the
	// price book and of the nodes: metrics have them with underscores.
	Resources []Resource
	// Client sends the requests; nil means a plain one that follows no redirect.
	Client *http.Client
	// Name is what errors call the server; empty means its URL.
	Name string
	// Timeout is how long one query may take; 0 means a minute.
	Timeout time.Duration
	// Progress is called after each query, with the number of queries that were answered and
	// of those that are known to be needed. May be nil.
	Progress func(answered, needed int)
}

// History is a Source that measures a window with Prometheus or a server with its API
// (Thanos, Mimir, VictoriaMetrics), from the metrics of the kubelets (cAdvisor, volumes),
// kube-state-metrics and, where it is there, kube-scheduler.
//
//	h, err := metrics.NewHistory("http://localhost:9090", metrics.HistoryOptions{Window: w})
//	...
//	report := metrics.UsageReport{}           // or an instant's, with the pods that exist
//	err = h.Measure(ctx, &report)
//
// The server evaluates each quantity over a long piece of the window and answers one number a
// pod or container, so that memory grows with pods. Figures are sums over steps that are
// aligned to the epoch, of whole numbers: adjacent windows of one step add up exactly. A
// window that ends now has the same figures later only if all samples had arrived.
//
// Recording rules (Rules) are used where they cover the window.
type History struct {
	server  *prometheus
	options HistoryOptions
	// fixed says that the step was chosen.
	fixed bool
}

// NewHistory returns a source that asks a server at a URL, with what comes before /api/v1. It
// sends no request yet.
func NewHistory(address string, o HistoryOptions) (*History, error) {
	server, err := newPrometheus(address, o)
	if err != nil {
		return nil, err
	}
	fixed := o.Step != 0
	if !fixed {
		o.Step = StepFor(o.Window)
	}
	switch {
	case !slices.Contains(Steps(), o.Step):
		return nil, fmt.Errorf("step %s: write one of %s", o.Step, joinSteps())
	case !o.Window.From.Before(o.Window.To):
		return nil, fmt.Errorf("window %s is empty", o.Window)
	case !o.Window.Aligned(o.Step).From.Before(o.Window.Aligned(o.Step).To):
		return nil, fmt.Errorf("window %s has no whole step of %s: write a longer window or a shorter step", o.Window, o.Step)
	}
	o.Namespaces = slices.Compact(slices.Sorted(slices.Values(o.Namespaces)))
	return &History{options: o, fixed: fixed, server: server}, nil
}

func joinSteps() string {
	var all []string
	for _, s := range Steps() {
		all = append(all, lengthOf(s))
	}
	return strings.Join(all, ", ")
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// samplesPerQuery bounds how many samples of a series a query evaluates: servers allow 11,000.
const samplesPerQuery = 4320

// Measure replaces the report's figures by those of the window. Pods, claims and nodes that
// are in the report stay in it, also where nothing is known of them; those that only the
// history has are added, pods with Gone set. It fails, and leaves the report as it was, where
// the server cannot be asked or stops answering: half a window would be a wrong figure.
func (h *History) Measure(ctx context.Context, r *UsageReport) error {
	f := newFetcher(h.server, h.options.Progress)
	s, err := h.probe(ctx, f)
	if err != nil {
		return err
	}
	s.know(r)
	var known []*rangeQuery
	for _, fact := range facts() {
		if s.e.has[fact.metric] {
			known = append(known, &rangeQuery{name: fact.metric, piece: 3 * s.piece(), last: true, take: fact.take, write: func(length time.Duration) string {
				return s.e.fact(fact.metric, fact.by, length)
			}})
		}
	}
	if err := s.ask(ctx, f, known); err != nil {
		return err
	}
	for _, late := range []bool{false, true} {
		s.e.unnamed = s.unnamed
		var queries []*rangeQuery
		for _, q := range s.e.quantities(h.options.wholeCluster()) {
			if q.late == late {
				queries = append(queries, s.query(&q))
			}
		}
		if err := s.ask(ctx, f, queries); err != nil {
			return err
		}
	}
	s.fill(r, f)
	return nil
}

// ask asks queries over the window, and takes their rows.
func (s *windowState) ask(ctx context.Context, f *fetcher, queries []*rangeQuery) error {
	for _, q := range queries {
		q.from, q.to, q.step = s.window.From, s.window.To, s.e.step
	}
	if err := f.all(ctx, queries); err != nil {
		return err
	}
	for _, q := range queries {
		for _, key := range slices.Sorted(maps.Keys(q.rows)) {
			q.take(s, q.rows[key])
		}
	}
	return nil
}

// EvaluatedStep is the step with which Measure evaluates the window: that of the recording rules
// where they cover it.
func (h *History) EvaluatedStep(ctx context.Context) (time.Duration, error) {
	s, err := h.probe(ctx, newFetcher(h.server, nil))
	if err != nil {
		return 0, err
	}
	return s.e.step, nil
}

// piece is how much of the window one query evaluates.
func (s *windowState) piece() time.Duration {
	return (samplesPerQuery * s.e.sampling).Truncate(s.e.step)
}

// query sums a quantity over the steps of the window: by its expression, or by its recording
// rule, of which each sample is the value of a step.
func (s *windowState) query(q *quantity) *rangeQuery {
	return &rangeQuery{name: q.name, piece: s.piece(), take: q.take, write: func(length time.Duration) string {
		// What only the specs of pods request is in no rule.
		if ofSpecs := q.name == "pod_requested" || q.name == "pod_charged"; !s.recorded || ofSpecs && len(s.e.specs) > 0 {
			return sumOver(q.expr, length, s.e.step)
		}
		// Each replica of Prometheus records them.
		return maxBy(q.by, "sum_over_time("+s.e.recording(*q)+"["+lengthOf(length-time.Millisecond)+"])")
	}}
}

// probe finds out what the server has.
func (h *History) probe(ctx context.Context, f *fetcher) (*windowState, error) {
	o := h.options
	e := &expressions{step: o.Step, namespaces: o.Namespaces, matchers: o.Matchers, has: map[string]bool{}}
	w := o.Window.Aligned(o.Step)
	match := func(names ...string) string {
		text := `{__name__=~` + quoteMatcher(names)
		if o.Matchers != "" {
			text += "," + o.Matchers
		}
		return text + "}"
	}
	// What is recorded may be there for longer than the samples that it was computed from.
	all := []string{match(e.metrics()...), e.recordedSteps()}
	found, err := f.labelValues(ctx, "__name__", w, all...)
	if err != nil {
		return nil, err
	}
	for _, name := range found {
		e.has[name] = true
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("query %s: it has no metrics of cAdvisor or kube-state-metrics from %s to %s: check that it scrapes them, how long it keeps samples, and whether a tenant or label matchers select other data",
			h.server.name, w.From.Format(time.RFC3339), w.To.Format(time.RFC3339))
	}
	clusters, err := f.labelValues(ctx, "cluster", w, all...)
	if err != nil {
		return nil, err
	}
	if len(clusters) > 1 {
		f.note(Note{
			Subject: h.server.name, Reason: "Ambiguous", LowersFigures: true,
			Message: fmt.Sprintf("the server has series of %d clusters (label cluster), which are mixed up: select one cluster", len(clusters)),
		})
	}
	relabelled := func(names ...string) (bool, error) {
		values, err := f.labelValues(ctx, "exported_namespace", w, match(names...))
		return len(values) > 0, err
	}
	if e.exported, err = relabelled(infoMetric, phaseMetric, requestsMetric); err != nil {
		return nil, err
	}
	if e.has[schedulerMetric] {
		if e.scheduled, err = relabelled(schedulerMetric); err != nil {
			return nil, err
		}
	}
	s := newWindowState(h, e, w)
	return s, s.probeRules(ctx, f)
}
