package install

import (
	"context"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
)

// removalBegun returns the last record of a release whose removal a step has started; false if the
// removal has done nothing, or if the record does not name this run.
//
// A run that continues completes such a removal: restoring the release only to remove it again
// would be useless.
func (x *run) removalBegun(ctx context.Context, s *StepState) (helm.Record, bool, error) {
	if s.Kind != RemoveRelease || s.Phase != Started {
		return helm.Record{}, false, nil
	}
	list, err := x.Engine.History(ctx, helm.ReleaseName{Name: s.Release, Namespace: s.Namespace})
	if err != nil || len(list) == 0 {
		return helm.Record{}, false, err
	}
	last := list[len(list)-1]
	return last, last.Marks.Run == x.j.Run.ID && (last.Status == helm.Uninstalling || last.Status == helm.Uninstalled), nil
}

// finishRemoval completes the removal of a release, and waits until its objects are gone. Hooks may
// need objects that were deleted before the kill: if they fail, the removal is retried without
// them. While all objects exist, a failing hook refuses the removal, as in a first one. If
// everything fails the step stays started, and the same command retries it.
func (x *run) finishRemoval(ctx context.Context, s *StepState, last helm.Record) error {
	x.emitStep(journal.EventStarted, *s, "")
	gone, err := x.ownedOf(ctx, last)
	if err == nil && last.Status != helm.Uninstalled {
		remove := x.Engine.Uninstall
		if len(gone) < len(last.Objects) {
			remove = x.uninstall
		}
		err = remove(ctx, last.Release, helm.RevertOptions{Marks: last.Marks, Timeout: x.o.Timeout, KeepHistory: true})
	}
	if err == nil {
		err = x.waitGone(ctx, gone, x.o.statusTimeout(x.o.Timeout))
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return &FailedError{Step: s.ID, Result: ResultUnfinished, Err: err}
	}
	s.Phase = Done
	if err := x.save(ctx); err != nil {
		return err
	}
	x.emitStep(journal.EventDone, *s, "")
	return nil
}
