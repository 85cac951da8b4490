package regulate

import (
	"cmp"
	"slices"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Permission is one verb on one resource of an API server.
type Permission struct {
	Verb, Group, Resource, Subresource string
	// Namespace is empty for cluster-scoped objects, Name for create and for unknown names.
	Namespace, Name string
	// Optional permissions are those that regulation works without: Events.
	Optional bool
}

// String describes the permission for people: patch deployments.apps/scale web in shop.
func (r Permission) String() string {
	text := r.Verb + " " + r.resource()
	if r.Name != "" {
		text += " " + r.Name
	}
	if r.Namespace != "" {
		text += " in " + r.Namespace
	}
	return text
}

// resource is written as kubectl create role takes it: deployments.apps/scale.
func (r Permission) resource() string {
	text := r.Resource
	if r.Group != "" {
		text += "." + r.Group
	}
	if r.Subresource != "" {
		text += "/" + r.Subresource
	}
	return text
}

func compareRights(a, b Permission) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource),
		cmp.Compare(a.Subresource, b.Subresource), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Verb, b.Verb))
}

// permissionSet collects permissions. Namespace is that of the system and its journal.
type permissionSet struct {
	system    *system.System
	namespace string
	kinds     *object.Kinds
	set       map[Permission]bool
	// letsGo reports that restored objects are inspected.
	letsGo bool
}

func newRightsOf(s *system.System, namespace string, kinds *object.Kinds) *permissionSet {
	return &permissionSet{system: s, namespace: namespace, kinds: kinds, set: map[Permission]bool{}}
}

func (r *permissionSet) list() []Permission {
	out := make([]Permission, 0, len(r.set))
	for right := range r.set {
		out = append(out, right)
	}
	slices.SortFunc(out, compareRights)
	return out
}

func (r *permissionSet) add(right Permission, verbs ...string) {
	for _, v := range verbs {
		right.Verb = v
		r.set[right] = true
	}
}

// Permissions returns the permissions that a plan and its undo need: the targets of its steps, the
// journal and the lock. world has the actions on Recover. They are sorted, each once.
func Permissions(p *Plan, j *Journal, s *system.System, w *SystemState, kinds *object.Kinds, namespace string) []Permission {
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
	return r.list()
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
func AllRights(s *system.System, w *SystemState, kinds *object.Kinds, namespace string) []Permission {
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
	return r.list()
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
	doc := Permission{Resource: "configmaps", Namespace: r.namespace}
	lock := Permission{Group: coordinationv1.GroupName, Resource: "leases", Namespace: r.namespace}
	if create {
		r.add(doc, "create")
		r.add(lock, "create")
	}
	key := Permission{Resource: "secrets", Namespace: r.namespace, Optional: true}
	if sign {
		r.add(key, "create")
	}
	key.Name, key.Optional = journal.KeyName(system.JournalName(r.system.Name)), false
	r.add(key, "get")
	doc.Name, lock.Name = system.JournalName(r.system.Name), system.LockName(r.system.Name)
	r.add(doc, "get", "update")
	r.add(lock, "get", "update")
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
		r.add(Permission{Resource: "secrets", Namespace: r.namespace, Name: act.HTTP.SecretName}, "get")
	}
}

func (r *permissionSet) jobNamespace(job *system.Job) string {
	ns, _, _ := unstructured.NestedString(job.Template, "metadata", "namespace")
	return cmp.Or(ns, r.namespace)
}

// job is what a Job takes. Its name is made when it is.
func (r *permissionSet) job(namespace string) {
	r.add(Permission{Group: "batch", Resource: "jobs", Namespace: namespace}, "create", "delete", "get")
}

// target is what reading and writing an object takes. What is written through a subresource
// is read whole as well, and ownership of its fields is given back there.
func (r *permissionSet) target(t object.Ref, sub string) {
	kind, ok := r.kinds.Kind(t.GroupKind())
	if !ok {
		return // it is not served: nothing will be written to it
	}
	r.written(Permission{Group: kind.Group, Resource: kind.Plural, Namespace: t.Namespace, Name: t.Name}, sub)
}

func (r *permissionSet) written(right Permission, sub string) {
	r.add(right, "get", "patch")
	if sub != "" {
		right.Subresource = sub
		r.add(right, "get", "patch")
	}
	r.event(right.Namespace)
}

// event is what Events about a target take.
func (r *permissionSet) event(namespace string) {
	r.set[EventPermission(namespace)] = true
}

// EventPermission is the optional permission to record events about objects of a namespace; those
// of cluster-scoped objects, without one, are recorded in default.
func EventPermission(namespace string) Permission {
	return Permission{Verb: "create", Group: "events.k8s.io", Resource: "events", Namespace: cmp.Or(namespace, "default"), Optional: true}
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
			r.written(Permission{Group: gv.Group, Resource: strings.ToLower(t.Resource), Namespace: t.Namespace, Name: t.Name}, t.Subresource)
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
