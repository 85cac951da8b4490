package regulate

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Observation is the input of Observe.
type Observation struct {
	System *system.System
	Graph  *graph.Graph
	Health *health.Assessment
	Kinds  *object.Kinds
	// Namespace is the default for roots if the System has no namespace either. Empty means all:
	// a root is then found by its name alone.
	Namespace string
	// Facts are what the Collector extracted.
	Facts   *Collector
	Signals signals.Finder
	// NoInferred leaves out inferred edges.
	NoInferred bool
}

// Observe returns the state of the apps of a system. It is pure and total: what could not be
// read is in the state of its app.
func Observe(in Observation) *SystemState {
	o := &stateObserver{Observation: in, opts: graph.StackOptions{NoInferred: in.NoInferred}, appOf: map[graph.ID]*observed{}}
	for i := range in.System.Apps {
		app := &in.System.Apps[i]
		o.apps = append(o.apps, &observed{app: app, state: AppState{Name: app.Name}})
	}
	for _, a := range o.apps {
		o.root(a)
	}
	o.divide()
	for _, a := range o.apps {
		if len(a.nodes) > 0 {
			a.stack = in.Graph.Stack(a.nodes, o.opts)
		}
		o.health(a)
		o.upgrade(a)
	}
	o.needs()
	w := &SystemState{}
	for _, a := range o.apps {
		o.actions(a)
		o.managers(a)
		w.Apps = append(w.Apps, a.state)
	}
	return w
}

// stateObserver builds a SystemState.
type stateObserver struct {
	Observation
	opts graph.StackOptions
	apps []*observed
	// appOf finds the app of a group of roots, by the first of them.
	appOf map[graph.ID]*observed
}

// observed is an app under observation.
type observed struct {
	app   *system.App
	state AppState
	// nodes are the roots that the graph has, present or only referenced; roots are the present
	// ones.
	nodes, roots []graph.ID
	own          []graph.ID // its own part, in order; the roots are in it
	stack        *graph.Stack
	// absent and unread are the first missing and the first unread root.
	absent, unread object.Ref
}

// owner returns the app that a node is an own part of.
func (o *stateObserver) owner(id graph.ID) (*observed, bool) {
	root, in := o.opts.PartOf[id]
	if !in {
		return nil, false
	}
	a, in := o.appOf[root]
	return a, in
}

// isOwn says whether a node is an own part of the app, or a root of it.
func (o *stateObserver) isOwn(a *observed, id graph.ID) bool {
	owner, in := o.owner(id)
	return in && owner == a || slices.Contains(a.nodes, id)
}
