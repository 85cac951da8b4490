package app

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

// HealthResult is one answer of the health command, before it is shown.
type HealthResult struct {
	Input      *Input
	Request    *HealthRequest
	Session    *Session
	verdicts   *HealthCollector
	Graph      *graph.Graph
	assessment *health.Assessment
	Stacks     []view.HealthStack
	objects    []graph.ID // of --all
	Home       string
	events     map[object.Ref][]view.Event
	gaps       []object.Gap // besides those of the graph
	// roots are the roots of a watch: they were found once, and may be gone since.
	roots []Root
}

// Health connects, and reads what the evaluation needs.
func (c *Input) Health(ctx context.Context, q *HealthRequest) (*HealthResult, error) {
	in := *c
	in.Extract, in.Definitions = slices.Clone(in.Extract), q.All
	h := &HealthResult{Input: &in, Request: q}
	h.verdicts = in.CollectHealth(q.Rules)
	var err error
	h.Session, err = in.Open(ctx)
	return h, err
}

// Evaluate reads what the request selects, and evaluates its health.
func (h *HealthResult) Evaluate(ctx context.Context) error {
	opts := graph.StackOptions{NoInferred: h.Input.NoInferred}
	found, err := h.read(ctx, opts)
	if err != nil {
		return err
	}
	defer h.Input.Clock.Stage("evaluate")()
	h.assessment = h.verdicts.Assess(h.Graph)
	h.Stacks, h.objects, h.gaps = nil, nil, nil
	if h.Request.All {
		h.objects = h.every()
	}
	for _, s := range found {
		opts.SameRoot = map[graph.ID]graph.ID{} // the roots of one stack share nothing with each other
		for _, id := range s.Roots {
			opts.SameRoot[id] = s.Roots[0]
		}
		stack := h.Graph.Stack(s.Roots, opts)
		h.Stacks = append(h.Stacks, view.HealthStack{Name: s.Ref, Stack: stack, Health: h.assessment.Stack(stack)})
	}
	h.addBackups()
	return nil
}

// every returns each evaluated object, in the namespace of the request or cluster-scoped. It leaves
// out an object that is only named, unless it is missing.
func (h *HealthResult) every() []graph.ID {
	var ids []graph.ID
	for id := range graph.ID(h.Graph.Len()) {
		ns := h.Graph.Ref(id).Namespace
		inScope := h.Input.AllNamespaces || h.Session.Namespace == "" || ns == "" || ns == h.Session.Namespace
		if inScope && h.assessment.OwnHealth(id).Status != "" && (h.Graph.State(id) != graph.Missing || h.Graph.IsMissingDependency(id)) {
			ids = append(ids, id)
		}
	}
	return ids
}

// read reads the graph, and finds the stacks of the request.
func (h *HealthResult) read(ctx context.Context, opts graph.StackOptions) ([]metrics.Stack, error) {
	s, q := h.Session, h.Request
	if len(q.Args) == 0 {
		g, err := s.readAll(ctx, opts)
		if err != nil {
			return nil, err
		}
		h.Graph = g
		if q.All {
			return nil, nil
		}
		found := s.find(g, opts)
		var roots []graph.ID
		for _, f := range found {
			roots = append(roots, f.Roots...)
		}
		h.Home = s.CommonNamespace(g, roots)
		return found, nil
	}
	roots, err := h.asked()
	if err != nil {
		return nil, err
	}
	g, err := s.Read(ctx, s.Query(roots), func(g *graph.Graph) []graph.ID { return s.Resolve(g, roots, q.Selector) }, opts)
	if err != nil {
		return nil, err
	}
	if err := s.Missing(g, h.sought(g, roots), q.Selector); err != nil {
		return nil, err
	}
	if q.Watch && h.roots == nil {
		h.roots = roots
	}
	h.Graph, h.Home = g, s.CommonNamespace(g, s.Resolve(g, roots, q.Selector))
	var found []metrics.Stack
	for _, r := range roots {
		for _, one := range s.StacksOf(g, r, s.Nodes(g, r, q.Selector)) {
			if !slices.ContainsFunc(found, func(f metrics.Stack) bool { return f.Ref == one.Ref }) {
				found = append(found, one)
			}
		}
	}
	return found, nil
}

// asked returns the roots of the request: in a watch the roots of its start, of kinds that are
// still served.
func (h *HealthResult) asked() ([]Root, error) {
	if h.roots == nil {
		return SelectedRoots(h.Request.Args, h.Request.Selector, h.Session.Kinds)
	}
	return slices.DeleteFunc(slices.Clone(h.roots), func(r Root) bool {
		_, served := h.Session.Kinds.Kind(r.Kind.GroupKind())
		return r.Group == "" && !served
	}), nil
}

// sought returns the roots that must exist. One that goes during a watch is a change, unless its
// kind cannot be read: then its existence is unknown.
func (h *HealthResult) sought(g *graph.Graph, roots []Root) []Root {
	if h.roots == nil {
		return roots
	}
	return slices.DeleteFunc(slices.Clone(roots), func(r Root) bool {
		_, unread := h.Session.GapOf(g, r.Kind, h.Session.NamespaceOf(r))
		return r.Group == "" && !unread
	})
}

// IsHealthy reports whether all selected objects are Healthy or Suspended. It is false where nothing was
// found: without permissions nothing is found.
func (h *HealthResult) IsHealthy() bool {
	if h.Request.All {
		return len(h.objects) > 0 && !slices.ContainsFunc(h.objects, func(id graph.ID) bool { return h.assessment.OwnHealth(id).Status.Worse(health.Suspended) })
	}
	return len(h.Stacks) > 0 && !slices.ContainsFunc(h.Stacks, func(s view.HealthStack) bool {
		return s.Health.Status == "" || s.Health.Status.Worse(health.Suspended)
	})
}

// Reached returns an error that names the stacks that are not in the wanted status.
func (h *HealthResult) Reached() error {
	want := h.Request.Want
	var unreached []string
	for _, s := range h.Stacks {
		if s.Health.Status != want {
			unreached = append(unreached, h.brief(s))
		}
	}
	switch {
	case len(h.Stacks) == 0:
		return fmt.Errorf("wait for %s: no stack found", want)
	case len(unreached) > 0:
		return fmt.Errorf("wait for %s: %s", want, strings.Join(unreached, "; "))
	}
	return nil
}

// brief returns a stack in one line, with its first cause.
func (h *HealthResult) brief(s view.HealthStack) string {
	text := fmt.Sprintf("%s is %s", s.Name, s.Health.Status)
	if cause := h.cause(s); cause != "" {
		text += " (" + cause + ")"
	}
	return text
}

// cause returns the first cause of a stack; empty for none.
func (h *HealthResult) cause(s view.HealthStack) string {
	if c, ok := s.Health.Cause(); ok {
		return fmt.Sprintf("%s: %s", h.Graph.Ref(c.ID), cmp.Or(c.Health.Message, c.Health.Reason))
	}
	return ""
}

// Output is what is shown, in the wanted shape.
func (h *HealthResult) Output(shape view.Shape) view.Output {
	options := view.HealthOptions{Namespace: h.Home, Now: h.Session.AsOf(), Events: h.events, Gaps: h.gaps, All: h.Request.All, Objects: h.objects, Shape: shape}
	if h.Request.Since > 0 {
		options.Since = options.Now.Add(-h.Request.Since)
	}
	return view.Health(h.assessment, h.Graph, h.Stacks, options)
}

// HealthRequest holds the flags and arguments of health.
type HealthRequest struct {
	Args     []string // the roots; none for all stacks
	All      bool     // every object, instead of stacks
	Since    time.Duration
	Watch    bool
	Selector labels.Selector
	Want     health.Status // to wait for; empty for none
	Rules    *healthRules
}
