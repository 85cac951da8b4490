package install

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// run is one use of a Runner.
type run struct {
	*Runner
	o  Options
	p  *Plan // nil if only the journal is known
	of Installation
	j  *Journal
	// id is the id of a new run; a run that continues has its own.
	id string
	// made means that this run created the namespace of the installation; mark is the id of an
	// earlier run on it, which got no further.
	made bool
	mark string
	// gone means that the namespace of the installation was deleted, with the lease.
	gone   bool
	report Report
	// started means that the run is in the journal.
	started bool
	// loaded means that the run was read from a journal, which is to be checked against the
	// cluster. left has the objects whose before-images are not restored, with the reasons.
	loaded bool
	left   map[object.Ref]string
	// programs are the names from the records of a loaded run; the names in its journal are not
	// trusted.
	programs []string
	// sums are the hashes of definitions before the step.
	sums map[object.Ref]string
	// letGo releases the dependants that are held while a part changes.
	letGo func(context.Context) error
}

// Do executes a plan, completely or not at all. An error is a *FailedError if something was
// started; the report has the outcome. Do waits for the lease, and then refuses a plan that was
// made from another state (*OutdatedError).
func (r *Runner) Do(ctx context.Context, p *Plan, o Options) (Report, error) {
	r, flush := r.recorded()
	defer flush()
	x := &run{Runner: r, o: o, p: p, of: p.Installation, id: newRunID(p.Installation), report: Report{Action: p.Action}}
	if len(p.Refusals) > 0 {
		return x.report, &RefusedError{Refusals: p.Refusals}
	}
	if len(p.Steps) > 0 {
		if err := x.ownNamespace(ctx); err != nil {
			return x.report, err
		}
	}
	err := x.locked(ctx, x.do)
	if x.made && x.j == nil {
		err = errors.Join(err, x.takeBackNamespace(ctx))
	}
	err = x.afterLoss(ctx, err)
	x.emitEnd()
	return x.report, err
}

// locked takes the lease and calls act. The first context of act ends with ctx; both end when the
// lease is lost, or at a second interrupt.
func (x *run) locked(ctx context.Context, act func(ctx, undoing context.Context) error) error {
	base, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	var begun atomic.Bool
	defer context.AfterFunc(ctx, func() {
		if !begun.Load() {
			end(stoppedBy(ctx))
		}
	})()
	if x.o.Stop != nil {
		defer context.AfterFunc(x.o.Stop, func() { end(errStopped) })()
	}
	lock, err := x.Lock(func(holder string, since time.Time) {
		if x.o.NoWait {
			end(&BusyError{Holder: holder, Since: since})
			return
		}
		x.send(journal.WaitingForLock(x.of.Name, holder, since))
	})
	if err != nil {
		return err
	}
	var acted error
	err = lock.Do(base, func(held context.Context) error {
		begun.Store(true)
		acting, stop := context.WithCancelCause(held)
		defer stop(nil)
		defer context.AfterFunc(ctx, func() { stop(stoppedBy(ctx)) })()
		acted = act(acting, held)
		return acted
	})
	if !x.gone || !errors.As(err, new(*journal.LostError)) {
		return err
	}
	// The lease was deleted with its namespace.
	failed := new(FailedError)
	switch {
	case errors.As(err, &failed):
		return failed
	case errors.As(acted, new(*journal.LostError)), errors.Is(acted, context.Canceled):
		return nil
	}
	return acted
}

// stoppedBy returns why a context ended, as an error for people.
func stoppedBy(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return errStopped
}

// do executes the plan under the lease.
func (x *run) do(ctx, undoing context.Context) error {
	if err := x.load(ctx, undoing); err != nil {
		return err
	}
	j := x.j
	if _, err := x.planRecovery(ctx, x.p.Fingerprint); err != nil {
		return err
	}
	if j.Run != nil && j.Run.Committed {
		if err := x.end(undoing, ResultDone); err != nil {
			return err
		}
	}
	switch {
	case j.Run == nil && len(x.p.Steps) == 0:
		x.report.Result = ResultDone
		return x.nothing(undoing)
	case j.Run != nil && !x.goesOn():
		return &UnfinishedError{Installation: x.of, Run: *j.Run}
	case j.Run == nil:
		j.Installation = x.of
		j.Run = &Run{ID: x.id, Action: x.p.Action, Started: x.now().UTC().Truncate(time.Second)}
	}
	j.Run.By, j.Run.Fingerprint, j.Run.To, j.Run.Why = x.By, x.p.Fingerprint, x.p.To, ""
	j.Run.Needs, j.Run.Stamp, j.Run.Unstamped = x.p.Needs, x.o.Stamp, x.o.Unstamped
	j.Run.Writers = writers(x.p.Parts, j.Run.Writers)
	if err := x.adoptNamespace(ctx); err != nil {
		return err
	}
	if err := x.save(ctx); err != nil {
		if x.made && j.Version() == "" {
			err = errors.Join(err, x.takeBackNamespace(undoing))
		}
		return err
	}
	x.started = true
	x.send(journal.Event{Kind: journal.EventStarted, Action: string(j.Run.Action)})
	for i := range x.p.Steps {
		err := x.hold(ctx, &x.p.Steps[i])
		if err == nil {
			err = x.step(ctx, &x.p.Steps[i])
		}
		if err == nil && !x.goesOnWith(i) {
			err = x.free(ctx)
		}
		if err != nil {
			return x.fail(undoing, x.p.Steps[i].ID, err)
		}
	}
	j.Run.Committed, j.Run.Manifest = true, x.o.Manifest
	if err := x.save(ctx); err != nil {
		j.Run.Committed = false
		return x.fail(undoing, "", err)
	}
	return x.end(undoing, ResultDone)
}

// nothing ends a run without steps; only the text of the System is stored.
func (x *run) nothing(ctx context.Context) error {
	x.report.Releases = x.releases(ctx, ResultDone)
	if x.o.Manifest == "" || x.o.Manifest == x.j.Manifest || x.j.Version() == "" {
		return nil
	}
	x.j.Manifest = x.o.Manifest
	return x.save(ctx)
}

// goesOn reports whether the run of the journal is the planned one, and is recovered.
func (x *run) goesOn() bool {
	r := x.j.Run
	return !r.Undoing && r.Fingerprint == x.p.Fingerprint && !slices.ContainsFunc(r.Steps, func(s StepState) bool { return s.Phase == Started })
}

// step records that a step has started, executes it, and records that it is done.
func (x *run) step(ctx context.Context, s *Step) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	state := StepState{ID: s.ID, Kind: s.Kind, Part: s.Part, Release: s.Release, Namespace: s.Namespace, Was: s.Was, Removed: s.Removed, Phase: Started, Irreversible: s.Irreversible}
	if s.Kind == MakeNamespace && s.Namespace == "" {
		state.Namespace = s.Release
	}
	if state.Kind == MakeNamespace && x.of.Namespace == state.Namespace && x.ownStep() != nil {
		return nil
	}
	if err := x.prepare(ctx, s, &state); err != nil {
		return err
	}
	x.j.Run.Steps = append(x.j.Run.Steps, state)
	current := &x.j.Run.Steps[len(x.j.Run.Steps)-1]
	if err := x.save(ctx); err != nil {
		return err
	}
	x.emitStep(journal.EventStarted, *current, "")
	if err := x.perform(ctx, s, current); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	current.Phase = Done
	if err := x.save(ctx); err != nil {
		return err
	}
	x.emitStep(journal.EventDone, *current, "")
	return nil
}

// fail undoes the run, unless it is to be kept or the lease is lost.
func (x *run) fail(ctx context.Context, step string, failed error) error {
	x.j.Run.Why = field.HostsOnly(failed.Error()) // it is stored
	x.report.Why = x.j.Run.Why
	as := func(result string, err error) error {
		x.reportSteps(result)
		return &FailedError{Step: step, Result: result, Err: err, Restored: x.report.Restored}
	}
	switch {
	case errors.As(failed, new(*journal.ConflictError)):
		return as(ResultUnfinished, failed)
	case ctx.Err() != nil:
		return as(ResultUnfinished, errors.Join(failed, context.Cause(ctx)))
	}
	if step != "" {
		x.send(journal.Event{Kind: journal.EventFailed, Step: step, Action: string(x.j.Run.Action), Message: x.j.Run.Why})
	}
	if x.o.KeepFailed {
		if err := x.save(ctx); err != nil {
			return as(ResultUnfinished, errors.Join(failed, err))
		}
		return as(ResultKeptFailed, failed)
	}
	x.send(journal.Event{Kind: journal.EventUndoing, Step: step, Action: string(x.j.Run.Action), Message: failed.Error()})
	result, err := x.undo(ctx)
	if err != nil {
		return as(ResultUnfinished, errors.Join(failed, err))
	}
	return as(result, errors.Join(failed, x.free(ctx)))
}

// afterLoss takes a lost lease again, and undoes the run if the journal still has it.
func (x *run) afterLoss(ctx context.Context, failed error) error {
	if !errors.As(failed, new(*journal.LostError)) || x.j == nil || x.j.Run == nil || x.o.KeepFailed || x.gone {
		return failed
	}
	id := x.j.Run.ID
	reason := x.j.Run.Why
	err := x.locked(context.WithoutCancel(ctx), func(_, undoing context.Context) error {
		j, err := x.Store.Load(undoing)
		if err != nil {
			return err
		}
		if j.Run == nil || j.Run.ID != id {
			return &journal.ConflictError{Object: "the journal of " + x.of.Name}
		}
		was := x.j.Run
		x.j = j
		if j.Run.Why = was.Why; j.Run.seen() == was.seen() {
			j.Run = was // with the before-images that it lists
		} else if _, err := x.planRecovery(undoing, ""); err != nil {
			return err
		}
		j.Run.Why = reason
		if j.Run.Committed {
			return x.end(undoing, ResultDone)
		}
		result, err := x.undo(undoing)
		if err != nil {
			return err
		}
		return &FailedError{Result: result, Err: failed, Restored: x.report.Restored}
	})
	if done := new(FailedError); errors.As(err, &done) {
		return done
	}
	if err == nil && x.report.Result == ResultDone {
		return nil
	}
	x.report.Result = ResultUnfinished
	return &FailedError{Result: ResultUnfinished, Err: errors.Join(failed, err)}
}

func (x *run) save(ctx context.Context) error { return x.Store.Save(ctx, x.j) }

func (x *run) reportSteps(result string) {
	x.report.Result = result
	if x.j != nil && x.j.Run != nil {
		x.report.Run, x.report.Steps = x.j.Run.ID, slices.Clone(x.j.Run.Steps)
		x.report.Why = x.j.Run.Why
	}
}
