package cli

import (
	"slices"

	"github.com/shopspring/decimal"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// stacksResult is one answer of the stacks command, before it is shown. What is measured is
// that of all stacks that were found, also of those that are not listed: what several
// have is split among all.
type stacksResult struct {
	*metricsResult
	o        *stacksOptions
	selector labels.Selector
	created  *creationTimes

	findings   graph.FoundStacks
	assessment *health.Assessment
	rows       []view.StackRow
	total      cost.Row
	hidden     int // stacks of the cluster itself that are not listed
	rest       int // objects in no stack
	troubled   int // of these
	others     []view.OtherObject
	unmeasured map[string]int // pods of what is listed, by why their usage is not known
}

// find finds the stacks, to be measured.
func (l *stacksResult) find(m *metricsResult) []metrics.Stack {
	l.findings = m.session.applications(m.graph, m.stackOptions())
	var out []metrics.Stack
	for _, f := range l.findings.Stacks {
		out = append(out, metrics.Stack{Ref: f.Ref(m.graph), Roots: f.Roots})
	}
	return out
}

// evaluate makes the rows, and finds what is in no stack.
func (l *stacksResult) evaluate() {
	opts := l.stackOptions()
	parted := opts
	parted.PartOf = l.graph.PartOf(l.roots(), opts)
	var stacks []*graph.Stack
	holders, in := map[graph.ID]int{}, map[graph.ID]bool{}
	for _, f := range l.findings.Stacks {
		s := l.graph.Stack(f.Roots, parted)
		for _, id := range s.Members() {
			in[id] = true
			if s.IsOwnPart(id) {
				holders[id]++
			}
		}
		stacks = append(stacks, s)
	}
	figures := map[object.Ref]*cost.Row{}
	for _, row := range l.report.Rows {
		if row.Level == cost.LevelStack {
			figures[row.Ref] = row
		}
	}
	well := l.well(l.assessment)
	listed := map[object.Ref]bool{}
	for i, f := range l.findings.Stacks {
		if !l.wants(f) {
			continue
		}
		row := l.row(f, stacks[i], holders)
		row.Row, row.HealthyPods = figures[row.Name], well[row.Name]
		// How it fares is told as health tells it, of all that it needs.
		row.Health = l.assessment.Stack(l.graph.Stack(f.Roots, opts))
		for _, c := range row.Health.Causes {
			row.Causes = append(row.Causes, view.StackCause{Object: l.graph.Ref(c.ID), Health: c.Health})
		}
		listed[row.Name] = true
		l.rows = append(l.rows, row)
	}
	l.sum(listed)
	l.sort()
	l.leftOver(in)
}

// wants says whether a stack is to be listed.
func (l *stacksResult) wants(f graph.FoundStack) bool {
	if l.selector != nil && !slices.ContainsFunc(f.TopObjects, func(id graph.ID) bool { return l.selector.Matches(labels.Set(l.graph.Labels(id))) }) {
		return false
	}
	if !l.o.all && l.session.isClusterSystem(l.graph, f) {
		l.hidden++
		return false
	}
	return true
}

func (l *stacksResult) row(f graph.FoundStack, s *graph.Stack, holders map[graph.ID]int) view.StackRow {
	row := view.StackRow{Name: f.Ref(l.graph), By: f.Group.By, Created: l.created.earliest(l.graph, f.TopObjects), Cluster: l.session.isClusterSystem(l.graph, f)}
	for _, id := range f.TopObjects {
		row.Roots = append(row.Roots, l.graph.Ref(id))
	}
	for _, id := range s.Members() {
		if !s.IsOwnPart(id) {
			continue
		}
		row.Objects++
		if holders[id] > 1 && l.isTopShared(id, func(other graph.ID) bool { return other != id && holders[other] > 1 && s.IsOwnPart(other) }) {
			row.Shared = append(row.Shared, l.graph.Ref(id))
		}
	}
	return row
}

// isTopShared says whether a shared node is shared for its own sake: no other of them owns or
// needs it, and it serves none of them.
func (l *stacksResult) isTopShared(id graph.ID, shared func(graph.ID) bool) bool {
	for e := range l.graph.In(id) {
		if e.Relation != relation.Serves && shared(e.From) {
			return false
		}
	}
	for e := range l.graph.Out(id) {
		if e.Relation == relation.Serves && shared(e.To) {
			return false
		}
	}
	return true
}

// sum adds up what is listed. A pod that several stacks have counts once; of what it uses
// and costs each of them has a part.
func (l *stacksResult) sum(listed map[object.Ref]bool) {
	t := &l.total
	l.unmeasured = map[string]int{}
	t.Used, t.Costs = metrics.Amounts{}, map[string]decimal.Decimal{}
	for i := range l.reading.Pods {
		p := &l.reading.Pods[i]
		if slices.ContainsFunc(l.place.Of[p.Ref].Stacks, func(s object.Ref) bool { return listed[s] }) {
			t.Pods++
			if p.Unmeasured == "" {
				t.Measured++
			} else {
				l.unmeasured[p.Unmeasured]++
			}
		}
	}
	for i := range l.rows {
		row := l.rows[i].Row
		if row == nil {
			continue
		}
		t.Cost = t.Cost.Add(row.Cost)
		for part, c := range row.Costs {
			t.Costs[part] = t.Costs[part].Add(c)
		}
		for _, res := range []metrics.Resource{metrics.CPU, metrics.Memory} {
			if n, known := row.Used[res]; known {
				t.Used[res] = t.Used[res].Add(n)
			}
		}
	}
}

// commonNamespace is the namespace that need not be written, since all is in it.
func (l *stacksResult) commonNamespace() string {
	if l.o.allNamespaces || slices.ContainsFunc(l.rows, func(r view.StackRow) bool { return r.Name.Namespace != l.home }) ||
		slices.ContainsFunc(l.others, func(o view.OtherObject) bool { return o.Object.Namespace != l.home }) {
		return ""
	}
	return l.home
}

// typed is what a kind is called on the command line, where another one may have the
// same name.
func (s *session) typed(r object.Ref) string {
	if k, err := s.kinds.Find(r.Kind); err == nil && k.GroupKind() == r.GroupKind() || r.Group == "" {
		return r.Kind
	}
	return r.Kind + "." + r.Group
}
