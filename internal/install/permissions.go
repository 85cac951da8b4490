package install

import (
	"cmp"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// rightsOfRun collects the permissions that a run needs.
type rightsOfRun struct {
	plan  *Plan
	state *State
	kinds *object.Kinds
	permission.Set
}

// Permissions returns the permissions to execute a plan and to undo it: the journal and the lease, the
// records of releases, every object that is created, changed or deleted, and the reads of gates.
// The permissions to escalate and bind are optional, because the permissions of the role suffice
// instead (Escalations). Kinds of the run's own definitions count as served. The result is sorted,
// without duplicates; a plan without steps needs none.
func Permissions(p *Plan, state State, kinds *object.Kinds) []permission.Permission {
	if len(p.Steps) == 0 {
		return nil
	}
	r := &rightsOfRun{plan: p, state: &state, kinds: kindsWith(kinds, p.Parts), Set: permission.Set{}}
	r.keeping()
	r.looking()
	for i := range p.Steps {
		r.step(&p.Steps[i])
	}
	for _, e := range Escalations(p) {
		either := e.Either
		either.Optional = true
		r.AddAll(either)
	}
	return r.List()
}

// keeping adds the journal, its before-images, whose names are generated, and the lease.
func (r *rightsOfRun) keeping() {
	in := r.plan.Installation
	if _, found := r.state.Namespaces[in.Namespace]; !found {
		r.step(&Step{Kind: MakeNamespace, Namespace: in.Namespace})
	}
	r.Add(permission.Permission{Resource: "configmaps", Namespace: in.Namespace}, "create", "delete", "get", "list", "update")
	if in.System { // Its ApplySet parent is a ConfigMap that is applied.
		r.Add(permission.Permission{Resource: "configmaps", Namespace: in.Namespace}, "patch")
	}
	secret := permission.Permission{Resource: "secrets", Namespace: in.Namespace, Optional: true}
	r.Add(secret, "create") // Without permission to create the key, the journal is not signed.
	secret.Name = journal.KeyName(JournalName(in.Name))
	r.Add(secret, "delete")
	secret.Optional = false
	r.Add(secret, "get")
	if r.changesSecrets() {
		r.Add(permission.Permission{Resource: "secrets", Namespace: in.Namespace}, "create", "delete", "get")
	}
	r.AddAll(permission.Event(in.Namespace))
	r.Add(permission.Permission{Group: "coordination.k8s.io", Resource: "leases", Namespace: in.Namespace}, "create")
	r.Add(permission.Permission{Group: "coordination.k8s.io", Resource: "leases", Namespace: in.Namespace, Name: JournalName(in.Name)}, "get", "update")
	r.Add(permission.Permission{Group: "coordination.k8s.io", Resource: "leases", Namespace: in.Namespace, Name: JournalName(in.Name), Optional: true}, "delete")
}

// looking adds the reads of the plan: existing namespaces, the definitions of packages, and claims
// that StatefulSets have deleted.
func (r *rightsOfRun) looking() {
	in := []string{r.plan.Installation.Namespace}
	for _, p := range r.plan.Parts {
		in = append(in, p.Namespace)
	}
	for _, name := range in {
		if _, found := r.state.Namespaces[name]; found {
			r.Add(permission.Permission{Resource: "namespaces", Name: name}, "get")
		}
	}
	if slices.ContainsFunc(r.plan.Parts, func(p *Part) bool { return !p.App }) {
		r.Add(permission.Permission{Group: definitionKind.Group, Resource: "customresourcedefinitions"}, "list")
	}
	for _, ns := range claimNamespaces(r.state, r.plan.Parts) {
		r.Add(permission.Permission{Resource: "persistentvolumeclaims", Namespace: ns}, "list")
		if r.plan.Action != Uninstall { // undo protects claims from before the run
			r.Add(permission.Permission{Resource: "persistentvolumeclaims", Namespace: ns}, "get", "update")
		}
	}
}

// changesSecrets reports whether before-images of existing Secrets may be needed.
func (r *rightsOfRun) changesSecrets() bool {
	for i := range r.plan.Steps {
		for _, ref := range r.plan.Steps[i].Objects {
			if _, found := r.state.Objects[ref]; found && ref.GroupKind() == secretKind {
				return true
			}
		}
	}
	return false
}

func (r *rightsOfRun) step(s *Step) {
	switch s.Kind {
	case MakeNamespace:
		ns := permission.Permission{Resource: "namespaces"}
		r.Add(ns, "create")
		ns.Name = s.Namespace
		r.Add(ns, "delete", "get", "patch")
		// Undo checks that others have put no objects into the namespace that it deletes.
		r.Add(permission.Permission{Group: "*", Resource: "*", Namespace: s.Namespace, Optional: true}, "list")
	case ApplyDefinitions, DeleteDefinitions:
		r.definitions(s)
	case Await:
		r.gate(s)
	case DeleteObjects:
		for _, ref := range s.Objects {
			r.object(ref, "", "delete", "get")
			if k, known := r.kinds.Kind(ref.GroupKind()); known {
				r.Add(permission.Permission{Group: k.Group, Resource: k.Plural}, "list")
			}
		}
	default:
		r.release(s)
	}
}

// definitions adds creating and changing definitions, and deleting them in undo. Before a restore
// or a deletion their objects are listed.
func (r *rightsOfRun) definitions(s *Step) {
	all := permission.Permission{Group: definitionKind.Group, Resource: "customresourcedefinitions"}
	if s.Kind == ApplyDefinitions {
		r.Add(all, "create")
	}
	for _, ref := range s.Objects {
		one := all
		one.Name = ref.Name
		r.Add(one, "delete", "get")
		if s.Kind == ApplyDefinitions {
			r.Add(one, "patch", "update")
		}
		u := r.state.Definitions[ref.Name]
		for _, d := range s.Definitions {
			if d.GetName() == ref.Name {
				u = d
			}
		}
		if u == nil {
			continue
		}
		if k, ok := resourceOf(u); ok {
			r.Add(permission.Permission{Group: k.Group, Resource: k.Plural}, "list")
		}
	}
}

// gate adds reading the awaited objects and their pods.
func (r *rightsOfRun) gate(s *Step) {
	for _, ref := range s.Objects {
		namespace := ref.Namespace
		r.object(ref, "", "get")
		if k, known := r.kinds.Kind(ref.GroupKind()); known {
			r.Add(permission.Permission{Group: k.Group, Resource: k.Plural, Namespace: namespace}, "list", "watch")
		}
		if namespace != "" {
			r.Add(permission.Permission{Resource: "pods", Namespace: namespace}, "list", "watch")
		}
	}
}

// release adds what Helm needs: its records, the objects of the release before and after, and
// hooks.
func (r *rightsOfRun) release(s *Step) {
	secrets := permission.Permission{Resource: "secrets", Namespace: s.Namespace}
	r.Add(secrets, "create", "list")
	live := r.state.release(s.Namespace, s.Release)
	last := 0
	if live != nil {
		last = live.Revision
		for _, n := range live.Revisions {
			secrets.Name = helm.RecordName(s.Release, n)
			r.Add(secrets, "delete", "get", "update")
		}
	}
	if s.Kind != RemoveRelease {
		// The revision that the step creates, and the one that undo creates.
		for n := last + 1; n <= last+2; n++ {
			secrets.Name = helm.RecordName(s.Release, n)
			r.Add(secrets, "delete", "get", "update")
		}
	}
	var objects, hooks []*unstructured.Unstructured
	if live != nil {
		for _, record := range live.Records {
			objects = append(objects, record.Objects...)
			hooks = append(hooks, record.Hooks...)
		}
	}
	if s.Kind != RemoveRelease && s.Kind != RollbackRelease {
		for _, p := range r.plan.Parts {
			if p.Release == s.Release && p.Namespace == s.Namespace {
				objects = append(objects, rendered(p).Objects...)
				hooks = append(hooks, hookObjects(rendered(p).Hooks)...)
			}
		}
	}
	if live != nil {
		r.ordered(live, s.Namespace)
	}
	// Undo recreates removed objects, which takes the same permissions.
	for _, u := range objects {
		r.object(object.RefOf(u), s.Namespace, "create", "delete", "get", "patch", "update")
	}
	for _, u := range hooks {
		r.object(object.RefOf(u), s.Namespace, "create", "delete", "get", "patch", "list", "watch")
	}
}

// object adds verbs on one object. For create, list and watch the permission is on the kind,
// because the request has no object name. An omitted namespace is that of the release.
func (r *rightsOfRun) object(ref object.Ref, namespace string, verbs ...string) {
	k, known := r.kinds.Kind(ref.GroupKind())
	if !known {
		return // not served, so nothing will be done to it
	}
	right := permission.Permission{Group: k.Group, Resource: k.Plural}
	if k.Namespaced {
		right.Namespace = cmp.Or(ref.Namespace, namespace)
	}
	for _, v := range verbs {
		right.Name = ref.Name
		if v == "create" || v == "list" || v == "watch" {
			right.Name = ""
		}
		r.Add(right, v)
	}
}
