package web

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// objectAnswer is an object as the page shows it.
type objectAnswer struct {
	YAML string `json:"yaml"`
	// Hidden counts the values that are left out.
	Hidden int           `json:"hidden"`
	Events []eventAnswer `json:"events"`
	// Unavailable is why there is no YAML.
	Unavailable string `json:"unavailable,omitempty"`
}

type eventAnswer struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Count   int    `json:"count"`
	Last    int64  `json:"last"` // seconds of Unix time
	Type    string `json:"type"`
}

// object reads one object again, and the last warnings about it.
func (a *API) object(ctx context.Context, query url.Values) (json.RawMessage, error) {
	l, id, err := a.looked(query.Get("ref"))
	if err != nil {
		return nil, err
	}
	ref, answer := l.Graph.Ref(id), objectAnswer{Events: []eventAnswer{}}
	if l.Graph.State(id) == graph.Present {
		fields, reason, err := l.Session.Whole(ctx, ref)
		switch {
		case err != nil:
			return nil, err
		case fields == nil:
			answer.Unavailable = reason
		default:
			text, hidden := Manifest(fields)
			answer.YAML, answer.Hidden = string(text), hidden
		}
	} else {
		answer.Unavailable = "it is " + l.Graph.State(id).String()
	}
	events, err := l.Session.Warner().Warnings(ctx, []object.Ref{ref}, maxReported)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil {
		for _, e := range events[ref] {
			answer.Events = append(answer.Events, eventAnswer{e.Reason, e.Message, e.Count, seconds(e.Last), "Warning"})
		}
	}
	return json.Marshal(answer)
}

// maxReported is the maximum of warnings about one object.
const maxReported = 10

func seconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// stack is the stack of any object, with the numbers that the page has: what it would be to ask
// about this one alone.
func (a *API) stack(ctx context.Context, query url.Values) (json.RawMessage, error) {
	l, id, err := a.looked(query.Get("root"))
	if err != nil {
		return nil, err
	}
	if l.Graph.State(id) != graph.Present {
		return nil, Bad("%s is %s: it has no stack", l.Graph.Ref(id), l.Graph.State(id))
	}
	input := uistate.Input{Graph: l.Graph, Assessment: l.Assessment, NoInferred: a.Page.Input.NoInferred}
	stack := l.Graph.Stack([]graph.ID{id}, l.StackOptions())
	one := uistate.Found{Name: l.Graph.Ref(id), Stack: stack, Health: l.Assessment.Stack(stack), Created: a.Page.Created.CreatedAt(l.Graph.Ref(id))}
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
	a.Page.Mu.Lock()
	defer a.Page.Mu.Unlock()
	return json.Marshal(uistate.StackOf(input, a.Page.Numbers))
}

// impact is what the impact command tells of an object, from the last look.
func (a *API) impact(_ context.Context, query url.Values) (json.RawMessage, error) {
	answer, err := a.impactOf(query.Get("ref"), query.Get("cascade"))
	if err != nil {
		return nil, err
	}
	return document(answer)
}

func (a *API) impactOf(name, cascade string) (none view.Output, err error) {
	l, id, err := a.looked(name)
	if err != nil {
		return none, err
	}
	ref, state := l.Graph.Ref(id), l.Graph.State(id)
	switch {
	case state != graph.Present:
		return none, Bad("%s is %s: it cannot be deleted", ref, state)
	case ref.GroupKind() == app.NodeKind:
		return none, Bad("a Node cannot be deleted on the page; see its drain: kubectl sysop impact %s", ref)
	}
	o := graph.ImpactOptions{StackOptions: l.StackOptions()}
	if cascade != "" {
		if o.Cascade, err = app.ParseCascade(cascade); err != nil {
			return none, Bad("%w", err)
		}
	}
	return app.Impact(l.Graph, id, o), nil
}
