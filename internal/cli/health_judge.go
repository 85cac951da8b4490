package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/view"
)

// judged is one answer of the health command, before it is shown.
type judged struct {
	o          *healthOptions
	session    *session
	graph      *graph.Graph
	assessment *health.Assessment
	stacks     []view.HealthStack
	home       string
	events     map[object.Ref][]view.Event
}

// judge reads what is asked about, and judges it.
func (o *healthOptions) judge(ctx context.Context, q *healthQuestion) (*judged, error) {
	fresh, common := *o, *o.common // what reading notes is of one time only
	o, fresh.common = &fresh, &common
	h := &judged{o: o}
	verdicts := o.judging(q.rules)
	var err error
	if h.session, err = o.open(ctx); err != nil {
		return nil, err
	}
	opts := graph.StackOptions{NoInferred: o.noInferred}
	found, err := h.read(ctx, q, opts)
	if err != nil {
		return nil, err
	}
	defer o.clock.stage("judge")()
	h.assessment = verdicts.of(h.session, h.graph)
	for _, s := range found {
		opts := opts
		opts.Apart = s.apart
		stack := h.graph.Stack(s.Roots, opts)
		h.stacks = append(h.stacks, view.HealthStack{Name: s.Ref, Stack: stack, Health: h.assessment.Stack(stack)})
	}
	return h, nil
}

// read reads the graph, and finds the stacks that are asked about.
func (h *judged) read(ctx context.Context, q *healthQuestion, opts graph.StackOptions) ([]foundStack, error) {
	s, o := h.session, h.o
	if len(o.args) == 0 {
		g, err := s.readAll(ctx, opts)
		if err != nil {
			return nil, err
		}
		s.tell(g)
		h.graph, h.home = g, s.namespace
		if o.all {
			return nil, nil
		}
		return s.find(g, opts), nil
	}
	roots, err := selectedRoots(o.args, q.selector, s.kinds)
	if err != nil {
		return nil, err
	}
	g, err := s.read(ctx, s.ask(roots), func(g *graph.Graph) []graph.ID { return s.resolve(g, roots, q.selector) }, opts)
	if err != nil {
		return nil, err
	}
	if err := s.missing(g, roots, q.selector); err != nil {
		return nil, err
	}
	s.tell(g)
	h.graph, h.home = g, s.home(g, s.resolve(g, roots, q.selector))
	var found []foundStack
	for _, r := range roots {
		for _, one := range s.stacksOf(g, r, s.nodes(g, r, q.selector)) {
			if !slices.ContainsFunc(found, func(f foundStack) bool { return f.Ref == one.Ref }) {
				found = append(found, foundStack{Stack: one})
			}
		}
	}
	return found, nil
}

// fine says whether all that was asked about is as somebody wants it: Healthy or
// Suspended.
func (h *judged) fine() bool {
	if h.o.all {
		for id := range graph.ID(h.graph.Len()) {
			if h.assessment.Own(id).Status.Worse(health.Suspended) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(h.stacks, func(s view.HealthStack) bool {
		return s.Health.Status == "" || s.Health.Status.Worse(health.Suspended)
	})
}

// reached is an error that names the stacks that are not in the wanted status.
func (h *judged) reached(want health.Status) error {
	var not []string
	for _, s := range h.stacks {
		if s.Health.Status != want {
			not = append(not, h.brief(s))
		}
	}
	switch {
	case len(h.stacks) == 0:
		return fmt.Errorf("wait for %s: no stack was found", want)
	case len(not) > 0:
		return fmt.Errorf("wait for %s: %s", want, strings.Join(not, "; "))
	}
	return nil
}

// brief is a stack in one line, with its first cause.
func (h *judged) brief(s view.HealthStack) string {
	text := fmt.Sprintf("%s is %s", s.Name, s.Health.Status)
	for _, c := range s.Health.Causes {
		if c.Health.Status != s.Health.Status {
			continue
		}
		return fmt.Sprintf("%s, since %s %s", text, h.graph.Ref(c.ID), strings.TrimSpace(c.Health.Reason+" "+c.Health.Message))
	}
	return text
}

func (h *judged) answer() view.Answer {
	options := view.HealthOptions{Namespace: h.home, Now: h.session.moment(), Events: h.events, All: h.o.all}
	if h.o.since > 0 {
		options.Since = options.Now.Add(-h.o.since)
	}
	return view.Health(h.assessment, h.graph, h.stacks, options)
}

// tell sums up on stderr, for people.
func (h *judged) tell() {
	if !h.o.human() || h.o.all {
		return
	}
	if len(h.stacks) == 0 {
		fmt.Fprintln(h.o.env.ErrOut, "no stacks found")
		return
	}
	counts := map[health.Status]int{}
	for _, s := range h.stacks {
		counts[s.Health.Status]++
	}
	var parts []string
	for _, s := range health.Statuses() {
		if n := counts[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	what := "stacks"
	if len(h.stacks) == 1 {
		what = "stack"
	}
	fmt.Fprintf(h.o.env.ErrOut, "%d %s: %s\n", len(h.stacks), what, strings.Join(parts, ", "))
}

// warnings asks for the last Warning events about the causes; about what is missing they
// are those of who needs it.
func (h *judged) warnings(ctx context.Context) error { return nil }
