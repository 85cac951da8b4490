package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The annotations and labels of managers.
const (
	// hookNote is on the objects of Helm hooks.
	hookNote = "helm.sh/hook"
	// keepPolicy in helm.PolicyAnnotation prevents the deletion of an object with its release.
	keepPolicy = "keep"
)

// Manager is the tool that maintains an object.
type Manager struct {
	// By is "helm", "argocd", "flux", "applyset", "controller", "sysop" (our package or System),
	// "manager" (a field manager that applied the object) or "unknown".
	By string
	// Name and Namespace identify the release, the Application, the Kustomization or the field
	// manager; Kind is that of a controller.
	Kind, Namespace, Name string
	// Reverts means that the manager reverts changes of the object.
	Reverts bool
}

// String returns the manager as text.
func (k Manager) String() string {
	in := ""
	if k.Namespace != "" {
		in = " in " + k.Namespace
	}
	switch k.By {
	case "helm":
		return fmt.Sprintf("the Helm release %s%s", k.Name, in)
	case "argocd":
		return fmt.Sprintf("the Argo CD application %s%s", k.Name, in)
	case "flux":
		return fmt.Sprintf("Flux's %s %s%s", k.Kind, k.Name, in)
	case "applyset":
		return "the ApplySet " + k.Name
	case "controller":
		return fmt.Sprintf("its controller, %s %s", k.Kind, k.Name)
	case "sysop":
		return "the package " + k.Name + ", installed by kubectl sysop"
	case "manager":
		return fmt.Sprintf("an unknown manager (field manager %q)", k.Name)
	}
	return "an unknown manager"
}

// ManagerOf returns the manager of an object, in the order in which managers revert changes: Argo
// CD, Flux, a controller, an ApplySet, a release, a field manager.
func ManagerOf(u *unstructured.Unstructured) Manager {
	for _, detect := range []func(*unstructured.Unstructured) (Manager, bool){byArgoCD, byFlux, byController, byApplySet, byHelm, byPackage, byManager} {
		if k, ok := detect(u); ok {
			return k
		}
	}
	return Manager{By: "unknown"}
}

func byArgoCD(u *unstructured.Unstructured) (Manager, bool) {
	app := object.Object{Ref: object.RefOf(u), Meta: u}.Application()
	return Manager{By: "argocd", Namespace: app.Namespace, Name: app.Name, Reverts: true}, app.Name != ""
}

func byFlux(u *unstructured.Unstructured) (Manager, bool) {
	m := object.Object{Ref: object.RefOf(u), Meta: u}.FluxManager()
	return Manager{By: "flux", Kind: m.Kind, Name: m.Name, Namespace: m.Namespace, Reverts: true}, m.Name != ""
}

func byController(u *unstructured.Unstructured) (Manager, bool) {
	if c := metav1.GetControllerOf(u); c != nil {
		return Manager{By: "controller", Kind: c.Kind, Name: c.Name, Reverts: true}, true
	}
	return Manager{}, false
}

func byApplySet(u *unstructured.Unstructured) (Manager, bool) {
	id := u.GetLabels()[system.MemberLabel]
	return Manager{By: "applyset", Name: id}, id != ""
}

func byHelm(u *unstructured.Unstructured) (Manager, bool) {
	notes := u.GetAnnotations()
	name := notes[graph.HelmName]
	return Manager{By: "helm", Name: name, Namespace: notes[graph.HelmNamespace]}, name != ""
}

func byPackage(u *unstructured.Unstructured) (Manager, bool) {
	name := u.GetLabels()[helm.PackageLabel]
	return Manager{By: "sysop", Name: name}, name != ""
}

// byManager returns the last field manager that wrote more than the status.
func byManager(u *unstructured.Unstructured) (Manager, bool) {
	fields := slices.DeleteFunc(slices.Clone(u.GetManagedFields()), func(m metav1.ManagedFieldsEntry) bool { return m.Subresource != "" || m.Manager == "" })
	if len(fields) == 0 {
		return Manager{}, false
	}
	last := slices.MaxFunc(fields, func(a, b metav1.ManagedFieldsEntry) int {
		switch {
		case a.Time == nil || b.Time == nil:
			return strings.Compare(a.Manager, b.Manager)
		default:
			return a.Time.Compare(b.Time.Time)
		}
	})
	return Manager{By: "manager", Name: last.Manager}, true
}

// foreignTo returns the other manager of an object that a part wants to create, and whether there
// is one. An object of our release stays ours, even if others write to it.
func (m *planner) foreignTo(p *Part, u *unstructured.Unstructured) (Manager, bool) {
	k := ManagerOf(u)
	if k.By == "applyset" && k.Name == m.options.Set && m.options.Set != "" {
		if k, _ = byHelm(u); k.Name == "" {
			k, _ = byManager(u)
		}
	}
	if k.By == "helm" && k.Name == p.Release && k.Namespace == p.Namespace {
		return Manager{}, false
	}
	return k, true
}

// ownObjects refuses existing objects of other managers, or notes them if TakeOwnership is set.
func (m *planner) ownObjects(p *Part) {
	if m.stranger[p.Name] {
		return // the refusal of the release covers all its objects
	}
	hooks := m.hooksBefore(p)
	for _, u := range rendered(p).Objects {
		ref := object.RefOf(u)
		live, found := m.state.Objects[ref]
		if !found || ref.Name == "" {
			continue
		}
		if k, foreign := m.foreignTo(p, live); foreign {
			m.take(p, ref, k)
		}
	}
	for _, h := range rendered(p).Hooks {
		ref := object.RefOf(h.Object)
		live, found := m.state.Objects[ref]
		if !found || ref.Name == "" {
			continue
		}
		// Helm sets no release on hooks, and deletes conflicting objects.
		if k, foreign := m.foreignTo(p, live); foreign && (!hooks[ref] || live.GetAnnotations()[hookNote] == "") {
			m.take(p, ref, k)
		}
	}
}

// hooksBefore returns the hooks of the current release of a part.
func (m *planner) hooksBefore(p *Part) map[object.Ref]bool {
	out := map[object.Ref]bool{}
	if r := m.state.release(p.Namespace, p.Release); r != nil {
		for _, record := range r.Records {
			for _, u := range record.Hooks {
				out[m.placed(u, p.Namespace)] = true
			}
		}
	}
	return out
}

// placed returns the reference of an object of a manifest, which may omit the namespace.
func (m *planner) placed(u *unstructured.Unstructured, namespace string) object.Ref {
	ref := object.RefOf(u)
	if r, known := m.kinds.Kind(ref.GroupKind()); known {
		switch {
		case !r.Namespaced:
			ref.Namespace = ""
		case ref.Namespace == "":
			ref.Namespace = namespace
		}
	}
	return ref
}

// take takes over an object of another manager if TakeOwnership is set, and refuses otherwise.
func (m *planner) take(p *Part, ref object.Ref, k Manager) {
	if m.options.TakeOwnership {
		text := fmt.Sprintf("%s is taken over from %s", ref, k)
		if k.Reverts {
			text += ", which may revert it"
		}
		m.note("%s", text)
		return
	}
	hint := "leave it out by the values of " + p.Name + ", delete it, or take it over with --take-ownership"
	switch k.By {
	case "argocd", "flux", "controller":
		hint = "change it where it is managed; with --take-ownership, its manager would revert it"
	case "helm":
		hint = fmt.Sprintf("uninstall that release (helm uninstall %s -n %s), or take it over with --take-ownership", k.Name, k.Namespace)
	}
	m.refuse(Refusal{Topic: "ownership", Part: p.Name, Object: ref, Message: fmt.Sprintf("%s already exists, managed by %s", ref, k), Hint: hint})
}
