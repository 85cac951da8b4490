package regulate

import (
	"cmp"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// permissionSet collects permissions. Namespace is that of the system and its journal.
type permissionSet struct {
	system    *system.System
	namespace string
	kinds     *object.Kinds
	permission.Set
	// letsGo reports that restored objects are inspected.
	letsGo bool
}

func newRightsOf(s *system.System, namespace string, kinds *object.Kinds) *permissionSet {
	return &permissionSet{system: s, namespace: namespace, kinds: kinds, Set: permission.Set{}}
}

// Permissions returns the permissions that a plan and its undo need: the targets of its steps, the
// journal and the lock. world has the actions on Recover. They are sorted, each once.
func Permissions(p *Plan, j *Journal, s *system.System, w *SystemState, kinds *object.Kinds, namespace string) []permission.Permission {
	r := newRightsOf(s, namespace, kinds)
	if len(p.Steps) == 0 {
		return nil
	}
	r.letsGo = true
	// a journal needs a lock
	r.keeping(j.Version() == "", j.Version() == "" || j.Trust() == journal.Unsigned)
	for i := range p.Steps {
		step := &p.Steps[i]
		r.actions(step.App, step.Signal, step.Actions)
		for _, m := range step.Managers {
			r.target(m.Ref, "")
		}
		if h, ok := holdOf(j, step); ok && (step.Verb == Resume || step.Verb == RecoverApp) {
			r.operations(h)
		}
		if app, ok := w.App(step.App); ok && step.Verb != AddCause && step.Verb != RemoveCause {
			r.actions(step.App, system.Recover, app.Actions[system.Recover])
		}
	}
	return r.List()
}

func holdOf(j *Journal, step *Step) (*Hold, bool) {
	for _, h := range j.Holds {
		if h.ID == step.Hold {
			return h, true
		}
	}
	return nil, false
}

// AllRights returns the permissions of all actions of all apps, and those of suspending managers
// where the manifest allows it.
func AllRights(s *system.System, w *SystemState, kinds *object.Kinds, namespace string) []permission.Permission {
	r := newRightsOf(s, namespace, kinds)
	r.keeping(true, true)
	for i := range w.Apps {
		app := &w.Apps[i]
		for signal, actions := range app.Actions {
			r.actions(app.Name, signal, actions)
		}
		if !r.suspends(app.Name) {
			continue
		}
		for _, managers := range app.Managers {
			for _, m := range managers {
				if m.Reverts {
					r.target(m.Ref, "")
				}
			}
		}
	}
	return r.List()
}

func (r *permissionSet) suspends(app string) bool {
	var own system.GitOps
	if a, ok := r.system.App(app); ok {
		own = a.GitOps
	}
	return cmp.Or(own, r.system.Regulation.GitOps) == system.Suspend
}

// keeping adds the permissions of the journal, its key and the lock. Create has no resource name
// in RBAC. A user who may not create the key writes an unsigned journal.
func (r *permissionSet) keeping(create, sign bool) {
	doc := permission.Permission{Resource: "configmaps", Namespace: r.namespace}
	lock := permission.Permission{Group: coordinationv1.GroupName, Resource: "leases", Namespace: r.namespace}
	if create {
		r.Add(doc, "create")
		r.Add(lock, "create")
	}
	key := permission.Permission{Resource: "secrets", Namespace: r.namespace, Optional: true}
	if sign {
		r.Add(key, "create")
	}
	key.Name, key.Optional = journal.KeyName(system.JournalName(r.system.Name)), false
	r.Add(key, "get")
	doc.Name, lock.Name = system.JournalName(r.system.Name), system.LockName(r.system.Name)
	r.Add(doc, "get", "update")
	r.Add(lock, "get", "update")
}

func (r *permissionSet) actions(app, signal string, resolved []Resolved) {
	for i := range resolved {
		res := &resolved[i]
		act := r.action(app, signal, res)
		for _, t := range res.Targets {
			sub := ""
			if res.Signals[t].Scale {
				sub = "scale"
			}
			r.act(act, t, sub)
		}
		for ; act != nil; act = act.Inverse {
			r.addHook(act)
		}
	}
}

// action is what the manifest says of an action; nil for a default.
func (r *permissionSet) action(app, signal string, res *Resolved) *system.Action {
	a, ok := r.system.App(app)
	if !ok || res.Default || res.Index >= len(a.On[signal]) {
		return nil
	}
	return &a.On[signal][res.Index]
}

// act is what an action and its inverse write to a target.
func (r *permissionSet) act(act *system.Action, t object.Ref, sub string) {
	r.target(t, sub)
	for ; act != nil; act = act.Inverse {
		switch {
		case act.Scale != nil:
			r.target(t, "scale")
		case act.Patch != nil:
			r.target(t, act.Patch.Subresource)
			r.ordered(t.Group, t.Kind, t.Namespace)
		}
	}
}

// addHook is what an action takes that is about no target.
func (r *permissionSet) addHook(act *system.Action) {
	switch {
	case act.Job != nil:
		r.job(r.jobNamespace(act.Job))
	case act.HTTP != nil && act.HTTP.SecretName != "":
		r.Add(permission.Permission{Resource: "secrets", Namespace: r.namespace, Name: act.HTTP.SecretName}, "get")
	}
}

func (r *permissionSet) jobNamespace(job *system.Job) string {
	ns, _, _ := unstructured.NestedString(job.Template, "metadata", "namespace")
	return cmp.Or(ns, r.namespace)
}

// job is what a Job takes. Its name is made when it is.
func (r *permissionSet) job(namespace string) {
	r.Add(permission.Permission{Group: "batch", Resource: "jobs", Namespace: namespace}, "create", "delete", "get")
}

// target is what reading and writing an object takes. What is written through a subresource
// is read whole as well, and ownership of its fields is given back there.
func (r *permissionSet) target(t object.Ref, sub string) {
	kind, ok := r.kinds.Kind(t.GroupKind())
	if !ok {
		return // it is not served: nothing will be written to it
	}
	r.written(permission.Permission{Group: kind.Group, Resource: kind.Plural, Namespace: t.Namespace, Name: t.Name}, sub)
}

func (r *permissionSet) written(right permission.Permission, sub string) {
	r.Add(right, "get", "patch")
	if sub != "" {
		right.Subresource = sub
		r.Add(right, "get", "patch")
	}
	r.event(right.Namespace)
}

// event is what Events about a target take.
func (r *permissionSet) event(namespace string) {
	r.AddAll(permission.Event(namespace))
}

// ordered adds the permissions of a recovery if an action patches a StatefulSet: it may change
// its template. AllRights omits them: a watch deletes no pods.
func (r *permissionSet) ordered(group, kind, namespace string) {
	if !r.letsGo || group != "apps" || kind != "StatefulSet" {
		return
	}
	r.AddAll(permission.DeletePods(namespace)...)
}

// operations is what taking back what was done takes.
func (r *permissionSet) operations(h *Hold) {
	for _, o := range h.Operations {
		t := o.Target
		gv, err := schema.ParseGroupVersion(t.APIVersion)
		switch {
		case err != nil || t.Resource == "":
		case o.Action == "job":
			r.job(t.Namespace)
		case o.Action == "http":
		default:
			r.written(permission.Permission{Group: gv.Group, Resource: strings.ToLower(t.Resource), Namespace: t.Namespace, Name: t.Name}, t.Subresource)
			if o.Action == "patch" {
				r.ordered(gv.Group, t.Kind, t.Namespace)
			}
		}
	}
	a, ok := r.system.App(h.App)
	if !ok {
		return
	}
	for i := range a.On[h.Signal] {
		for act := &a.On[h.Signal][i]; act != nil; act = act.Inverse {
			r.addHook(act)
		}
	}
}
