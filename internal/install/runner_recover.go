package install

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Recovery is the outcome of recovering a run.
type Recovery string

// The outcomes of recovery.
const (
	// RecoveredNothing means that there was no open run.
	RecoveredNothing Recovery = "nothing"
	// RecoveredResumed means that Do can continue the run, after a new plan from the current state.
	RecoveredResumed Recovery = "goes-on"
	// RecoveredDone means that all steps were done.
	RecoveredDone Recovery = "done"
	// RecoveredUndone and RecoveredPartly mean that it was undone, completely or partly.
	RecoveredUndone Recovery = "undone"
	RecoveredPartly Recovery = "left"
)

// Recover recovers the killed run of an installation from its journal alone. If the fingerprint is
// that of the run, and the run was not being undone, it undoes started steps (and completes
// removals), and keeps the steps that are done: Do continues the run, and undoes all of it if that
// fails. Otherwise it undoes the whole run. An empty fingerprint matches no run.
func (r *Runner) Recover(ctx context.Context, target Installation, fingerprint string, o Options) (Recovery, Report, error) {
	r, flush := r.recorded()
	defer flush()
	x := &run{Runner: r, o: o, of: target}
	current, err := r.Objects.Get(ctx, namespaceRef(target.Namespace))
	if apierrors.IsNotFound(err) {
		return RecoveredNothing, x.report, nil
	}
	if err != nil {
		return "", x.report, err
	}
	if current.GetAnnotations()[InstallLabel] == target.Name {
		x.mark = current.GetAnnotations()[RunAnnotation]
	}
	var result Recovery
	err = x.locked(ctx, func(ctx, undoing context.Context) (err error) {
		result, err = x.recover(ctx, undoing, fingerprint)
		return err
	})
	err = x.afterLoss(ctx, err)
	x.emitEnd()
	return result, x.report, err
}

func (x *run) recover(ctx, undoing context.Context, fingerprint string) (Recovery, error) {
	j, err := x.Store.Load(ctx)
	if err != nil {
		return "", err
	}
	x.j = j
	p, err := x.planRecovery(ctx, fingerprint)
	switch {
	case err != nil:
		return "", err
	case x.o.Seen != "" && j.Run == nil && p.Seen != x.o.Seen:
		x.report.Result = ResultDone
		return RecoveredNothing, nil // its process was alive, and has ended it meanwhile
	case x.o.Seen != "" && p.Seen != x.o.Seen:
		return "", fmt.Errorf("%s in %s: %w", x.of.Name, x.of.Namespace, errOtherRun)
	}
	switch r := j.Run; {
	case r == nil:
		x.report.Result = ResultDone
		if x.mark != "" && j.Version() == "" && fingerprint == "" && ownRun(x.mark, x.of) {
			// A run was killed between the creation of its namespace and of its journal.
			_, err = x.deleteNamespace(undoing, x.of.Namespace, x.mark)
		}
		return RecoveredNothing, err
	case p.What == RecoveredDone:
		x.report.Action, x.started = r.Action, true
		return RecoveredDone, x.end(undoing, ResultDone)
	case p.What == RecoveredResumed:
		x.report.Action = r.Action
		return RecoveredResumed, x.sortOut(ctx, undoing)
	case r.Why == "":
		r.Why = "it was killed, or lost its connection"
	}
	x.report.Action, x.started = j.Run.Action, true
	result, err := x.undo(undoing)
	x.report.Run, x.report.Result = j.runID(x.report.Run), result
	if err != nil {
		x.report.Result = ResultUnfinished
		return "", err
	}
	if result == ResultPartlyUndone {
		return RecoveredPartly, nil
	}
	return RecoveredUndone, nil
}

func (j *Journal) runID(known string) string {
	if j.Run != nil {
		return j.Run.ID
	}
	return known
}

// sortOut undoes the started steps, except removals, which it completes while ctx lasts.
func (x *run) sortOut(ctx, undoing context.Context) error {
	for i := range slices.Backward(x.j.Run.Steps) {
		s := &x.j.Run.Steps[i]
		if s.Phase != Started {
			continue
		}
		switch s.Kind {
		case DeleteObjects, DeleteDefinitions, Await:
			s.Phase = Undone // it is executed again
			if err := x.save(undoing); err != nil {
				return err
			}
			continue
		}
		last, begun, err := x.removalBegun(ctx, s)
		switch {
		case err != nil:
		case begun:
			err = x.finishRemoval(ctx, s, last)
		default:
			err = x.undoOne(undoing, s)
		}
		if err != nil {
			return err
		}
	}
	if err := x.forgetUndone(undoing); err != nil { // its name is used again
		return err
	}
	x.reportSteps("")
	return nil
}
