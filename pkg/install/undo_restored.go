package install

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Restored is how the releases are that were brought back by undoing a run.
type Restored struct {
	Releases []ReleaseName `json:"releases"`
	Healthy  bool          `json:"healthy"`
	// Message says what is not Healthy, and Help the commands that tell more or put it right.
	Message string   `json:"message,omitempty"`
	Help    []string `json:"help,omitempty"`
	// Deleted are pods that were deleted since their StatefulSet waited for them.
	Deleted []object.Ref `json:"deleted,omitempty"`
}

// leastGate is how long the health of what was restored is looked at in any case.
const leastGate = 5 * time.Second

// lookAtRestored waits until the releases that were brought back are Healthy, and says so, or what
// is not and which command helps. Pods that keep a StatefulSet from going back are deleted. It
// returns nil where nothing was brought back, or nobody can tell of health. An error is that of
// ctx: then it is not known.
func (x *run) lookAtRestored(ctx context.Context) (*Restored, error) {
	if x.Gate == nil || x.gone {
		return nil, nil //nolint:nilnil // nothing to say is no error
	}
	r := &Restored{}
	refs := x.restoredObjects(ctx, r)
	if len(refs) == 0 {
		return nil, ctx.Err() //nolint:nilnil // as above
	}
	x.tell(Event{Kind: Noted, Message: "looking whether what was brought back is Healthy"})
	began, timeout := x.now(), x.o.look()
	stuck := x.unstick(ctx, refs, r, timeout)
	err := x.Gate(ctx, refs, max(timeout-x.now().Sub(began), leastGate))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err == nil {
		r.Healthy = true
		x.tell(Event{Kind: Noted, Message: "what was brought back is Healthy"})
		return r, nil
	}
	r.Message = field.HostsOnly(err.Error())
	for _, pod := range stuck {
		r.Message += fmt.Sprintf("; %s is of the revision that was undone, and its StatefulSet waits for it (OrderedReady)", pod)
		r.Help = append(r.Help, fmt.Sprintf("kubectl delete pod %s -n %s", pod.Name, pod.Namespace))
	}
	for _, n := range r.Releases {
		r.Help = append(r.Help, fmt.Sprintf("kubectl sysop health helm/%s -n %s", n.Name, n.Namespace))
	}
	x.tell(Event{Kind: Noted, Message: "what was brought back is not Healthy: " + r.Message + "; " + strings.Join(r.Help, ", ") + " helps"})
	return r, nil
}

// undone says that a run was undone, by all, only where what was brought back is Healthy.
func (r *Restored) undone(all, part string) string {
	switch {
	case r == nil:
		return all
	case r.Healthy:
		return all + ", and what was brought back is Healthy"
	}
	return part + ", and what was brought back is not Healthy: " + r.Message + " (" + strings.Join(r.Help, "; ") + ")"
}

// look is how long is waited for what was brought back.
func (o Options) look() time.Duration {
	if o.Look > 0 {
		return o.Look
	}
	return o.patience(0)
}

// restoredObjects are the objects of the releases that this run brought back; what cannot be read
// is left out.
func (x *run) restoredObjects(ctx context.Context, r *Restored) []object.Ref {
	var refs []object.Ref
	for _, s := range x.j.Run.Steps {
		name := ReleaseName{s.Release, s.Namespace}
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
		if !ok || last.Marks.Run != x.j.Run.ID || last.RollbackOf != s.Was { // it was not changed, or is somebody else's
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
