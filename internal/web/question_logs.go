package web

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/logs"
)

// How many lines of a log are read where the page says nothing, and at most.
const (
	defaultTail = 200
	maxTail     = 5000
)

// logs reads the last lines of a container of a pod, with the permissions of the user.
func (a *API) logs(ctx context.Context, query url.Values) (json.RawMessage, error) {
	l, id, err := a.looked(query.Get("ref"))
	if err != nil {
		return nil, err
	}
	ref := l.Graph.Ref(id)
	if ref.GroupKind() != app.PodKind {
		return nil, Bad("%s is not a Pod: only Pods have logs", ref)
	}
	tail := int64(defaultTail)
	if text := query.Get("tail"); text != "" {
		if tail, err = strconv.ParseInt(text, 10, 64); err != nil || tail < 1 || tail > maxTail {
			return nil, Bad("tail=%s: expected 1 to %d lines", text, maxTail)
		}
	}
	log, err := logs.ReadPod(ctx, l.Session, ref, query.Get("container"), logs.Options{Previous: query.Get("previous") == "true", Tail: &tail})
	if err != nil {
		return nil, err
	}
	return json.Marshal(log)
}
