package cli

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/web"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

// impact is what the impact command tells of an object, from the last look.
func (a *uiAPI) impact(_ context.Context, query url.Values) (json.RawMessage, error) {
	l, id, err := a.looked(query.Get("ref"))
	if err != nil {
		return nil, err
	}
	ref, state := l.Graph.Ref(id), l.Graph.State(id)
	switch {
	case state != graph.Present:
		return nil, web.Bad("%s is %s: it cannot be deleted", ref, state)
	case ref.GroupKind() == app.NodeKind:
		return nil, web.Bad("a Node cannot be deleted on the page; see its drain: kubectl sysop impact %s", ref)
	}
	o := graph.ImpactOptions{StackOptions: l.StackOptions()}
	if text := query.Get("cascade"); text != "" {
		if o.Cascade, err = cascadeOf(text); err != nil {
			return nil, web.Bad("%w", err)
		}
	}
	return document(impactOf(l.Graph, id, o))
}
