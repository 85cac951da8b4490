package app

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// leftOver counts the objects that are in no stack and are no boundary of one.
func (l *StacksResult) leftOver(in []bool) {
	for id := range graph.ID(l.Graph.Len()) {
		ref := l.Graph.Ref(id)
		if in[id] || l.Graph.State(id) != graph.Present || !l.inNamespace(ref) {
			continue
		}
		l.Rest++
		own := l.assessment.OwnHealth(id)
		if own.Status.Worse(health.Progressing) {
			l.Troubled++
		}
		if own.Reason == health.ReasonUnread {
			own = health.Health{} // An unread object has no health to report.
		}
		if l.List.All {
			l.Others = append(l.Others, view.OtherObject{Object: ref, Why: l.exclusionReason(id, in), Health: own})
		}
	}
	slices.SortFunc(l.Others, func(a, b view.OtherObject) int {
		// Cluster-scoped objects come last: the cluster created most of them.
		return cmp.Or(cmp.Compare(btoi(a.Object.Namespace == ""), btoi(b.Object.Namespace == "")), strings.Compare(a.Object.Namespace, b.Object.Namespace), object.Compare(a.Object, b.Object))
	})
}

// exclusionReason returns why an object is in none of the stacks that have these.
func (l *StacksResult) exclusionReason(id graph.ID, in []bool) string {
	ref := l.Graph.Ref(id)
	switch l.applications.Excluded[id] {
	case graph.IsManager:
		return "manages others"
	case graph.IsConfiguration:
		return "configuration"
	case graph.IsAccessory:
		return "accessory"
	case graph.IsClusterWide:
		return "cluster-wide"
	}
	switch {
	case graph.IsBoundary(ref):
		return "boundary object"
	case l.Session.OwnedByCluster(ref.Namespace):
		return "cluster system"
	case ref.Namespace == "":
		return "cluster-wide"
	case slices.ContainsFunc(l.Graph.OwnersOf(id), func(owner graph.ID) bool { return in[owner] }):
		return "its owner is a producer" // Only what a producer makes is in the stack, not the producer.
	case len(l.Graph.OwnersOf(id)) > 0:
		return "its owner is in no stack"
	}
	return "no dependents"
}

// StackOrders are what stacks can be sorted by.
func StackOrders() []string {
	return []string{"name", "health", "cost", "cpu", "memory", "pods", "age"}
}

// sort orders the rows by name, or by the requested column: the worst, the highest and the oldest
// first, unknown values last.
func (l *StacksResult) sort() {
	slices.SortFunc(l.Rows, func(a, b view.StackRow) int {
		return cmp.Or(l.compare(&a, &b), strings.Compare(a.Name.Namespace, b.Name.Namespace), strings.Compare(a.Name.Name, b.Name.Name), object.Compare(a.Name, b.Name))
	})
}

func (l *StacksResult) compare(a, b *view.StackRow) int {
	switch l.List.SortBy {
	case "health":
		return slices.Index(health.Statuses(), b.Status()) - slices.Index(health.Statuses(), a.Status())
	case "age":
		if a.Created.IsZero() || b.Created.IsZero() {
			return cmp.Compare(btoi(a.Created.IsZero()), btoi(b.Created.IsZero()))
		}
		return a.Created.Compare(b.Created)
	case "cpu":
		return byAmount(a, b, metrics.CPU)
	case "memory":
		return byAmount(a, b, metrics.Memory)
	}
	if a.Row == nil || b.Row == nil {
		return cmp.Compare(btoi(a.Row == nil), btoi(b.Row == nil))
	}
	switch l.List.SortBy {
	case "cost":
		return b.Row.Cost.Cmp(a.Row.Cost)
	case "pods":
		return cmp.Compare(b.Row.Pods, a.Row.Pods)
	}
	return 0
}

// byAmount compares usage, the highest first.
func byAmount(a, b *view.StackRow, res metrics.Resource) int {
	if a.Row == nil || b.Row == nil {
		return cmp.Compare(btoi(a.Row == nil), btoi(b.Row == nil))
	}
	x, known := a.Row.Used.Lookup(res)
	y, measured := b.Row.Used.Lookup(res)
	if !known || !measured {
		return cmp.Compare(btoi(!known), btoi(!measured))
	}
	return y.Cmp(x)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
