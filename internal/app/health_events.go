package app

import (
	"context"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// warner is a source of Warning events.
type warner interface {
	Warnings(ctx context.Context, refs []object.Ref, each int) (map[object.Ref][]source.Event, error)
}

const (
	// maxWarned is about how many causes warnings are asked for: more nobody reads.
	maxWarned = 20
	// eachWarned is how many are shown of each.
	eachWarned = 3
)

// Warn asks for the last Warning events about the causes. What is missing has none: the events
// of what needs it are shown with it. It returns a gap where they cannot be read.
func (h *HealthResult) Warn(ctx context.Context) (*object.Gap, error) {
	defer h.Input.Clock.Stage("warnings")()
	about, refs := h.warned()
	if len(refs) == 0 {
		return nil, nil
	}
	found, err := h.Session.Warner().Warnings(ctx, refs, eachWarned)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var gap *object.Gap
	if err != nil {
		gap = &object.Gap{Resource: "events", Reason: "Unavailable", Message: err.Error()}
	}
	h.events = map[object.Ref][]view.Event{}
	for ref, of := range about {
		for _, e := range found[of] {
			if h.Request.Since > 0 && e.Last.Before(h.Session.AsOf().Add(-h.Request.Since)) {
				continue
			}
			h.events[ref] = append(h.events[ref], view.Event{Reason: e.Reason, Message: e.Message, Count: e.Count, Last: e.Last})
		}
	}
	return gap, nil
}

// Warner is who knows the events.
func (s *Session) Warner() warner {
	switch from := s.Source.(type) {
	case *source.Cluster:
		return from
	case *source.Live:
		return from.Cluster()
	case *source.Snapshot:
		return from
	}
	return nil
}

// warned returns of whom warnings are asked for, by the causes that they are to tell of.
func (h *HealthResult) warned() (map[object.Ref]object.Ref, []object.Ref) {
	about := map[object.Ref]object.Ref{}
	var refs []object.Ref
	for _, s := range h.Stacks {
		for _, c := range s.Health.Causes {
			ref := h.Graph.Ref(c.ID)
			if _, known := about[ref]; known || len(refs) == maxWarned {
				continue
			}
			of := ref
			if c.Health.Status == health.Missing && !c.Root {
				of = h.Graph.Ref(h.rootCause(c.Of, c.ID))
			}
			about[ref] = of
			if !slices.Contains(refs, of) {
				refs = append(refs, of)
			}
		}
	}
	return about, refs
}

// rootCause is who below a node needs what is missing: of a Deployment, its ReplicaSet and
// its pod, all of which name a Secret, the kubelet tells of the pod.
func (h *HealthResult) rootCause(of, missing graph.ID) graph.ID {
	for next := []graph.ID{of}; len(next) > 0; {
		at := next[0]
		next = next[1:]
		for _, c := range h.Graph.Owned(at) {
			for range h.Graph.Between(c, missing) {
				return h.rootCause(c, missing)
			}
			next = append(next, c)
		}
	}
	return of
}
