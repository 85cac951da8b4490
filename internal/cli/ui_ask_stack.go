package cli

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/internal/web"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
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
		one.Well = m.well(l.assessment)[one.Name]
	}
	of.Stacks = []view.UIFound{one}
	a.v.mu.Lock()
	defer a.v.mu.Unlock()
	return json.Marshal(view.UIStackOf(of, a.v.numbers))
}
