package view

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-sysop/kubectl-sysop/internal/document"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// HealthOptions say what is shown of the health of stacks.
type HealthOptions struct {
	// Namespace is that of the user: objects of others are shown with theirs.
	Namespace string
	// Now is the time from which ages are counted.
	Now time.Time
	// Since expands what changed after it, besides what is wrong; zero for nothing.
	Since time.Time
	// Events are the last warnings about causes, and about who needs a cause that is
	// missing.
	Events map[object.Ref][]Event
	// Gaps are what could not be read besides those of the graph.
	Gaps []object.Gap
	// All lists Objects instead of stacks.
	All     bool
	Objects []graph.ID
	// Shape is the one that is wanted, since each takes time and memory; 0 is all of them.
	Shape Shape
}

// Event is a Warning event about an object, seen once or several times.
type Event struct {
	Reason  string
	Message string
	Count   int
	Last    time.Time
}

// HealthStack is a stack and its health.
type HealthStack struct {
	// Name is what the stack is called: its root, or helm/NAME.
	Name   object.Ref
	Stack  *graph.Stack
	Health *health.Stack
	// Evidence is what others say about it, beside its objects.
	Evidence []document.Evidence
}

// Health returns the answer of the health command.
func Health(a *health.Assessment, g *graph.Graph, stacks []HealthStack, o HealthOptions) Output {
	v := &healthView{a: a, g: g, stacks: stacks, o: o}
	ids := slices.Clone(o.Objects)
	for _, s := range stacks {
		ids = append(ids, s.Stack.Members()...)
	}
	slices.Sort(ids)
	v.ids = slices.Compact(ids)
	v.names = newNames(g, o.Namespace, v.ids)
	answer := Output{}
	if o.Shape.has(DocumentShape) {
		answer.Document = v.document()
	}
	if o.Shape.has(NamesShape) {
		answer.Names = v.troubled()
	}
	switch {
	case !o.Shape.has(TreeShape):
	case o.All:
		answer.Tree = v.byStatus()
	default:
		answer.Tree = v.tree()
	}
	switch {
	case !o.Shape.has(TableShape) && !o.Shape.has(WideShape):
	case o.All:
		c := v.objectColumns()
		answer.Table, answer.Wide = c.Table(v.ids), c.wideTable(v.ids)
	default:
		rows := v.causes()
		c := v.causeColumns().omit(!slices.ContainsFunc(rows, func(r causeRow) bool { return len(r.s.Evidence) > 0 }), "EVIDENCE")
		answer.Table, answer.Wide = c.Table(rows), c.wideTable(rows)
	}
	return answer
}

type healthView struct {
	a      *health.Assessment
	g      *graph.Graph
	stacks []HealthStack
	o      HealthOptions
	ids    []graph.ID
	names  names
}

// troubled are the unhealthy objects, each once: the causes, or of all
// objects those that are neither healthy nor suspended.
func (v *healthView) troubled() []string {
	found := map[graph.ID]bool{}
	if v.o.All {
		for _, id := range v.ids {
			found[id] = v.a.OwnHealth(id).Status.Worse(health.Suspended)
		}
	}
	for _, s := range v.stacks {
		for _, c := range s.Health.Causes {
			found[c.ID] = true
		}
	}
	out := []string{}
	for _, id := range v.ids {
		if found[id] {
			out = append(out, v.g.Ref(id).String())
		}
	}
	return out
}

// HealthCell is a status with its sign.
func HealthCell(s health.Status) Cell {
	switch s {
	case health.Healthy:
		return Cell{"✔ Healthy", Good}
	case health.Suspended:
		return Cell{"‖ Suspended", Faint}
	case health.Unknown:
		return Cell{"? Unknown", Warn}
	case health.Progressing:
		return Cell{"◌ Progressing", Warn}
	case health.Missing:
		return Cell{"✖ Missing", Bad}
	case health.Degraded:
		return Cell{"✖ Degraded", Bad}
	}
	return Cell{}
}

// since is how long something has been so.
func (v *healthView) since(at time.Time) string { return Age(v.o.Now, at) }

// Age is the time between two moments as kubectl writes it; empty where it is unknown.
func Age(now, at time.Time) string {
	if at.IsZero() || now.IsZero() {
		return ""
	}
	return duration.HumanDuration(max(0, now.Sub(at)))
}

// verdict is a reason with its message, the reason once.
func verdict(reason, message string) string {
	switch {
	case message == "":
		return reason
	case strings.Contains(message, reason):
		return message
	case reason == "" || reason == health.Derived || reason == health.ReasonNotFound || reason == health.Exists || reason == health.NoStatus || reason == health.NoVerdict || reason == health.ReasonUnread:
		return message
	}
	return reason + ": " + message
}
