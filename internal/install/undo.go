package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// undo undoes the steps of the run in reverse, and closes the run. An error means that the undo is
// unfinished; the journal has its progress.
func (x *run) undo(ctx context.Context) (result string, err error) {
	r := x.j.Run
	x.report.Why = r.Why
	if !r.Undoing {
		r.Undoing = true
		if err := x.save(ctx); err != nil {
			return "", err
		}
	}
	for i := len(r.Steps) - 1; i >= 0; i-- {
		if err := x.undoOne(ctx, &r.Steps[i]); err != nil {
			return "", err
		}
	}
	if x.report.Restored, err = x.lookAtRestored(ctx); err != nil {
		return "", errors.Join(err, errors.New("all changes were undone; their health is unknown"))
	}
	result = ResultUndone
	for _, s := range r.Steps {
		if s.Phase == NotUndone {
			result = ResultPartlyUndone
		}
	}
	x.report.Steps = append([]StepState(nil), r.Steps...)
	if err := x.end(ctx, result); err != nil {
		return "", err
	}
	return result, nil
}

// undoOne undoes a step, and records the result.
func (x *run) undoOne(ctx context.Context, s *StepState) error {
	if s.Phase == Undone || s.Phase == NotUndone {
		return nil
	}
	if x.o.Stop != nil && x.o.Stop.Err() != nil {
		return errors.Join(errStopped, fmt.Errorf("%s is not undone yet", s.ID))
	}
	own := s.Kind == MakeNamespace && s.Namespace == x.of.Namespace && len(s.Made) > 0
	if own && len(x.j.Runs) > 0 {
		s.Phase, s.Note = NotUndone, "the history of the installation is in it"
	} else {
		if own { // no journal can be written after this
			if err := x.forgetUndone(ctx); err != nil {
				return err
			}
		}
		reason, err := x.takeBack(ctx, s)
		if ctx.Err() != nil && !x.gone {
			return errors.Join(context.Cause(ctx), fmt.Errorf("%s is not undone yet", s.ID))
		}
		if err != nil {
			reason = field.HostsOnly(err.Error())
		}
		s.Phase, s.Note = Undone, ""
		if reason != "" {
			s.Phase, s.Note = NotUndone, reason
		}
	}
	if s.Phase == NotUndone {
		x.emitStep(journal.EventNotUndone, *s, s.Note)
	} else {
		x.emitStep(journal.EventUndone, *s, "")
	}
	if own && x.gone {
		return nil // and the journal was deleted with it
	}
	return x.save(ctx)
}

// takeBack undoes a step, and returns a reason if it could not be undone.
func (x *run) takeBack(ctx context.Context, s *StepState) (reason string, err error) {
	switch s.Kind {
	case MakeNamespace:
		return x.undoNamespace(ctx, s)
	case ApplyDefinitions:
		return strings.Join(x.undoDefinitions(ctx, s), "; "), nil
	case InstallRelease:
		return x.undoInstall(ctx, s)
	case UpgradeRelease, RollbackRelease, RemoveRelease:
		return x.undoChange(ctx, s)
	case DeleteObjects, DeleteDefinitions:
		if s.Irreversible != "" {
			return s.Irreversible, nil
		}
		return "deleted objects cannot be restored", nil
	}
	return "", nil
}

// isOurs reports whether the last record of a release is the one that the step created.
func (x *run) isOurs(last helm.Record, s *StepState) bool {
	if last.Marks.Run != x.j.Run.ID {
		return false
	}
	return s.Revision == 0 || last.Revision == s.Revision || last.RollbackOf == s.Revision || s.Was > 0 && last.RollbackOf == s.Was
}

// undoInstall uninstalls what the run installed, with the objects that Helm would keep. The records
// stay until the run ends, because they prove what it created.
func (x *run) undoInstall(ctx context.Context, s *StepState) (reason string, err error) {
	name := helm.ReleaseName{Name: s.Release, Namespace: s.Namespace}
	list, err := x.Engine.History(ctx, name)
	if err != nil {
		return "", err
	}
	if len(list) > 0 {
		action, reason := x.recoveryActionOf(ctx, list, s)
		if action == recoverLeave {
			return reason, nil
		}
		if err := x.uninstallInstalled(ctx, list[len(list)-1], s); err != nil {
			return "", err
		}
	}
	return "", errors.Join(x.restoreAll(ctx, s.Changed), x.deleteMade(ctx, s))
}

func (x *run) uninstallInstalled(ctx context.Context, last helm.Record, s *StepState) error {
	if last.Status == helm.Uninstalled {
		return nil // later revisions are not the run's
	}
	if err := x.disown(ctx, s.Changed); err != nil {
		return err
	}
	gone, err := x.ownedOf(ctx, last)
	if err != nil {
		return err
	}
	if err := x.keepClaims(ctx, gone, s); err != nil {
		return err
	}
	if err := x.uninstall(ctx, last.Release, helm.RevertOptions{Marks: helm.RecordLabels{Run: x.j.Run.ID}, Timeout: x.o.statusTimeout(0), KeepHistory: true}); err != nil {
		return err
	}
	return x.waitGone(ctx, gone, x.o.statusTimeout(0))
}

// uninstall uninstalls with the hooks of the chart, and without them if they fail.
func (x *run) uninstall(ctx context.Context, name helm.ReleaseName, o helm.RevertOptions) error {
	err := x.Engine.Uninstall(ctx, name, o)
	if err == nil || ctx.Err() != nil {
		return err
	}
	x.emit(journal.EventNoted, fmt.Sprintf("uninstall %s: %v; retrying without its hooks", name, err))
	list, again := x.Engine.History(ctx, name)
	if again == nil && (len(list) == 0 || list[len(list)-1].Status == helm.Uninstalled) {
		return nil
	}
	o.NoHooks = true
	if again := x.Engine.Uninstall(ctx, name, o); again != nil {
		return joined(err, again)
	}
	return nil
}

// joined joins two errors, without repeating the same text.
func joined(err, again error) error {
	if err.Error() == again.Error() {
		return again
	}
	return errors.Join(err, again)
}

// recoveryAction is how a release is undone.
type recoveryAction int

const (
	recoverNothing recoveryAction = iota
	// recoverLeave keeps the release unchanged, for a reason.
	recoverLeave
	recoverUninstall
	recoverRollback
	// recoverTidy is for a release that was not changed yet, recoverReturned for one already rolled
	// back.
	recoverTidy
	recoverReturned
)

// recoveryActionOf returns how to undo a release that has records.
func (x *run) recoveryActionOf(ctx context.Context, list []helm.Record, s *StepState) (action recoveryAction, reason string) {
	name := helm.ReleaseName{Name: s.Release, Namespace: s.Namespace}
	last := list[len(list)-1]
	foreign := fmt.Sprintf("release %s is at revision %d (%s), which is not of this run", name, last.Revision, last.Status)
	mine := last.Marks.Run == x.j.Run.ID
	if s.Kind == InstallRelease || s.Removed && s.Kind == RollbackRelease {
		switch {
		case last.Status == helm.Uninstalled:
			return recoverTidy, ""
		case !x.isOurs(last, s):
			return recoverLeave, foreign
		}
		return recoverUninstall, ""
	}
	removed := s.Kind == RemoveRelease && (last.Status == helm.Uninstalled || last.Status == helm.Uninstalling)
	switch {
	case last.Revision == s.Was && last.Status == helm.Deployed && s.Kind != RemoveRelease:
		return recoverTidy, ""
	case mine && s.Was > 0 && last.RollbackOf == s.Was && last.Status == helm.Deployed && last.Revision > s.Was && last.Revision != s.Revision:
		return recoverReturned, "" // it was rolled back already
	case s.Was == 0:
		return recoverLeave, fmt.Sprintf("release %s had no deployed revision to roll back to", name)
	case last.Revision == s.Was && (removed || last.Status == helm.Deployed):
	case !x.isOurs(last, s):
		return recoverLeave, foreign
	}
	if s.Kind == RemoveRelease && last.Status == helm.Deployed && last.Revision == s.Was && (x.loaded && !mine || x.whole(ctx, last)) {
		return recoverNothing, "" // nothing was removed
	}
	if x.loaded && !mine {
		return recoverLeave, foreign
	}
	return recoverRollback, ""
}

// undoChange rolls a release back to the revision before the step.
func (x *run) undoChange(ctx context.Context, s *StepState) (reason string, err error) {
	name := helm.ReleaseName{Name: s.Release, Namespace: s.Namespace}
	list, err := x.Engine.History(ctx, name)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return fmt.Sprintf("the records of release %s are gone", name), nil
	}
	switch action, reason := x.recoveryActionOf(ctx, list, s); action {
	case recoverLeave:
		return reason, nil
	case recoverNothing:
		return "", nil
	case recoverTidy:
		return "", errors.Join(x.restoreAll(ctx, s.Changed), x.deleteMade(ctx, s)) // the step got no further
	case recoverReturned:
		return "", x.afterReturn(ctx, list, s)
	case recoverUninstall: // it was recreated from its records
		if err := x.uninstallInstalled(ctx, list[len(list)-1], s); err != nil {
			return "", err
		}
		return "", errors.Join(x.restoreAll(ctx, s.Changed), x.deleteMade(ctx, s))
	}
	before, _, err := x.scaledBack(ctx, list, s)
	if err != nil {
		return "", err
	}
	if len(before) > 0 {
		return fmt.Sprintf("revision %d has fewer pods, and rolling back to it would delete claims from before the run: %s; have their StatefulSet retain them (whenScaled: Retain) in a new version, or roll back with helm", s.Was, listed(before)), nil
	}
	if err := x.holdOn(ctx, s.Changed); err != nil {
		return "", err
	}
	gone, err := x.broughtBy(ctx, list, s)
	if err == nil {
		err = x.keepClaims(ctx, gone, s)
	}
	if err != nil {
		return "", err
	}
	if err := x.rollback(ctx, name, s.Was); err != nil {
		return "", err
	}
	return "", x.afterReturn(ctx, list, s)
}

// afterReturn deletes the objects that a revision of this run added and Helm has kept, and restores
// before-images. Helm compares with the last record alone: after a rollback that was killed, that
// record does not have the objects of the revision before it.
func (x *run) afterReturn(ctx context.Context, list []helm.Record, s *StepState) error {
	gone, err := x.broughtBy(ctx, list, s)
	if err == nil {
		err = x.keepClaims(ctx, gone, s)
	}
	if err != nil {
		return err
	}
	return errors.Join(x.deleteObjects(ctx, gone, x.o.statusTimeout(0)), x.restoreAll(ctx, s.Changed), x.deleteMade(ctx, s))
}

// broughtBy returns the existing objects that a revision of this run has added.
func (x *run) broughtBy(ctx context.Context, list []helm.Record, s *StepState) ([]object.Ref, error) {
	stays := map[object.Ref]bool{}
	for _, b := range s.Changed {
		stays[b.Object] = true
	}
	for _, v := range list {
		if v.Revision == s.Was {
			for _, ref := range slices.Concat(v.Objects, v.Kept) {
				stays[ref] = true
			}
		}
	}
	var gone []object.Ref
	for _, v := range list {
		if v.Revision <= s.Was || v.Marks.Run != x.j.Run.ID {
			continue
		}
		owned, err := x.ownedOf(ctx, v)
		if err != nil {
			return nil, err
		}
		for _, ref := range owned {
			if !stays[ref] {
				gone = append(gone, ref)
				stays[ref] = true
			}
		}
	}
	return gone, nil
}

// whole reports whether all objects of a record exist.
func (x *run) whole(ctx context.Context, v helm.Record) bool {
	for _, ref := range v.Objects {
		if current, err := x.Objects.Get(ctx, ref); err != nil || current.GetDeletionTimestamp() != nil {
			return false
		}
	}
	return true
}

// rollback rolls back with the hooks of the chart, and without them if they fail. Fields that the
// run took over by force are forced again, because they belonged to the release.
func (x *run) rollback(ctx context.Context, name helm.ReleaseName, to int) error {
	o := helm.RevertOptions{Marks: helm.RecordLabels{Run: x.j.Run.ID}, Timeout: x.o.statusTimeout(0), ForceConflicts: x.o.ForceConflicts}
	err := x.Engine.Rollback(ctx, name, to, o)
	if err == nil || ctx.Err() != nil {
		return err
	}
	x.emit(journal.EventNoted, fmt.Sprintf("roll back %s: %v; retrying without its hooks", name, err))
	o.NoHooks = true
	if again := x.Engine.Rollback(ctx, name, to, o); again != nil {
		return joined(err, again)
	}
	return nil
}

// disown removes the release's annotation from objects that existed before it, so that Helm keeps
// them.
func (x *run) disown(ctx context.Context, images []BeforeImage) error {
	return x.eachKept(ctx, images, func(a map[string]string) { delete(a, releaseNameAnnotation) })
}

// holdOn makes Helm keep objects that existed before the release took them over.
func (x *run) holdOn(ctx context.Context, images []BeforeImage) error {
	return x.eachKept(ctx, images, func(a map[string]string) { a[helm.PolicyAnnotation] = "keep" })
}

func (x *run) eachKept(ctx context.Context, images []BeforeImage, change func(map[string]string)) error {
	for _, b := range images {
		for try := 0; ; try++ {
			current, err := x.Objects.Get(ctx, b.Object)
			if apierrors.IsNotFound(err) {
				break
			}
			if err != nil {
				return err
			}
			a := current.GetAnnotations()
			if a == nil {
				a = map[string]string{}
			}
			change(a)
			current.SetAnnotations(a)
			_, err = x.Objects.Replace(ctx, current)
			if err == nil {
				break
			}
			if !apierrors.IsConflict(err) || try == maxStale {
				return err
			}
		}
	}
	return nil
}

// restoreAll restores the before-images of objects that the release took over.
func (x *run) restoreAll(ctx context.Context, images []BeforeImage) error {
	var failed []error
	for _, b := range images {
		if err := x.restore(ctx, b); err != nil {
			failed = append(failed, fmt.Errorf("%s was not restored: %w", b.Object, err))
		}
	}
	return errors.Join(failed...)
}

func (x *run) restore(ctx context.Context, b BeforeImage) error {
	if reason := x.left[b.Object]; reason != "" && b.Sum == "" {
		return errors.New(reason)
	}
	was, err := x.Store.LoadBefore(ctx, b)
	if err != nil {
		return err
	}
	if b.Sum != "" && journal.Sum(was) != b.Sum {
		return fmt.Errorf("its before-image (%s) was changed", b.StoredIn)
	}
	for try := 0; ; try++ {
		current, err := x.Objects.Get(ctx, b.Object)
		restored := was.DeepCopy()
		delete(restored.Object, "status")
		switch {
		case apierrors.IsNotFound(err):
			restored.SetUID("")
			restored.SetResourceVersion("")
			restored.SetManagedFields(nil)
			_, err = x.Objects.Create(ctx, restored)
			return err
		case err != nil:
			return err
		case current.GetUID() != was.GetUID():
			return errors.New("it was recreated by someone else")
		case sameContent(current, was):
			return nil
		}
		restored.SetResourceVersion(current.GetResourceVersion())
		if _, err = x.Objects.Replace(ctx, restored); err == nil || !apierrors.IsConflict(err) || try == maxStale {
			return err
		}
	}
}

// deleteMade deletes objects that the run created and Helm keeps: those of hooks, and those with
// the keep policy.
func (x *run) deleteMade(ctx context.Context, s *StepState) error {
	if err := x.keepClaims(ctx, s.Made, s); err != nil {
		return err
	}
	return x.deleteObjects(ctx, s.Made, x.o.statusTimeout(0))
}
