package install

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
)

// end deletes the before-images, and closes the run in the journal. It can be repeated after an
// interruption.
func (x *run) end(ctx context.Context, result string) error {
	r := x.j.Run
	x.reportSteps(result)
	if x.gone {
		return nil // the journal and the before-images were deleted with the namespace
	}
	if result == ResultDone && r.Action == Uninstall {
		if err := x.forgetRemoved(ctx); err != nil {
			return x.open(err)
		}
		x.forgetFormer(ctx, x.j.Runs)
	}
	stayed := x.claims(ctx, result)
	if err := x.forgetUndone(ctx); err != nil {
		return x.open(err)
	}
	if result == ResultPartlyUndone && len(x.left) > 0 {
		x.emit(journal.EventNoted, "the before-images of this run stay, so that they can be inspected")
	} else if err := x.Store.Drop(ctx, r.ID, beforeImages(r)); err != nil {
		return x.open(err)
	}
	past := x.past(ctx, result)
	past.Stayed = stayed
	x.j.Runs = append(x.j.Runs, past)
	if old := len(x.j.Runs) - maxRuns; old > 0 {
		x.forgetFormer(ctx, x.j.Runs[:old])
		x.j.Runs = x.j.Runs[old:]
	}
	x.j.Run = nil
	if result == ResultDone {
		x.j.Manifest = cmp.Or(r.Manifest, x.o.Manifest, x.j.Manifest)
	}
	if result == ResultDone && past.Action == Uninstall {
		x.j.Manifest = ""
	}
	x.report.Releases = past.Releases
	if err := x.save(ctx); err != nil {
		x.j.Run = r
		return x.open(err)
	}
	return nil
}

// forgetRemoved deletes the records of releases that an uninstallation removed, which were kept for
// undo. Other runs keep the records of releases that they remove, so that a rollback can restore
// them.
func (x *run) forgetRemoved(ctx context.Context) error {
	for _, s := range x.j.Run.Steps {
		if s.Kind != RemoveRelease || s.Phase != Done {
			continue
		}
		name := helm.ReleaseName{Name: s.Release, Namespace: s.Namespace}
		if x.loaded { // The journal was read: only the record itself proves that it was this run.
			list, err := x.Engine.History(ctx, name)
			if err != nil {
				return err
			}
			if len(list) == 0 || list[len(list)-1].Marks.Run != x.j.Run.ID {
				continue
			}
		}
		if err := x.Engine.Forget(ctx, name); err != nil {
			return fmt.Errorf("the run is done, but records of removed releases remain: %w", err)
		}
	}
	return nil
}

// forgetUndone deletes the records of all releases whose installation was undone.
func (x *run) forgetUndone(ctx context.Context) error {
	for i := range x.j.Run.Steps {
		if err := x.forget(ctx, &x.j.Run.Steps[i]); err != nil {
			return err
		}
	}
	return nil
}

// forget deletes the records of a release whose installation was undone; they were kept because
// they prove what the run created.
func (x *run) forget(ctx context.Context, s *StepState) error {
	if s.Kind != InstallRelease || s.Phase != Undone {
		return nil
	}
	name := helm.ReleaseName{Name: s.Release, Namespace: s.Namespace}
	list, err := x.Engine.History(ctx, name)
	if err != nil || len(list) == 0 {
		return err
	}
	if last := list[len(list)-1]; last.Status != helm.Uninstalled || last.Marks.Run != x.j.Run.ID {
		return nil
	}
	if list[0].Marks.Run != x.j.Run.ID {
		return nil // it existed before, was removed, and may be restored from its records
	}
	return x.Engine.Forget(ctx, name)
}

// past returns the record of the run at its end.
func (x *run) past(ctx context.Context, result string) RunRecord {
	r := x.j.Run
	past := RunRecord{
		Revision: 1, ID: r.ID, Action: r.Action, By: r.By, Started: r.Started, Stamp: r.Stamp, Ended: x.now().UTC().Truncate(time.Second), Result: result, Why: r.Why, To: r.To,
		Releases: x.releases(ctx, result), Needs: x.j.needsAfter(result),
	}
	for _, s := range r.Steps {
		if s.Phase == Done && s.Irreversible != "" && result == ResultDone {
			past.Lost = append(past.Lost, lossOf(&s))
		}
		if s.Phase == NotUndone {
			past.Left = append(past.Left, s.ID+": "+s.Note)
		}
	}
	if n := len(x.j.Runs); n > 0 {
		past.Revision = x.j.Runs[n-1].Revision + 1
	}
	return past
}

func (x *run) open(err error) error {
	x.report.Result = ResultUnfinished
	return &FailedError{Result: ResultUnfinished, Err: err}
}

// lossOf describes the losses of a step that was done.
func lossOf(s *StepState) string {
	switch s.Kind {
	case ApplyDefinitions:
		return fmt.Sprintf("a rollback does not restore the former definitions of %s: objects may be stored in their new version", s.Part)
	case DeleteDefinitions:
		return fmt.Sprintf("the definitions of %s were deleted", s.Part)
	case DeleteObjects:
		return fmt.Sprintf("the custom resources of %s were deleted with their data", s.Part)
	case RemoveRelease:
		return fmt.Sprintf("%s was removed: %s", s.Part, s.Irreversible)
	}
	return fmt.Sprintf("the release of %s was changed: %s", s.Part, s.Irreversible)
}

// beforeImages returns all before-images of a run.
func beforeImages(r *Run) (out []BeforeImage) {
	for _, s := range r.Steps {
		out = append(out, s.Changed...)
	}
	return out
}

// releases returns the current releases of the installation, without those that cannot be read:
// they are only shown to people.
func (x *run) releases(ctx context.Context, result string) []ReleaseState {
	var out []ReleaseState
	for _, s := range x.concerned(result) {
		if s.Release == "" || slices.ContainsFunc(out, func(o ReleaseState) bool { return o.Release == s.Release && o.Namespace == s.Namespace }) {
			continue
		}
		list, err := x.Engine.History(ctx, helm.ReleaseName{Name: s.Release, Namespace: s.Namespace})
		if err != nil {
			continue
		}
		v, ok := deployed(list)
		if !ok {
			continue
		}
		s.Revision, s.Version = v.Revision, cmp.Or(v.Marks.Version, v.Version)
		if s.App {
			s.Version = "" // the chart was generated for the app
		}
		out = append(out, s)
	}
	return out
}

// concerned returns the releases that the installation may have: after a run that is done those of
// its plan, otherwise also those from before it.
func (x *run) concerned(result string) []ReleaseState {
	var out []ReleaseState
	if result != ResultDone && x.j != nil && len(x.j.Runs) > 0 {
		out = append(out, x.j.Runs[len(x.j.Runs)-1].Releases...)
	}
	if x.p != nil {
		out = append(out, x.p.Stays...)
		for _, p := range x.p.Parts {
			out = append(out, ReleaseState{Part: p.Name, App: p.App, Release: p.Release, Namespace: p.Namespace})
		}
	}
	if x.j == nil || x.j.Run == nil {
		return out
	}
	for _, s := range x.j.Run.Steps {
		if s.ofRelease() {
			app := x.of.System && s.Release == x.of.Name+"-"+s.Part
			out = append(out, ReleaseState{Part: s.Part, App: app, Release: s.Release, Namespace: s.Namespace})
		}
	}
	return out
}

// deployed returns the record of the deployed revision.
func deployed(list []helm.Record) (helm.Record, bool) { return DeployedRecord(list, "") }

// DeployedRecord returns the latest record that is deployed, or that was deployed before a run
// created others; an empty run excludes none.
func DeployedRecord(list []helm.Record, before string) (helm.Record, bool) {
	for _, v := range slices.Backward(list) {
		other := before == "" || v.Marks.Run != before
		if other && (v.Status == helm.Deployed || before != "" && v.Status == helm.Superseded) {
			return v, true
		}
	}
	return helm.Record{}, false
}
