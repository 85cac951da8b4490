package regulate_test

import (
	"slices"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// ending is how far a run of a plan comes.
type ending int

const (
	whole   ending = iota
	killed         // after what is sent and taken back was begun
	failing        // nothing can be sent, for good
	nothing        // it is only looked at
	leaving        // somebody had changed what is taken back
)

// leave says that what a hold did was left as it is.
func leave(h *regulate.Hold) {
	for _, o := range h.Operations {
		o.State, o.Target = regulate.Conflict, regulate.Target{APIVersion: "apps/v1", Kind: "Deployment", Resource: "deployments", Namespace: "shop", Name: h.App, UID: "uid-" + h.App}
		o.Changes = []patch.Change{{Path: "/spec/paused", ExistsAfter: true, After: true}, {Path: "/spec/replicas", ExistedBefore: true, Before: 3, ExistsAfter: true, After: 0}}
	}
}

// apply is a Runner without a cluster: what becomes of a journal when a plan is done.
func apply(j *regulate.Journal, p *regulate.Plan, how ending, now time.Time) *regulate.Journal {
	return applied(j, p, how, -1, now)
}

// applied is apply, killed after so many writes of the journal; never where writes is -1.
func applied(j *regulate.Journal, p *regulate.Plan, how ending, writes int, now time.Time) *regulate.Journal {
	j = j.Clone()
	var todo []func()
	do := func(f func()) { todo = append(todo, f) }
	// What was seen is written together with the first step.
	remember := func() { j.Remember(p.Seen) }
	first := func(f func()) {
		do(func() { remember(); f(); remember = func() {} })
	}
	for _, s := range p.Steps {
		h, _ := j.Hold(s.Hold)
		switch s.Verb {
		case regulate.Send:
			first(func() { h = j.Open(s, []*regulate.Operation{{Action: "preset", State: regulate.Started}}, now) })
			switch how {
			case whole:
				do(func() { j.MarkHeld(h) })
			case failing:
				do(func() { j.Fail(h, "forbidden", now) })
				do(func() {
					j.CloseHold(h, now, regulate.Record{At: now, App: s.App, Signal: s.Signal, Result: "forbidden", Error: true})
				})
			}
		case regulate.AddCause:
			first(func() { j.AddCauses(s) })
		case regulate.RemoveCause:
			first(func() { j.RemoveCauses(s) })
		case regulate.Resume:
			switch {
			case how != whole:
			case h.Phase == regulate.Recovering || h.Failed != "":
				first(func() { j.CloseHold(h, now) })
			default:
				first(func() { j.MarkHeld(h) })
			}
		case regulate.RecoverApp:
			first(func() {
				if h == nil {
					h, _ = j.Reopen(s.Hold)
				}
				j.MarkRecovering(h)
			})
			if how != killed {
				do(func() {
					if how == leaving {
						leave(h)
					}
					j.CloseHold(h, now, regulate.Record{At: now, App: s.App, Signal: "Recover", Why: s.Why, Result: "done"})
				})
			}
		}
	}
	if len(todo) == 0 {
		do(remember)
	}
	for i, f := range todo {
		if how == nothing || i == writes {
			break
		}
		f()
	}
	return j
}

// holdOrLeft is what a step is about: an open hold, or what was left of one.
func holdOrLeft(j *regulate.Journal, s regulate.Step) (*regulate.Hold, bool) {
	h, ok := j.Hold(s.Hold)
	if !ok && s.Verb == regulate.RecoverApp {
		h, ok = j.LeftHold(s.Hold)
	}
	return h, ok
}

// checkSteps holds what is true of the steps of any plan: nothing is held twice by one
// signal or let go twice, and nobody who is held is a new cause.
func checkSteps(t testing.TB, j *regulate.Journal, p *regulate.Plan) {
	t.Helper()
	sent := map[string]bool{}
	for _, s := range p.Steps {
		if s.Verb == regulate.Send {
			sent[s.App] = true
			if _, ok := j.HoldOf(s.App, s.Signal); ok {
				t.Errorf("%s is sent to %s, which has it", s.Signal, s.App)
			}
		} else if h, ok := holdOrLeft(j, s); !ok || h.App != s.App || h.Signal != s.Signal {
			t.Errorf("%s of %s %s is about hold %d, which is none of it", s.Verb, s.App, s.Signal, s.Hold)
		}
	}
	for i, s := range p.Steps {
		for _, o := range p.Steps[:i] {
			if s.App == o.App && s.Signal == o.Signal && (s.Verb == o.Verb || s.Verb == regulate.RecoverApp) {
				t.Errorf("%s and %s of %s %s in one plan", o.Verb, s.Verb, s.App, s.Signal)
			}
		}
		if s.Verb != regulate.Send && s.Verb != regulate.AddCause {
			continue
		}
		if len(s.Causes) == 0 {
			t.Errorf("%s of %s without a cause", s.Verb, s.App)
		}
		for _, c := range s.Causes {
			if c.Rule != "" && (j.Holding(c.App) || sent[c.App]) {
				t.Errorf("%s of %s because of %s, which is held or about to be", s.Verb, s.App, c.App)
			}
		}
	}
	if !slices.IsSortedFunc(p.Steps, func(a, b regulate.Step) int { return a.Wave - b.Wave }) {
		t.Errorf("steps are not in the order of waves: %+v", p.Steps)
	}
}
