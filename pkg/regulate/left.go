package regulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
)

// MaxConflicts limits the holds with conflicts in a journal.
const MaxConflicts = 20

// LeftHold returns the conflicts of the hold with a number.
func (j *Journal) LeftHold(id int) (*Hold, bool) {
	for _, h := range j.Conflicts {
		if h != nil && h.ID == id {
			return h, true
		}
	}
	return nil, false
}

// Reopen opens a hold again to undo its conflicts. It returns false if it has none, or is open.
func (j *Journal) Reopen(id int) (*Hold, bool) {
	h, ok := j.LeftHold(id)
	if _, open := j.Hold(id); !ok || open {
		return nil, false
	}
	j.Conflicts = slices.DeleteFunc(j.Conflicts, func(o *Hold) bool { return o == h })
	h.Phase, h.Failed, h.OfLeft = Recovering, "", true
	for _, o := range h.Operations {
		o.State = Done
	}
	j.Holds = append(j.Holds, h)
	return h, true
}

// leave keeps the operations of a closed hold that were not undone because the fields were
// changed by others. Only the journal has their values before.
func (j *Journal) leave(h *Hold) {
	for _, o := range h.Operations {
		j.succeed(o)
	}
	conflicted := h.clone()
	conflicted.Phase, conflicted.Failed = Conflicted, ""
	conflicted.Operations = slices.DeleteFunc(conflicted.Operations, func(o *Operation) bool {
		o.Changes = unkept(o.Changes)
		return o.State != Conflict || !o.writesFields()
	})
	if len(conflicted.Operations) == 0 {
		return
	}
	j.Conflicts = append(j.Conflicts, conflicted)
	if n := len(j.Conflicts) - MaxConflicts; n > 0 {
		for _, h := range j.Conflicts[:n] {
			for _, o := range h.Operations {
				j.own(o.Target.UID, o.paths()...)
			}
		}
		j.Conflicts = slices.Delete(j.Conflicts, 0, n)
	}
}

// succeed passes the values before an operation on to the conflict of a later one on the same
// field: the later one saw a value that regulation had written.
func (j *Journal) succeed(first *Operation) {
	for _, h := range j.Conflicts {
		for _, o := range h.Operations {
			if !first.sameTarget(o) || first.Order >= o.Order {
				continue
			}
			for i := range o.Changes {
				c := &o.Changes[i]
				n := slices.IndexFunc(first.Changes, func(f patch.Change) bool { return f.Path == c.Path })
				if n < 0 {
					continue
				}
				if f := &first.Changes[n]; f.ExistsAfter == c.ExistedBefore && (!c.ExistedBefore || patch.Equal(f.After, c.Before)) {
					c.ExistedBefore, c.Before, c.CreatedParents = f.ExistedBefore, f.Before, max(c.CreatedParents, f.CreatedParents)
					o.Owners = inherit(o.Owners, first.Owners)
					o.Replicas = cmp.Or(o.Replicas, first.Replicas)
				}
			}
		}
	}
}

// forget deletes the conflicts of an app that is held again, and of the fields that this hold
// wrote: their current values are the ones to restore.
func (j *Journal) forget(held *Hold) {
	for _, h := range j.Conflicts {
		for _, o := range h.Operations {
			for _, now := range held.Operations {
				if now.sameTarget(o) && now.State == Done {
					o.Changes = slices.DeleteFunc(o.Changes, func(c patch.Change) bool {
						return slices.ContainsFunc(now.Changes, func(d patch.Change) bool { return d.Path == c.Path })
					})
				}
			}
		}
		h.Operations = slices.DeleteFunc(h.Operations, func(o *Operation) bool { return !o.writesFields() })
	}
	j.Conflicts = slices.DeleteFunc(j.Conflicts, func(h *Hold) bool { return h.App == held.App || len(h.Operations) == 0 })
}

// leftText describes the conflicts of a hold.
func leftText(h *Hold) string {
	var out []string
	for _, o := range h.Operations {
		out = append(out, fmt.Sprintf("%s (%s)", o.Target, wasText(o.Changes)))
	}
	return strings.Join(out, ", ")
}

// PendingIn lists what a journal has to undo, or can undo by force, a line an operation.
func PendingIn(j *Journal) []string {
	var out []string
	for _, h := range slices.Concat(j.Holds, j.Conflicts) {
		for _, o := range h.Operations {
			line := fmt.Sprintf("%s %s: %s", h.App, h.Signal, o.Action)
			if o.Target.Name != "" {
				line += " " + o.Target.String()
			}
			if o.writesFields() {
				line += " (" + wasText(o.Changes) + ")"
			}
			out = append(out, line)
		}
		if len(h.Operations) == 0 {
			out = append(out, fmt.Sprintf("%s %s: nothing was done to it", h.App, h.Signal))
		}
	}
	return out
}

// wasText describes the values before changes.
func wasText(changes []patch.Change) string {
	before := make([]patch.Change, len(changes))
	for i, c := range changes {
		before[i] = patch.Change{Path: c.Path, ExistsAfter: c.ExistedBefore, After: c.Before}
	}
	return "it was " + changesText(before, "not set")
}

// backOfLeft plans the conflicts of an app: with force they are restored when the app is no
// longer held; else a refusal names the way.
func (p *planner) backOfLeft(app, user string, force, held bool) []Step {
	var steps []Step
	for _, h := range p.j.Conflicts {
		if h.App != app {
			continue
		}
		if force && !held {
			steps = append(steps, Step{
				Verb: RecoverApp, App: app, Signal: h.Signal, Hold: h.ID, Causes: h.Causes,
				Why: fmt.Sprintf("what conflicted with %s #%d is restored manually by %s", h.Signal, h.ID, user),
			})
			continue
		}
		how := "--force restores it"
		if force {
			how = "retry when its current hold has recovered"
		}
		p.refuse(Refusal{App: app, Signal: h.Signal, Reason: ReasonConflict, Message: fmt.Sprintf(
			"conflict: changed by someone else before %s #%d was undone, and not reverted: %s; %s", h.Signal, h.ID, leftText(h), how)})
	}
	return steps
}
