package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// HealthWatch evaluates the request repeatedly, from watches.
type HealthWatch struct {
	*HealthResult
	Live *source.Live
	// was is the previous health of each part, and stacked that of each stack.
	was     map[object.Ref]health.Health
	stacked map[object.Ref]seenStack
	// failed are the gaps of the current read that hide objects.
	failed []object.Gap
}

// Evaluate reads and evaluates the current state.
func (f *HealthWatch) Evaluate(ctx context.Context) error {
	s, err := f.Session.Renewed(ctx)
	if err != nil {
		return err
	}
	f.Session = s
	return f.HealthResult.Evaluate(ctx)
}

// refreshLimit is how long Refresh may take.
const refreshLimit = 10 * time.Second

var errSilent = errors.New("no answer from the API server: the last known state may be outdated")

// Refresh evaluates the current objects, also those without a watch. The error names what cannot be
// read.
func (f *HealthWatch) Refresh(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, refreshLimit)
	defer stop()
	stale := f.Live.Refresh(ctx)
	if len(stale) > 0 {
		return errors.New(Unwatched(stale))
	}
	// An open watch does not show whether the API server still answers; an error status is an answer.
	if _, err := f.Live.Cluster().Get(ctx, "/version", nil); err != nil {
		if status := apierrors.APIStatus(nil); !errors.As(err, &status) {
			return errSilent
		}
	}
	return f.Evaluate(ctx)
}

// seenStack is a stack with its previous health.
type seenStack struct {
	status health.Status
	roots  []object.Ref
}

// Changes returns the differences from the previous evaluation: parts first, in order, then stacks.
// It leaves out a new part that is Healthy, and a Healthy one that is gone. A part that cannot be
// read any longer is unread, not gone.
func (f *HealthWatch) Changes() []view.HealthChange {
	now := f.Session.AsOf()
	f.failed = slices.DeleteFunc(f.Graph.Gaps(), func(g object.Gap) bool { return g.Reason == "NotWatched" || g.Reason == "UnknownVersion" })
	current := map[object.Ref]health.Health{}
	var out []view.HealthChange
	for _, id := range f.looked() {
		if h := f.assessment.OwnHealth(id); h.Status != "" {
			ref := f.Graph.Ref(id)
			if f.Graph.State(id) == graph.Unread {
				h.Message = f.whyUnread(ref, h.Message)
			}
			current[ref] = h
		}
	}
	f.hidden(current)
	for ref, h := range current {
		was, known := f.was[ref]
		if h.Status == was.Status && (h.Reason == was.Reason || h.Status == health.Healthy) || !known && h.Status == health.Healthy {
			continue
		}
		out = append(out, view.HealthChange{Time: now, Object: ref, From: was.Status, To: h.Status, Reason: h.Reason, Message: h.Message})
	}
	for ref, was := range f.was {
		_, found := current[ref]
		unread := !found && f.isUnread(ref)
		if found || was.Status == health.Healthy && !unread {
			continue
		}
		change := view.HealthChange{Time: now, Object: ref, From: was.Status}
		if unread {
			h := health.Health{Status: health.Unknown, Reason: health.ReasonUnread, Message: f.whyUnread(ref, "it could not be read")}
			change.To, change.Reason, change.Message = h.Status, h.Reason, h.Message
			current[ref] = h
			if was.Reason == h.Reason {
				continue
			}
		}
		out = append(out, change)
	}
	slices.SortFunc(out, func(a, b view.HealthChange) int { return object.Compare(a.Object, b.Object) })
	f.was = current
	return append(out, f.stackChanges(now)...)
}

// hidden adds the previous objects that still exist, where a part is unread: whether they are still
// parts is unknown.
func (f *HealthWatch) hidden(current map[object.Ref]health.Health) {
	unread := func(ref object.Ref) bool { return current[ref].Reason == health.ReasonUnread || f.isUnread(ref) }
	if !slices.ContainsFunc(slices.Collect(maps.Keys(f.was)), unread) {
		return
	}
	for ref := range f.was {
		id, named := f.Graph.Find(ref)
		if _, found := current[ref]; found || !named || f.Graph.State(id) != graph.Present {
			continue
		}
		if h := f.assessment.OwnHealth(id); h.Status != "" {
			current[ref] = h
		}
	}
}

// looked returns the objects whose changes are shown: those that count for the stacks, or all.
func (f *HealthWatch) looked() []graph.ID {
	ids := slices.Clone(f.objects)
	for _, s := range f.Stacks {
		for _, p := range s.Health.Parts {
			if p.Required {
				ids = append(ids, p.ID)
			}
		}
	}
	return ids
}

// stackChanges returns the stacks that differ from the previous evaluation.
func (f *HealthWatch) stackChanges(now time.Time) []view.HealthChange {
	stacked := map[object.Ref]seenStack{}
	var out []view.HealthChange
	for _, s := range f.Stacks {
		stacked[s.Name] = seenStack{s.Health.Status, f.refs(s.Stack.Roots())}
		if was := f.stacked[s.Name].status; was != s.Health.Status {
			change := view.HealthChange{Time: now, Stack: view.StackName(s.Name), Object: s.Name, From: was, To: s.Health.Status, Message: f.cause(s)}
			if c, ok := s.Health.Cause(); ok && f.Graph.State(c.ID) == graph.Unread {
				ref := f.Graph.Ref(c.ID)
				change.Reason, change.Message = health.ReasonUnread, ref.String()+": "+f.whyUnread(ref, c.Health.Message)
			}
			out = append(out, change)
		}
	}
	for name, was := range f.stacked {
		if _, found := stacked[name]; found {
			continue
		}
		change := view.HealthChange{Time: now, Stack: view.StackName(name), Object: name, From: was.status}
		if i := slices.IndexFunc(was.roots, f.isUnread); i >= 0 {
			change.To, change.Reason, change.Message = health.Unknown, health.ReasonUnread, f.whyUnread(was.roots[i], "it could not be read")
			stacked[name] = seenStack{health.Unknown, was.roots}
			if was.status == health.Unknown {
				continue
			}
		}
		out = append(out, change)
	}
	f.stacked = stacked
	slices.SortStableFunc(out, func(a, b view.HealthChange) int { return object.Compare(a.Object, b.Object) })
	return out
}

func (f *HealthWatch) refs(ids []graph.ID) []object.Ref {
	out := make([]object.Ref, 0, len(ids))
	for _, id := range ids {
		out = append(out, f.Graph.Ref(id))
	}
	return out
}

// isUnread reports that an object may exist, and that its kind could not be read in its namespace.
func (f *HealthWatch) isUnread(ref object.Ref) bool {
	_, failed := f.gapAt(ref)
	return failed && f.Graph.StateOf(ref) == graph.Unread
}

// gapAt returns why the kind of an object cannot be read in the object's namespace.
func (f *HealthWatch) gapAt(ref object.Ref) (object.Gap, bool) {
	kind, served := f.Session.Kinds.Kind(ref.GroupKind())
	i := slices.IndexFunc(f.failed, func(g object.Gap) bool {
		return served && g.Resource == kind.String() && (g.Namespace == "" || g.Namespace == ref.Namespace)
	})
	if i < 0 {
		return object.Gap{}, false
	}
	return f.failed[i], true
}

// whyUnread returns why an object is unread, or otherwise where the reason is unknown.
func (f *HealthWatch) whyUnread(ref object.Ref, otherwise string) string {
	if gap, failed := f.gapAt(ref); failed {
		return fmt.Sprintf("unread (%s)", gap.Reason)
	}
	return otherwise
}
