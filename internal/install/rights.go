package install

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// rightsOfRun gathers what a run does to an API server.
type rightsOfRun struct {
	plan  *Plan
	state *State
	kinds *object.Kinds
	set   map[regulate.Permission]bool
}

// Rights is what doing the plan takes, and undoing it: the journal and the lock, the records
// of releases, every object that is made, changed or deleted, and what gates look at. Rights
// to escalate and to bind are optional: who holds what a role gives needs none (Escalations).
// Kinds that definitions of the run make are known by these. The rights are sorted, each
// once; a plan without steps takes none.
func Rights(p *Plan, state State, kinds *object.Kinds) []regulate.Permission {
	if len(p.Steps) == 0 {
		return nil
	}
	r := &rightsOfRun{plan: p, state: &state, kinds: kindsWith(kinds, p.Parts), set: map[regulate.Permission]bool{}}
	r.keeping()
	r.looking()
	for i := range p.Steps {
		r.step(&p.Steps[i])
	}
	for _, e := range Escalations(p) {
		either := e.Either
		either.Optional = true
		r.set[either] = true
	}
	return slices.SortedFunc(maps.Keys(r.set), compareRights)
}

func compareRights(a, b regulate.Permission) int {
	optional := func(r regulate.Permission) int {
		if r.Optional {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource),
		cmp.Compare(a.Subresource, b.Subresource), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Verb, b.Verb), cmp.Compare(optional(a), optional(b)))
}

func (r *rightsOfRun) add(right regulate.Permission, verbs ...string) {
	for _, v := range verbs {
		right.Verb = v
		r.set[right] = true
	}
}

// keeping is what the journal, what it keeps beside, and the lock take. What is kept has a
// name that is made when it is.
func (r *rightsOfRun) keeping() {
	in := r.plan.Installation
	if _, found := r.state.Namespaces[in.Namespace]; !found {
		r.step(&Step{Kind: MakeNamespace, Namespace: in.Namespace})
	}
	r.add(regulate.Permission{Resource: "configmaps", Namespace: in.Namespace}, "create", "delete", "get", "list", "update")
	if in.System { // It is made known by its ApplySet, whose parent is a ConfigMap that is applied.
		r.add(regulate.Permission{Resource: "configmaps", Namespace: in.Namespace}, "patch")
	}
	secret := regulate.Permission{Resource: "secrets", Namespace: in.Namespace, Optional: true}
	r.add(secret, "create") // Who may not make the key writes a journal that is not signed.
	secret.Name = journal.KeyName(JournalName(in.Name))
	r.add(secret, "delete")
	secret.Optional = false
	r.add(secret, "get")
	if r.changesSecrets() {
		r.add(regulate.Permission{Resource: "secrets", Namespace: in.Namespace}, "create", "delete", "get")
	}
	r.add(regulate.Permission{Group: "coordination.k8s.io", Resource: "leases", Namespace: in.Namespace}, "create")
	r.add(regulate.Permission{Group: "coordination.k8s.io", Resource: "leases", Namespace: in.Namespace, Name: JournalName(in.Name)}, "get", "update")
	r.add(regulate.Permission{Group: "coordination.k8s.io", Resource: "leases", Namespace: in.Namespace, Name: JournalName(in.Name), Optional: true}, "delete")
}

// looking is what making the plan takes besides: the namespaces that are there, which definitions
// packages have brought, and claims where StatefulSets have them deleted.
func (r *rightsOfRun) looking() {
	in := []string{r.plan.Installation.Namespace}
	for _, p := range r.plan.Parts {
		in = append(in, p.Namespace)
	}
	for _, name := range in {
		if _, found := r.state.Namespaces[name]; found {
			r.add(regulate.Permission{Resource: "namespaces", Name: name}, "get")
		}
	}
	if slices.ContainsFunc(r.plan.Parts, func(p *Part) bool { return !p.App }) {
		r.add(regulate.Permission{Group: definitionKind.Group, Resource: "customresourcedefinitions"}, "list")
	}
	for _, ns := range claimNamespaces(r.state, r.plan.Parts) {
		r.add(regulate.Permission{Resource: "persistentvolumeclaims", Namespace: ns}, "list")
		if r.plan.Action != Uninstall { // undoing takes claims that were there before from what it deletes
			r.add(regulate.Permission{Resource: "persistentvolumeclaims", Namespace: ns}, "get", "update")
		}
	}
}

// changesSecrets says that Secrets which are there may have to be kept as they were.
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
		ns := regulate.Permission{Resource: "namespaces"}
		r.add(ns, "create")
		ns.Name = s.Namespace
		r.add(ns, "delete", "get", "patch")
		// Before it is deleted in undoing, it is looked whether somebody else put something in it.
		r.add(regulate.Permission{Group: "*", Resource: "*", Namespace: s.Namespace, Optional: true}, "list")
	case ApplyDefinitions, DeleteDefinitions:
		r.definitions(s)
	case Await:
		r.gate(s)
	case DeleteObjects:
		for _, ref := range s.Objects {
			r.object(ref, "", "delete", "get")
			if k, known := r.kinds.Kind(ref.GroupKind()); known {
				r.add(regulate.Permission{Group: k.Group, Resource: k.Plural}, "list")
			}
		}
	default:
		r.release(s)
	}
}

// definitions are created and changed, and deleted where that is undone. Of what is undone
// or deleted it is asked first whether objects are there.
func (r *rightsOfRun) definitions(s *Step) {
	all := regulate.Permission{Group: definitionKind.Group, Resource: "customresourcedefinitions"}
	if s.Kind == ApplyDefinitions {
		r.add(all, "create")
	}
	for _, ref := range s.Objects {
		one := all
		one.Name = ref.Name
		r.add(one, "delete", "get")
		if s.Kind == ApplyDefinitions {
			r.add(one, "patch", "update")
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
			r.add(regulate.Permission{Group: k.Group, Resource: k.Plural}, "list")
		}
	}
}

// gate reads what is awaited, and the pods that it makes.
func (r *rightsOfRun) gate(s *Step) {
	for _, ref := range s.Objects {
		namespace := ref.Namespace
		r.object(ref, "", "get")
		if k, known := r.kinds.Kind(ref.GroupKind()); known {
			r.add(regulate.Permission{Group: k.Group, Resource: k.Plural, Namespace: namespace}, "list", "watch")
		}
		if namespace != "" {
			r.add(regulate.Permission{Resource: "pods", Namespace: namespace}, "list", "watch")
		}
	}
}

// release is what Helm takes: its records, the objects of the release as they were and as
// they are wanted, and hooks.
func (r *rightsOfRun) release(s *Step) {
	secrets := regulate.Permission{Resource: "secrets", Namespace: s.Namespace}
	r.add(secrets, "create", "list")
	live := r.state.release(s.Namespace, s.Release)
	last := 0
	if live != nil {
		last = live.Revision
		for _, n := range live.Revisions {
			secrets.Name = RecordName(s.Release, n)
			r.add(secrets, "delete", "get", "update")
		}
	}
	if s.Kind != RemoveRelease {
		// The revision that is made, and the one that undoing makes.
		for n := last + 1; n <= last+2; n++ {
			secrets.Name = RecordName(s.Release, n)
			r.add(secrets, "delete", "get", "update")
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
	// Removing is undone by creating it again, so that takes the same.
	for _, u := range objects {
		r.object(refOf(u), s.Namespace, "create", "delete", "get", "patch", "update")
	}
	for _, u := range hooks {
		r.object(refOf(u), s.Namespace, "create", "delete", "get", "patch", "list", "watch")
	}
}

// object is what is done to one object. To create, list and watch are rights to a kind: the
// object has no name when that is authorized. A namespace that is left out is that of the release.
func (r *rightsOfRun) object(ref object.Ref, namespace string, verbs ...string) {
	k, known := r.kinds.Kind(ref.GroupKind())
	if !known {
		return // it is not served: nothing will be done to it
	}
	right := regulate.Permission{Group: k.Group, Resource: k.Plural}
	if k.Namespaced {
		right.Namespace = cmp.Or(ref.Namespace, namespace)
	}
	for _, v := range verbs {
		right.Name = ref.Name
		if v == "create" || v == "list" || v == "watch" {
			right.Name = ""
		}
		r.add(right, v)
	}
}

// rolesGroup is the group of roles.
const rolesGroup = "rbac.authorization.k8s.io"

func isRole(gk schema.GroupKind) bool {
	return gk.Group == rolesGroup && (gk.Kind == "Role" || gk.Kind == "ClusterRole")
}

func isBinding(gk schema.GroupKind) bool {
	return gk.Group == rolesGroup && (gk.Kind == "RoleBinding" || gk.Kind == "ClusterRoleBinding")
}
