package cli

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
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
	if l.Graph.State(id) != graph.Present {
		return nil, web.Bad("%s is %s: it has no stack", l.Graph.Ref(id), l.Graph.State(id))
	}
	input := uistate.Input{Graph: l.Graph, Assessment: l.Assessment, NoInferred: a.o.NoInferred}
	stack := l.Graph.Stack([]graph.ID{id}, l.StackOptions())
	one := uistate.Found{Name: l.Graph.Ref(id), Stack: stack, Health: l.Assessment.Stack(stack), Created: a.v.Created.CreatedAt(l.Graph.Ref(id))}
	for _, m := range stack.Members() {
		if stack.IsOwnPart(m) {
			one.Objects++
		}
	}
	if m := l.SingleStackReport(ctx, id, stack); m != nil {
		input.Report, input.Ledger, input.Placement, input.Reading = m.Report, m.Ledger, m.Attribution, m.Reading
		one.HealthyPods = m.HealthyPods(l.Assessment)[one.Name]
	}
	input.Stacks = []uistate.Found{one}
	a.v.Mu.Lock()
	defer a.v.Mu.Unlock()
	return json.Marshal(uistate.StackOf(input, a.v.Numbers))
}
