package app

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// StacksRequest selects and orders the stacks of a list.
type StacksRequest struct {
	Selector labels.Selector // of one of their roots; nil for every stack
	All      bool            // also the stacks of the cluster system, and what is in no stack
	SortBy   string
	Book     *cost.Book
	Rules    *healthRules
}

// Stacks finds the stacks, measures them and evaluates their health.
func (c *Input) Stacks(ctx context.Context, q StacksRequest) (*StacksResult, error) {
	in := *c
	l := &StacksResult{List: q, created: NewCreationTimes()}
	in.Extract = append(slices.Clone(in.Extract), l.created.Extractor)
	verdicts := in.CollectHealth(q.Rules)
	var err error
	l.MetricsResult, err = in.Measure(ctx, &MetricsRequest{Book: q.Book, Options: cost.Options{Sharing: cost.ShareEven}, Brief: true, Applications: true})
	if err != nil {
		return nil, err
	}
	// The list shows the rows of stacks alone, and none for what is idle.
	l.DropCharges()
	for _, row := range l.Report.Rows {
		row.Children = nil
	}
	l.Reading.Notes = slices.DeleteFunc(l.Reading.Notes, func(n metrics.Note) bool { return n.Reason == "Idle" })
	defer in.Clock.Stage("evaluate")()
	l.assessment = verdicts.Assess(l.Graph)
	l.evaluate()
	return l, nil
}

// StacksResult is one answer of the stacks command, before it is shown. All stacks are measured,
// also those that are not listed, since shared cost is split among all.
type StacksResult struct {
	*MetricsResult
	List    StacksRequest
	created *creationTimes

	assessment *health.Assessment
	Rows       []view.StackRow
	Total      cost.Row
	Hidden     int // stacks of the cluster itself that are not listed
	Rest       int // objects in no stack
	Troubled   int // of these
	Others     []view.OtherObject
	Unmeasured map[string]int // pods of the listed stacks, by why their usage is unknown
}

// evaluate makes the rows, and finds what is in no stack.
func (l *StacksResult) evaluate() {
	opts := l.StackOptions()
	parted := opts
	parted.PartOf = l.Graph.PartOf(l.roots(), opts)
	var stacks []*graph.Stack
	holders, in := make([]int32, l.Graph.Len()), make([]bool, l.Graph.Len())
	for _, f := range l.applications.Stacks {
		s := l.Graph.Stack(f.Roots, parted)
		for _, id := range s.Members() {
			in[id] = true
			if s.IsOwnPart(id) {
				holders[id]++
			}
		}
		stacks = append(stacks, s)
	}
	figures := map[object.Ref]*cost.Row{}
	for _, row := range l.Report.Rows {
		if row.Level == cost.LevelStack {
			figures[row.Ref] = row
		}
	}
	well := l.HealthyPods(l.assessment)
	listed := map[object.Ref]bool{}
	for i, f := range l.applications.Stacks {
		if !l.wants(f) {
			continue
		}
		row := l.row(f, stacks[i], holders)
		row.Row, row.HealthyPods = figures[row.Name], well[row.Name]
		// The health is that of the health command: of the whole stack.
		row.Health = l.assessment.Stack(l.Graph.Stack(f.Roots, opts))
		row.Health.Parts = nil // Of many stacks they are most of the memory, and a list shows none.
		for _, c := range row.Health.Causes {
			row.Causes = append(row.Causes, view.StackCause{Object: l.Graph.Ref(c.ID), Health: c.Health})
		}
		listed[row.Name] = true
		l.Rows = append(l.Rows, row)
	}
	l.sum(listed)
	l.sort()
	l.leftOver(in)
}

// wants reports whether a stack is listed.
func (l *StacksResult) wants(f graph.FoundStack) bool {
	if l.List.Selector != nil && !slices.ContainsFunc(f.TopObjects, func(id graph.ID) bool { return l.List.Selector.Matches(labels.Set(l.Graph.Labels(id))) }) {
		return false
	}
	if !l.List.All && l.Session.IsClusterSystem(l.Graph, f) {
		l.Hidden++
		return false
	}
	return true
}

func (l *StacksResult) row(f graph.FoundStack, s *graph.Stack, holders []int32) view.StackRow {
	row := view.StackRow{Name: f.Ref(l.Graph), By: f.Group.By, Created: l.created.earliest(l.Graph, f.TopObjects), Cluster: l.Session.IsClusterSystem(l.Graph, f)}
	for _, id := range f.TopObjects {
		row.Roots = append(row.Roots, l.Graph.Ref(id))
	}
	for _, id := range s.Members() {
		if !s.IsOwnPart(id) {
			continue
		}
		row.Objects++
		if holders[id] > 1 && l.isTopShared(id, func(other graph.ID) bool { return other != id && holders[other] > 1 && s.IsOwnPart(other) }) {
			row.Shared = append(row.Shared, l.Graph.Ref(id))
		}
	}
	return row
}

// isTopShared reports whether a shared node is shared by itself: no other shared node owns or needs
// it, and it serves none of them.
func (l *StacksResult) isTopShared(id graph.ID, shared func(graph.ID) bool) bool {
	for e := range l.Graph.In(id) {
		if e.Relation != relation.Serves && shared(e.From) {
			return false
		}
	}
	for e := range l.Graph.Out(id) {
		if e.Relation == relation.Serves && shared(e.To) {
			return false
		}
	}
	return true
}

// sum adds up the listed stacks. A pod of several stacks counts once; its usage and cost are split
// among them.
func (l *StacksResult) sum(listed map[object.Ref]bool) {
	t := &l.Total
	l.Unmeasured = map[string]int{}
	t.Used, t.Costs = metrics.Amounts{}, metrics.Amounts{}
	for i := range l.Reading.Pods {
		p := &l.Reading.Pods[i]
		if slices.ContainsFunc(l.Attribution.Of[p.Ref].Stacks, func(s object.Ref) bool { return listed[s] }) {
			t.Pods++
			if p.Unmeasured == "" {
				t.Measured++
			} else {
				l.Unmeasured[p.Unmeasured]++
			}
		}
	}
	for i := range l.Rows {
		row := l.Rows[i].Row
		if row == nil {
			continue
		}
		t.Cost = t.Cost.Add(row.Cost)
		for part, c := range row.Costs.All() {
			t.Costs.Add(part, c)
		}
		for _, res := range []metrics.Resource{metrics.CPU, metrics.Memory} {
			if n, known := row.Used.Lookup(res); known {
				t.Used.Add(res, n)
			}
		}
	}
}

// CommonNamespace is the namespace that output omits, since all is in it.
func (l *StacksResult) CommonNamespace() string {
	if l.Input.AllNamespaces || slices.ContainsFunc(l.Rows, func(r view.StackRow) bool { return r.Name.Namespace != l.Home }) ||
		slices.ContainsFunc(l.Others, func(o view.OtherObject) bool { return o.Object.Namespace != l.Home }) {
		return ""
	}
	return l.Home
}

// Typed is the name of a kind on the command line, qualified where another kind has the same name.
func (s *Session) Typed(r object.Ref) string {
	if k, err := s.Kinds.Find(r.Kind); err == nil && k.GroupKind() == r.GroupKind() || r.Group == "" {
		return r.Kind
	}
	return r.Kind + "." + r.Group
}
