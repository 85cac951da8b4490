package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// healthResult is one answer of the health command, before it is shown.
type healthResult struct {
	in         *input
	q          *healthQuestion
	session    *session
	verdicts   *healthCollector
	graph      *graph.Graph
	assessment *health.Assessment
	stacks     []view.HealthStack
	objects    []graph.ID // that --all is about
	home       string
	events     map[object.Ref][]view.Event
	// roots are what a watch is about: they were found once, and may be gone since.
	roots []rootArg
}

// health connects, and learns what the evaluation needs.
func (c *input) health(ctx context.Context, q *healthQuestion) (*healthResult, error) {
	in := *c
	in.extract, in.definitions = slices.Clone(in.extract), q.all
	h := &healthResult{in: &in, q: q}
	h.verdicts = in.collectHealth(q.rules)
	var err error
	h.session, err = in.open(ctx)
	return h, err
}

// evaluate reads what is asked about, and judges it.
func (h *healthResult) evaluate(ctx context.Context) error {
	opts := graph.StackOptions{NoInferred: h.in.noInferred}
	found, err := h.read(ctx, opts)
	if err != nil {
		return err
	}
	defer h.in.clock.stage("judge")()
	h.assessment = h.verdicts.assess(h.graph)
	h.stacks, h.objects = nil, nil
	if h.q.all {
		h.objects = h.every()
	}
	for _, s := range found {
		opts.SameRoot = map[graph.ID]graph.ID{} // the roots of one stack share nothing with each other
		for _, id := range s.Roots {
			opts.SameRoot[id] = s.Roots[0]
		}
		stack := h.graph.Stack(s.Roots, opts)
		h.stacks = append(h.stacks, view.HealthStack{Name: s.Ref, Stack: stack, Health: h.assessment.Stack(stack)})
	}
	return nil
}

// every is each object that was judged, of the namespace and of none where one is asked
// about. What is named and not there is no object that was read, unless it is lacked.
func (h *healthResult) every() []graph.ID {
	var ids []graph.ID
	for id := range graph.ID(h.graph.Len()) {
		ns := h.graph.Ref(id).Namespace
		here := h.in.allNamespaces || h.session.namespace == "" || ns == "" || ns == h.session.namespace
		if here && h.assessment.OwnHealth(id).Status != "" && (h.graph.State(id) != graph.Missing || h.graph.IsMissingDependency(id)) {
			ids = append(ids, id)
		}
	}
	return ids
}

// read reads the graph, and finds the stacks that are asked about.
func (h *healthResult) read(ctx context.Context, opts graph.StackOptions) ([]metrics.Stack, error) {
	s, q := h.session, h.q
	if len(q.args) == 0 {
		g, err := s.readAll(ctx, opts)
		if err != nil {
			return nil, err
		}
		h.graph = g
		if q.all {
			return nil, nil
		}
		found := s.find(g, opts)
		var roots []graph.ID
		for _, f := range found {
			roots = append(roots, f.Roots...)
		}
		h.home = s.home(g, roots)
		return found, nil
	}
	roots, err := h.asked()
	if err != nil {
		return nil, err
	}
	g, err := s.read(ctx, s.ask(roots), func(g *graph.Graph) []graph.ID { return s.resolve(g, roots, q.selector) }, opts)
	if err != nil {
		return nil, err
	}
	if err := s.missing(g, h.sought(g, roots), q.selector); err != nil {
		return nil, err
	}
	if q.watch && h.roots == nil {
		h.roots = roots
	}
	h.graph, h.home = g, s.home(g, s.resolve(g, roots, q.selector))
	var found []metrics.Stack
	for _, r := range roots {
		for _, one := range s.stacksOf(g, r, s.nodes(g, r, q.selector)) {
			if !slices.ContainsFunc(found, func(f metrics.Stack) bool { return f.Ref == one.Ref }) {
				found = append(found, one)
			}
		}
	}
	return found, nil
}

// asked are the roots that are asked about: in a watch those of the beginning, of kinds that
// are served yet.
func (h *healthResult) asked() ([]rootArg, error) {
	if h.roots == nil {
		return selectedRoots(h.q.args, h.q.selector, h.session.kinds)
	}
	return slices.DeleteFunc(slices.Clone(h.roots), func(r rootArg) bool {
		_, served := h.session.kinds.Kind(r.kind.GroupKind())
		return r.group == "" && !served
	}), nil
}

// sought are the roots that must be there. What goes during a watch is a change, unless its
// kind cannot be read: then nobody knows.
func (h *healthResult) sought(g *graph.Graph, roots []rootArg) []rootArg {
	if h.roots == nil {
		return roots
	}
	return slices.DeleteFunc(slices.Clone(roots), func(r rootArg) bool {
		_, unread := h.session.gapOf(g, r.kind, h.session.namespaceOf(r))
		return r.group == "" && !unread
	})
}

// fine says whether all that was asked about is as somebody wants it: Healthy or
// Suspended. Where nothing was found nothing is known to be fine: who may read nothing
// finds nothing.
func (h *healthResult) fine() bool {
	if h.q.all {
		return len(h.objects) > 0 && !slices.ContainsFunc(h.objects, func(id graph.ID) bool { return h.assessment.OwnHealth(id).Status.Worse(health.Suspended) })
	}
	return len(h.stacks) > 0 && !slices.ContainsFunc(h.stacks, func(s view.HealthStack) bool {
		return s.Health.Status == "" || s.Health.Status.Worse(health.Suspended)
	})
}

// reached is an error that names the stacks that are not in the wanted status.
func (h *healthResult) reached() error {
	want := h.q.want
	var not []string
	for _, s := range h.stacks {
		if s.Health.Status != want {
			not = append(not, h.brief(s))
		}
	}
	switch {
	case len(h.stacks) == 0:
		return fmt.Errorf("wait for %s: no stack found", want)
	case len(not) > 0:
		return fmt.Errorf("wait for %s: %s", want, strings.Join(not, "; "))
	}
	return nil
}

// brief is a stack in one line, with its first cause.
func (h *healthResult) brief(s view.HealthStack) string {
	text := fmt.Sprintf("%s is %s", s.Name, s.Health.Status)
	if cause := h.cause(s); cause != "" {
		text += " (" + cause + ")"
	}
	return text
}

// cause is the first of the causes that make a stack what it is; empty for none.
func (h *healthResult) cause(s view.HealthStack) string {
	if c, ok := s.Health.Cause(); ok {
		return fmt.Sprintf("%s: %s", h.graph.Ref(c.ID), cmp.Or(c.Health.Message, c.Health.Reason))
	}
	return ""
}

func (h *healthResult) answer() view.Output {
	options := view.HealthOptions{Namespace: h.home, Now: h.session.moment(), Events: h.events, All: h.q.all, Objects: h.objects}
	if h.q.since > 0 {
		options.Since = options.Now.Add(-h.q.since)
	}
	return view.Health(h.assessment, h.graph, h.stacks, options)
}

// healthQuestion is what is asked, once the flags have been read.
type healthQuestion struct {
	args     []string // the roots; none for all stacks
	all      bool     // every object, instead of stacks
	since    time.Duration
	watch    bool
	selector labels.Selector
	want     health.Status // to wait for; empty for none
	rules    *healthRules
}
