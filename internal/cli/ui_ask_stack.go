package cli

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/internal/web"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// stack is the stack of any object, with the numbers that the page has: what it would be to ask
// about this one alone.
func (a *uiAPI) stack(ctx context.Context, query url.Values) (json.RawMessage, error) {
	l, id, err := a.looked(query.Get("root"))
	if err != nil {
		return nil, err
	}
	if l.graph.State(id) != graph.Present {
		return nil, web.Bad("%s is %s: it has no stack", l.graph.Ref(id), l.graph.State(id))
	}
	of := view.UIInput{Graph: l.graph, Assessment: l.assessment, NoInferred: a.o.noInferred}
	stack := l.graph.Stack([]graph.ID{id}, l.stackOptions())
	one := view.UIFound{Name: l.graph.Ref(id), Stack: stack, Health: l.assessment.Stack(stack), Created: a.v.created.createdAt(l.graph.Ref(id))}
	for _, m := range stack.Members() {
		if stack.IsOwnPart(m) {
			one.Objects++
		}
	}
	if m := l.singleStackReport(ctx, id, stack); m != nil {
		of.Report, of.Ledger, of.Placement, of.Reading = m.report, m.ledger, m.place, m.reading
		one.HealthyPods = m.well(l.assessment)[one.Name]
	}
	of.Stacks = []view.UIFound{one}
	a.v.mu.Lock()
	defer a.v.mu.Unlock()
	return json.Marshal(view.UIStackOf(of, a.v.numbers))
}

// singleStackReport makes the figures of one stack as if it were asked about alone; nil where not all that is
// in it was measured.
func (l *uiSnapshot) singleStackReport(ctx context.Context, id graph.ID, stack *graph.Stack) *metricsResult {
	if !l.whole && slices.ContainsFunc(stack.Members(), func(m graph.ID) bool { return stack.IsOwnPart(m) && !l.measuredHere(m) }) {
		return nil
	}
	m, r, q := *l.metricsResult, *l.reading, *l.q
	r.Pods, r.Claims, r.LoadBalancers, r.Notes = slices.Clone(r.Pods), slices.Clone(r.Claims), slices.Clone(r.LoadBalancers), nil
	m.reading, m.q, m.asked, m.extra = &r, &q, true, nil
	m.stacks = []metrics.Stack{{Ref: l.graph.Ref(id), Roots: []graph.ID{id}}}
	m.place = metrics.NewPlacement(m.graph, m.stacks, m.reading, m.stackOptions())
	m.price()
	if err := m.roll(ctx); err != nil {
		return nil // which it cannot be: nobody is asked
	}
	return &m
}

// measuredHere says whether the reading has all that is to be known of an object: what is in a stack
// that is asked about, or in the namespace.
func (l *uiSnapshot) measuredHere(id graph.ID) bool {
	return !l.asked && l.inNamespace(l.graph.Ref(id)) || slices.ContainsFunc(l.found, func(s surveyStack) bool { return s.Stack.IsOwnPart(id) })
}
