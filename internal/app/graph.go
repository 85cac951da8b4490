package app

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// GraphRequest asks for the stack of some roots.
type GraphRequest struct {
	Args     []string
	Selector labels.Selector // of the roots of a type
	Options  graph.StackOptions
	Kinds    []string // only problems and parts of these types are shown; empty for all
	Include  []string // types that are read although they are left out by default
	Manifest bool     // the manifests of Helm releases are read from Helm's Secrets
	Diagnose bool     // all problems are found, not only what the graph knows anyway
}

// GraphResult is the stack of some roots.
type GraphResult struct {
	Session  *Session
	Graph    *graph.Graph
	Stack    *graph.Stack
	Problems []graph.Problem
	Show     func(object.Ref) bool // nil to show everything
	Home     string                // the namespace that all roots are in; empty for several
}

// Graph reads the stack of some roots.
func (c *Input) Graph(ctx context.Context, q GraphRequest) (*GraphResult, error) {
	s, err := c.Open(ctx)
	if err != nil {
		return nil, err
	}
	roots, err := SelectedRoots(q.Args, q.Selector, s.Kinds)
	if err != nil {
		return nil, err
	}
	r := &GraphResult{Session: s}
	if r.Show, err = shownKinds(q.Kinds, s.Kinds); err != nil {
		return nil, err
	}
	if err := c.including(q.Include, s.Kinds); err != nil {
		return nil, err
	}
	if q.Manifest {
		if err := s.ReadReleases(ctx, roots); err != nil {
			return nil, err
		}
	}
	resolve := func(g *graph.Graph) []graph.ID { return s.Resolve(g, roots, q.Selector) }
	if r.Graph, err = s.Read(ctx, s.Query(roots), resolve, q.Options); err != nil {
		return nil, err
	}
	if err := s.Missing(r.Graph, roots, q.Selector); err != nil {
		return nil, err
	}
	s.ReportGaps(r.Graph)
	ids := resolve(r.Graph)
	q.Options.SameRoot = s.Together(r.Graph, roots)
	r.Stack, r.Home = r.Graph.Stack(ids, q.Options), s.CommonNamespace(r.Graph, ids)
	if r.Problems = r.Stack.Problems(); q.Diagnose {
		r.Problems = r.Stack.Diagnose()
	}
	return r, nil
}

// ShownProblems are the problems of the objects that are shown.
func (r *GraphResult) ShownProblems() []graph.Problem {
	if r.Show == nil {
		return r.Problems
	}
	return slices.DeleteFunc(slices.Clone(r.Problems), func(p graph.Problem) bool { return !r.Show(p.Object) })
}

func shownKinds(names []string, kinds *object.Kinds) (func(object.Ref) bool, error) {
	if len(names) == 0 {
		return nil, nil
	}
	show := map[schema.GroupKind]bool{}
	for _, name := range names {
		k, err := kinds.Find(name)
		if err != nil {
			return nil, fmt.Errorf("--kinds: %w", err)
		}
		show[k.GroupKind()] = true
	}
	return func(r object.Ref) bool { return show[r.GroupKind()] }, nil
}

// including has kinds read that are left out by default.
func (c *Input) including(names []string, kinds *object.Kinds) error {
	for _, name := range names {
		k, err := kinds.Find(name)
		if err != nil {
			return fmt.Errorf("--include: %w", err)
		}
		if !source.LeftOut(k) {
			return hint.With(fmt.Errorf("--include %s: they are included by default", name), "left out by default are events, leases and endpoints")
		}
		c.Include = append(c.Include, k.GroupKind())
	}
	return nil
}
