package regulate

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

// health sets the health of an app: the worst of what counts in its stack and belongs to no
// other app. A boundary object without an owner, such as a missing Secret, counts for each app
// that needs it.
func (o *stateObserver) health(a *observed) {
	s := &a.state
	worst := o.parts(a)
	if len(worst) > 0 {
		o.because(a, worst)
	}
	if len(s.Absent) > 0 && health.Missing.Worse(s.Health) {
		s.Health, s.Since, s.Cause = health.Missing, time.Time{}, a.absent
		s.Message = "missing: " + strings.Join(s.Absent, "; ")
	}
	if len(s.Unread) > 0 && health.Unknown.Worse(s.Health) {
		s.Health, s.Since, s.Cause = health.Unknown, time.Time{}, a.unread
		s.Message = "could not be read: " + strings.Join(s.Unread, "; ")
	}
	if s.Health == "" {
		s.Health, s.Message = health.Unknown, "it has no health information"
	}
}

// parts returns the required parts of an app, and sets its health.
func (o *stateObserver) parts(a *observed) []health.Part {
	if a.stack == nil {
		return nil
	}
	owners := o.ownersOfOthers(a)
	var counting []health.Part
	for _, p := range o.Health.Stack(a.stack).Parts {
		if owner, owned := o.owner(p.ID); !p.Required || p.Own.Status == "" || owned && owner != a || p.Own.Reason == health.Derived && owners[p.ID] {
			continue
		}
		counting = append(counting, p)
		a.state.Health = health.Worst(a.state.Health, p.Own.Status)
	}
	return slices.DeleteFunc(counting, func(p health.Part) bool { return p.Own.Status != a.state.Health })
}

// ownersOfOthers returns the own objects above a root of another app: their derived health may
// come from that app.
func (o *stateObserver) ownersOfOthers(a *observed) map[graph.ID]bool {
	owners := map[graph.ID]bool{}
	var next []graph.ID
	for _, b := range o.apps {
		if b != a {
			next = append(next, b.nodes...)
		}
	}
	for len(next) > 0 {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		for _, owner := range o.Graph.OwnersOf(at) {
			if !owners[owner] {
				owners[owner] = true
				next = append(next, owner)
			}
		}
	}
	return owners
}

// because chooses the part to report among the worst: one with its own verdict, the deepest, the
// one that is known to have started first.
func (o *stateObserver) because(a *observed, worst []health.Part) {
	s := &a.state
	derived := func(p health.Part) int {
		if p.Own.Reason == health.Derived {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(worst, func(x, y health.Part) int {
		return cmp.Or(derived(x)-derived(y), cmp.Compare(y.Depth, x.Depth), cmp.Compare(x.ID, y.ID))
	})
	for _, p := range worst {
		// Trouble starts with the first bad part, and ends with the last one.
		at := p.Own.Since
		if !at.IsZero() && (s.Since.IsZero() || at.Before(s.Since) != (s.Health == health.Healthy)) {
			s.Since = at
		}
	}
	if s.Health == health.Healthy {
		return
	}
	s.Cause, s.Message = o.Graph.Ref(worst[0].ID), cmp.Or(worst[0].Own.Message, worst[0].Own.Reason)
}
