package regulate

import (
	"context"
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// scope is what a run may read and write on behalf of its journal. Others may have written the
// journal: an operation on an object counts if the System resolves to that object now, or if it
// is in a namespace of the System.
type scope struct {
	targets    map[object.Ref]bool
	namespaces map[string]bool
}

// scopeOf is what the System resolves to, and what is planned, which comes from that.
func scopeOf(w *SystemState, p *Plan, namespace string) scope {
	r := scope{targets: map[object.Ref]bool{}, namespaces: map[string]bool{namespace: true}}
	if w != nil {
		for i := range w.Apps {
			r.app(&w.Apps[i])
		}
	}
	for i := range p.Steps {
		r.actions(p.Steps[i].Actions)
		r.managers(p.Steps[i].Managers)
	}
	return r
}

func (r scope) app(a *AppState) {
	for _, root := range a.Roots {
		if root.Namespace != "" {
			r.namespaces[root.Namespace] = true
		}
	}
	for _, actions := range a.Actions {
		r.actions(actions)
	}
	for _, managers := range a.Managers {
		r.managers(managers)
	}
}

func (r scope) actions(actions []Resolved) {
	for i := range actions {
		for _, t := range actions[i].Targets {
			r.targets[t] = true
		}
	}
}

func (r scope) managers(managers []Manager) {
	for _, m := range managers {
		r.targets[m.Ref] = true
	}
}

// checkScope refuses an operation of the journal on an object that it may not be about, before
// the object is read. What a signed journal says is believed of objects that the System does
// not resolve to any more (an app may be gone from the manifest), but never of those that
// decide who may do what.
func (x *run) checkScope(o *Operation) error {
	t, signed := o.Target, x.j.Trust() == journal.Verified
	if t.Name == "" {
		return nil
	}
	if o.Action == "job" {
		return x.withinJob(t, signed)
	}
	kind, served := x.Kinds.Kind(t.Ref().GroupKind())
	switch {
	case served && (kind.Plural != t.Resource || kind.Namespaced != (t.Namespace != "")):
		return refused(t, fmt.Sprintf("%s in namespace %q is not of that kind", t.Resource, t.Namespace))
	case served && x.scope.targets[t.Ref()]:
		return nil
	case isPrivileged(t.gvk().Group):
		return refused(t, "the System does not resolve to it, and a journal alone does not permit a write")
	case signed:
		return nil
	case !served:
		return refused(t, "the cluster serves no such kind, and the journal is not signed")
	case !x.scope.namespaces[t.Namespace]:
		return refused(t, "the System does not resolve to it, it is in none of its namespaces, and the journal is not signed")
	case !x.suits(o):
		return refused(t, fmt.Sprintf("the System does not resolve to it, %s does not apply to its kind, and the journal is not signed", o.Action))
	}
	return nil
}

func refused(t Target, reason string) error {
	return permanent("the journal lists a change of %s: %s; nothing was written to it: if it is true, restore it by hand", t, reason)
}

// withinJob: regulation makes Jobs where the manifest says. Whose a Job is shows when it is read.
func (x *run) withinJob(t Target, signed bool) error {
	switch {
	case t.APIVersion != "batch/v1" || t.Kind != "Job" || t.Resource != "jobs" || t.Subresource != "":
		return refused(t, "it is not a Job")
	case !signed && !x.jobNamespaces()[t.Namespace]:
		return refused(t, "the System creates no Jobs in that namespace, and the journal is not signed")
	}
	return nil
}

// jobNamespaces are those of the Jobs of the manifest.
func (x *run) jobNamespaces() map[string]bool {
	out := map[string]bool{x.j.Namespace: true}
	rights := newRightsOf(x.System, x.j.Namespace, x.Kinds)
	for i := range x.System.Apps {
		for _, actions := range x.System.Apps[i].On {
			for k := range actions {
				for act := &actions[k]; act != nil; act = act.Inverse {
					if act.Job != nil {
						out[rights.jobNamespace(act.Job)] = true
					}
				}
			}
		}
	}
	return out
}

// isPrivileged says that objects of a group decide who may do what, or what is served.
func isPrivileged(group string) bool {
	switch group {
	case "rbac.authorization.k8s.io", "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "certificates.k8s.io":
		return true
	}
	return false
}

// suits says that an action can be about objects of a kind: what is known to pause or to stop
// it, a number that is scaled, or a kind that the System acts on.
func (x *run) suits(o *Operation) bool {
	t := o.Target
	switch o.Action {
	case "preset", suspendAction:
		for _, preset := range []string{signals.PresetPause, signals.PresetStop} {
			if _, err := x.signalOf(t.bare(), preset); err == nil {
				return true
			}
		}
		return false
	case "scale":
		return t.Subresource == scaleSubresource
	}
	for ref := range x.scope.targets {
		if ref.GroupKind() == t.Ref().GroupKind() {
			return true
		}
	}
	return false
}

// ownJob says that a Job is one that regulation of the System made.
func (x *run) ownJob(ctx context.Context, t Target) (bool, error) {
	img, err := x.readWithRetry(ctx, t)
	if err != nil {
		return false, err
	}
	return img.main.GetLabels()[system.Label] == x.j.System && (t.UID == "" || string(img.main.GetUID()) == t.UID), nil
}
