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
	// maxWarned is about how many causes are queried for warnings: more would not be read.
	maxWarned = 20
	// eachWarned is how many warnings are shown for each.
	eachWarned = 3
)

// ReadWarnings requests the last Warning events of the causes. A missing object has none: the events of the
// object that needs it are shown in its place. It returns a gap where events cannot be read.
func (h *HealthResult) ReadWarnings(ctx context.Context) (*object.Gap, error) {
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
		h.gaps = append(h.gaps, *gap)
	}
	h.events = map[object.Ref][]view.Event{}
	for ref, cause := range about {
		for _, e := range found[cause] {
			if h.Request.Since > 0 && e.Last.Before(h.Session.AsOf().Add(-h.Request.Since)) {
				continue
			}
			h.events[ref] = append(h.events[ref], view.Event{Reason: e.Reason, Message: e.Message, Count: e.Count, Last: e.Last})
		}
	}
	return gap, nil
}

// Warner returns the source of events.
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

// warned returns the objects to query for warnings, with the causes that they explain.
func (h *HealthResult) warned() (map[object.Ref]object.Ref, []object.Ref) {
	about := map[object.Ref]object.Ref{}
	var refs []object.Ref
	for _, s := range h.Stacks {
		for _, c := range s.Health.Causes {
			ref := h.Graph.Ref(c.ID)
			if _, known := about[ref]; known || len(refs) == maxWarned {
				continue
			}
			subject := ref
			if c.Health.Status == health.Missing && !c.Root {
				subject = h.Graph.Ref(h.rootCause(c.Of, c.ID))
			}
			about[ref] = subject
			if !slices.Contains(refs, subject) {
				refs = append(refs, subject)
			}
		}
	}
	return about, refs
}

// rootCause returns the deepest object below a node that needs the missing one: a Deployment, its
// ReplicaSet and its pod all name a Secret, and the kubelet warns about the pod.
func (h *HealthResult) rootCause(from, missing graph.ID) graph.ID {
	for next := []graph.ID{from}; len(next) > 0; {
		at := next[0]
		next = next[1:]
		for _, c := range h.Graph.Owned(at) {
			for range h.Graph.Between(c, missing) {
				return h.rootCause(c, missing)
			}
			next = append(next, c)
		}
	}
	return from
}
