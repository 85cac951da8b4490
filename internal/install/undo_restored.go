package install

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/internal/restored"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"k8s.io/apimachinery/pkg/types"
)

// Restored is the health of the releases that undo restored.
type Restored struct {
	Releases []helm.ReleaseName `json:"releases"`
	restored.Report
}

// lookAtRestored waits until the restored releases are Healthy, and reports that, or what is not
// and which command helps. It deletes pods that block the rollback of a StatefulSet. It returns nil
// if nothing was restored, or if health cannot be determined. An error is that of ctx: then the
// health is unknown.
func (x *run) lookAtRestored(ctx context.Context) (*Restored, error) {
	if x.Gate == nil || x.gone {
		return nil, nil //nolint:nilnil // nothing to say is no error
	}
	r := &Restored{}
	refs := x.restoredObjects(ctx, r)
	if len(refs) == 0 {
		return nil, ctx.Err() //nolint:nilnil // as above
	}
	note := func(text string) { x.emit(journal.EventNoted, text) }
	note("checking the health of what was restored")
	i := restored.Inspector{Objects: InspectedObjects(x.Objects), Gate: x.Gate, Note: note, Poll: x.Poll}
	var err error
	if r.Report, err = i.Inspect(ctx, refs, x.o.look()); err != nil {
		return nil, err
	}
	if !r.Healthy {
		for _, n := range r.Releases {
			r.Help = append(r.Help, fmt.Sprintf("kubectl sysop health helm/%s -n %s", n.Name, n.Namespace))
		}
	}
	note(r.Text("what was restored"))
	return r, nil
}

// InspectedObjects adapts Objects for an Inspector.
func InspectedObjects(o Objects) restored.Objects { return inspected{o} }

type inspected struct{ Objects }

func (i inspected) Delete(ctx context.Context, ref object.Ref, uid types.UID) error {
	return i.Objects.Delete(ctx, ref, Precondition{UID: string(uid)})
}

// undone returns all if everything restored is Healthy, and otherwise part, with the health of the
// restored releases.
func (r *Restored) undone(all, part string) string {
	switch {
	case r == nil:
		return all
	case r.Healthy:
		return all + ", and " + r.Text("what was restored")
	}
	return part + ", and " + r.Text("what was restored")
}

// look returns how long to wait for restored objects.
func (o Options) look() time.Duration {
	if o.Look > 0 {
		return o.Look
	}
	return o.statusTimeout(0)
}

// restoredObjects returns the objects of the releases that this run restored, without those that
// cannot be read.
func (x *run) restoredObjects(ctx context.Context, r *Restored) []object.Ref {
	var refs []object.Ref
	for _, s := range x.j.Run.Steps {
		name := helm.ReleaseName{Name: s.Release, Namespace: s.Namespace}
		switch s.Kind {
		case UpgradeRelease, RollbackRelease, RemoveRelease:
		default:
			continue
		}
		if s.Phase != Undone || slices.Contains(r.Releases, name) {
			continue
		}
		list, err := x.Engine.History(ctx, name)
		if err != nil {
			continue
		}
		last, ok := deployed(list)
		if !ok || last.Marks.Run != x.j.Run.ID || last.RollbackOf != s.Was { // unchanged, or not of this run
			continue
		}
		r.Releases = append(r.Releases, name)
		for _, ref := range slices.Concat(last.Objects, last.Kept) {
			if !slices.Contains(refs, ref) {
				refs = append(refs, ref)
			}
		}
	}
	return refs
}

// ReleasedObjects returns the objects of the releases of some steps, as they are deployed now.
func (r *Runner) ReleasedObjects(ctx context.Context, steps []StepState) ([]object.Ref, error) {
	var refs []object.Ref
	for i := range steps {
		if !steps[i].ofRelease() {
			continue
		}
		list, err := r.Engine.History(ctx, helm.ReleaseName{Name: steps[i].Release, Namespace: steps[i].Namespace})
		if err != nil {
			return nil, err
		}
		if last, ok := deployed(list); ok {
			refs = append(refs, slices.Concat(last.Objects, last.Kept)...)
		}
	}
	return refs, nil
}
