package install

import (
	"context"
	"errors"
	"fmt"
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
	p  *Plan // nil where only the journal is known
	of Installation
	j  *Journal
	// id is that of a run that is started; one that continues has its own.
	id string
	// made says that the namespace of the installation is there only because of this run;
	// mark is the id that it carries of a run that came no further.
	made bool
	mark string
	// gone says that the namespace of the installation, and the lock in it, were deleted.
	gone   bool
	report Report
	// loaded says that the run was read from a journal: it is data to be held against what is
	// there. left are objects that are not given back what was kept of them, and why not.
	loaded bool
	left   map[object.Ref]string
	// programs are those of the records of a run that was read: what its journal says of them is
	// not believed.
	programs []string
	// sums are those of definitions as they were before the step.
	sums map[object.Ref]string
	// letGo lets go who is held while a part is changed.
	letGo func(context.Context) error
}

// Do does what was planned, all of it or nothing. An error is a *FailedError where something
// was started; the report says what became of it. Do waits for the lock, and refuses then what was
// planned over another state than is there (*OutdatedError).
func (r *Runner) Do(ctx context.Context, p *Plan, o Options) (Report, error) {
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
	return x.report, x.afterLoss(ctx, err)
}

// locked takes the lock and acts. Of the two contexts of act, the first ends when ctx does,
// both when the lock is lost, or at a second interrupt.
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
		x.notify(Progress{Kind: Waiting, Message: fmt.Sprintf("%s holds the lock of %s since %s", holder, x.of.Name, since.UTC().Format(time.RFC3339))})
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
	// The lock went with its namespace.
	failed := new(FailedError)
	switch {
	case errors.As(err, &failed):
		return failed
	case errors.As(acted, new(*journal.LostError)), errors.Is(acted, context.Canceled):
		return nil
	}
	return acted
}

// stoppedBy is why a context ended, in words.
func stoppedBy(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return errStopped
}

// do does the plan under the lock.
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
	j.Run.Needs = x.p.Needs
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
	j.Run.Committed = true
	if err := x.save(ctx); err != nil {
		j.Run.Committed = false
		return x.fail(undoing, "", err)
	}
	return x.end(undoing, ResultDone)
}

// nothing ends a run that had nothing to do, but for the text of the System.
func (x *run) nothing(ctx context.Context) error {
	x.report.Releases = x.releases(ctx, ResultDone)
	if x.o.Manifest == "" || x.o.Manifest == x.j.Manifest || x.j.Version() == "" {
		return nil
	}
	x.j.Manifest = x.o.Manifest
	return x.save(ctx)
}

// goesOn says that the run of the journal is the one that was planned, and is sorted out.
func (x *run) goesOn() bool {
	r := x.j.Run
	return !r.Undoing && r.Fingerprint == x.p.Fingerprint && !slices.ContainsFunc(r.Steps, func(s StepState) bool { return s.Phase == Started })
}

// step writes that a step is started, does it, and writes that it is done.
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
	x.tellStep(StepStarted, *current, "")
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
	x.tellStep(StepDone, *current, "")
	return nil
}

// fail undoes what was done, unless it is to be kept or is not ours to undo any more.
func (x *run) fail(ctx context.Context, step string, failed error) error {
	x.j.Run.Why = field.HostsOnly(failed.Error()) // it is kept
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
	case x.o.KeepFailed:
		if err := x.save(ctx); err != nil {
			return as(ResultUnfinished, errors.Join(failed, err))
		}
		return as(ResultKeptFailed, failed)
	}
	x.notify(Progress{Kind: Undoing, Step: step, Message: failed.Error()})
	result, err := x.undo(ctx)
	if err != nil {
		return as(ResultUnfinished, errors.Join(failed, err))
	}
	return as(result, errors.Join(failed, x.free(ctx)))
}

// afterLoss takes the lock again where it was lost, and undoes what is still ours.
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
			j.Run = was // and with it what is known of what was kept
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
