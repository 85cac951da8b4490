package regulate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// needs finds which app needs which, by the graph and by the manifest.
func (o *stateObserver) needs() {
	for _, a := range o.apps {
		found := o.arrivals(a)
		for _, d := range o.System.Dependencies {
			if d.From == a.app.Name {
				found = declare(found, d.To, d.Reason)
			}
		}
		for _, c := range o.System.Connections {
			if c.To.App == a.app.Name {
				found = declare(found, c.From.App, fmt.Sprintf("its %s is %s of %s", at(c.To), at(c.From), c.From.App))
			}
		}
		found = slices.DeleteFunc(found, func(n Need) bool { return n.App == a.app.Name })
		slices.SortFunc(found, func(x, y Need) int { return cmp.Compare(o.place(x.App), o.place(y.App)) })
		a.state.Needs = found
	}
}

// at describes an end of a connection.
func at(e system.End) string {
	if e.Root == (system.Root{}) {
		return e.String()
	}
	return e.String() + " (" + e.Root.String() + ")"
}

// place is the position of an app in the manifest.
func (o *stateObserver) place(name string) int {
	return slices.IndexFunc(o.apps, func(a *observed) bool { return a.app.Name == name })
}

// declare adds the needs that the manifest declares. The first one of a pair counts.
func declare(found []Need, app, reason string) []Need {
	i := slices.IndexFunc(found, func(n Need) bool { return n.App == app })
	if i < 0 {
		found = append(found, Need{App: app})
		i = len(found) - 1
	}
	if !found[i].Declared {
		found[i].Declared, found[i].Reason = true, reason
	}
	return found
}

// arrivals walks from the own part of an app, through objects of no app, to the parts of others.
// The walk without inferred edges comes first: its evidence is better, however long the path.
func (o *stateObserver) arrivals(a *observed) []Need {
	if a.stack == nil {
		return nil
	}
	found := o.walk(a, false)
	if o.NoInferred {
		return found
	}
	for _, n := range o.walk(a, true) {
		if !slices.ContainsFunc(found, func(have Need) bool { return have.App == n.App }) {
			found = append(found, n)
		}
	}
	return found
}

// came is the node and the edge by which the walk reached a node.
type came struct {
	from graph.ID
	part graph.Part
}

// walk returns the shortest path to each other app.
func (o *stateObserver) walk(a *observed, inferred bool) []Need {
	var found []Need
	way := map[graph.ID]came{}
	next := o.lasting(a)
	for _, id := range next {
		way[id] = came{from: id}
	}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		for p := range a.stack.Parts(at) {
			if _, seen := way[p.To]; seen || !leads(p, inferred) {
				continue
			}
			way[p.To] = came{at, p}
			b, owned := o.arrived(a, p.To)
			switch {
			case !owned:
				next = append(next, p.To)
			case b != a && !slices.ContainsFunc(found, func(n Need) bool { return n.App == b.app.Name }):
				found = append(found, o.need(b, p.To, way))
			}
		}
	}
	return found
}

// lasting returns the own part of an app, long-lived objects first: a need has better evidence
// from a root or a workload than from a Pod.
func (o *stateObserver) lasting(a *observed) []graph.ID {
	rank := func(id graph.ID) int {
		switch gk := o.Graph.Ref(id).GroupKind(); {
		case slices.Contains(a.nodes, id):
			return 0
		case gk.Kind == "Pod", gk.Kind == "ReplicaSet", gk.Kind == "Job":
			return 2
		}
		return 1
	}
	own := slices.Clone(a.own)
	slices.SortStableFunc(own, func(x, y graph.ID) int { return cmp.Compare(rank(x), rank(y)) })
	return own
}

// arrived returns the other app that a node belongs to, also as a root that two apps name.
func (o *stateObserver) arrived(a *observed, id graph.ID) (*observed, bool) {
	if b, owned := o.owner(id); owned {
		return b, true
	}
	for _, b := range o.apps {
		if b != a && slices.Contains(b.nodes, id) {
			return b, true
		}
	}
	return nil, false
}

// leads reports whether a node does not work without a part. Excluded are parts that serve the
// node, optional ones, and those it only observes: a Prometheus does not need the applications
// that it watches.
func leads(p graph.Part, inferred bool) bool {
	if !p.Required || p.Terminal() {
		return false
	}
	e, known := p.Edge()
	return inferred || !known || !e.Inferred
}

func (o *stateObserver) need(b *observed, to graph.ID, way map[graph.ID]came) Need {
	n := Need{App: b.app.Name, To: o.Graph.Ref(to)}
	path := []object.Ref{n.To}
	at := to
	for {
		step := way[at]
		n.Edge, _ = step.part.Edge()
		at = step.from
		path = append(path, o.Graph.Ref(at))
		if way[at].from == at {
			break
		}
	}
	slices.Reverse(path)
	n.From = path[0]
	if len(path) > 2 {
		n.Path = path
	}
	return n
}
