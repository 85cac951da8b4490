package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"

	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/web"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

// impact is what the impact command tells of an object, from the last look.
func (a *uiAPI) impact(_ context.Context, query url.Values) (json.RawMessage, error) {
	l, id, err := a.looked(query.Get("ref"))
	if err != nil {
		return nil, err
	}
	ref, state := l.graph.Ref(id), l.graph.State(id)
	switch {
	case state != graph.Present:
		return nil, web.Bad("%s is %s: it cannot be deleted", ref, state)
	case ref.GroupKind() == nodeKind:
		return nil, web.Bad("a Node cannot be deleted on the page; see its drain: kubectl sysop impact %s", ref)
	}
	o := graph.ImpactOptions{StackOptions: l.stackOptions()}
	if text := query.Get("cascade"); text != "" {
		if o.Cascade, err = cascadeOf(text); err != nil {
			return nil, web.Bad("%w", err)
		}
	}
	var out bytes.Buffer
	err = render.JSONLine(&out, impactOf(l.graph, id, o).Document)
	return out.Bytes(), err
}
