package install

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// uninstall removes the parts, each before its dependencies: apps first, then for each package its
// custom resources, the operator and its definitions, as far as the options allow.
func (m *planner) uninstall() {
	removed := map[object.Ref]bool{}
	for _, p := range m.plan.Parts {
		if r := m.state.release(p.Namespace, p.Release); r != nil {
			m.willGo(r, removed)
		}
	}
	parts := slices.Clone(m.plan.Parts)
	slices.Reverse(parts)
	slices.SortStableFunc(parts, func(a, b *Part) int { return rankOf(a) - rankOf(b) })
	for _, p := range parts {
		r := m.state.release(p.Namespace, p.Release)
		if r == nil || r.Status == "uninstalled" {
			m.plan.Unchanged = append(m.plan.Unchanged, p.Name)
		} else {
			m.strangerGoes(p, r)
		}
		if !p.App {
			m.customData(p, removed)
		}
		if r != nil && r.Status != "uninstalled" {
			m.settled(p, r)
			m.remove(r, p.Name)
		}
		if !p.App {
			m.deleteDefinitions(p, removed)
		}
	}
}

func rankOf(p *Part) int {
	if p.App {
		return 0
	}
	return 1
}

func (m *planner) strangerGoes(p *Part, r *LiveRelease) {
	if m.foreignRelease(p) {
		m.refuse(Refusal{
			Topic: "release", Part: p.Name, Message: fmt.Sprintf("the Helm release %s in %s does not belong to %s: kubectl sysop did not install it", r.Name, r.Namespace, p.Name),
			Hint: fmt.Sprintf("uninstall it with what installed it: helm uninstall %s -n %s", r.Name, r.Namespace),
		})
	}
}

// customData deletes the custom resources of a package (DeleteData), keeps them with their
// definitions (Orphan), or refuses the plan because of them.
func (m *planner) customData(p *Part, removed map[object.Ref]bool) {
	remaining := m.customObjects(p.Name, rendered(p).Definitions, removed)
	if len(remaining) == 0 {
		return
	}
	switch {
	case m.options.DeleteData:
		m.deleteObjects(p, remaining)
	case m.options.DeleteDefinitions:
		m.refuse(Refusal{
			Topic: "data", Part: p.Name, Message: fmt.Sprintf("there are still %s of %s, which would be deleted with its CRDs: %s", customResources(len(remaining)), p.Name, listed(refsOf(remaining))),
			Hint: "delete them first, or delete them as well with --delete-data",
		})
	case !m.options.Orphan:
		m.refuse(Refusal{
			Topic: "dependants", Part: p.Name, Message: fmt.Sprintf("custom resources of %s would be left without an operator: %s", p.Name, listed(refsOf(remaining))),
			Hint: "delete them first; --orphan leaves them without their operator, --delete-data deletes them with their data",
		})
	default:
		m.note("%s of %s stay, and so do its CRDs: %s", customResources(len(remaining)), p.Name, listed(refsOf(remaining)))
		if held := slices.DeleteFunc(slices.Clone(remaining), func(u *unstructured.Unstructured) bool { return len(u.GetFinalizers()) == 0 }); len(held) > 0 {
			m.note("%d of them have finalizers that nothing removes once %s is gone: deleting them hangs until it is installed again: %s", len(held), p.Name, listed(refsOf(held)))
		}
	}
}

// deleteObjects deletes custom resources, and refuses those of other managers. The garbage
// collector deletes what they own.
func (m *planner) deleteObjects(p *Part, remaining []*unstructured.Unstructured) {
	mine := map[string]bool{}
	for _, u := range remaining {
		mine[string(u.GetUID())] = true
	}
	var refs, foreign []object.Ref
	for _, u := range remaining {
		owned := slices.ContainsFunc(u.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.UID != "" && mine[string(o.UID)] })
		switch k := ManagerOf(u); {
		case owned:
		case k.By == "helm" || k.By == "argocd" || k.By == "flux" || k.By == "applyset" && k.Name != m.options.Set:
			foreign = append(foreign, object.RefOf(u))
			m.refuse(Refusal{
				Topic: "dependants", Part: p.Name, Object: object.RefOf(u), Message: fmt.Sprintf("%s needs %s, and is managed by %s", object.RefOf(u), p.Name, k),
				Hint: "remove it with the tool that manages it, then retry",
			})
			refs = append(refs, object.RefOf(u))
		default:
			refs = append(refs, object.RefOf(u))
		}
	}
	if len(foreign) > 0 {
		m.note("custom resources of %s that other tools manage: %s", p.Name, listed(sortRefs(foreign)))
	}
	m.step(Step{
		ID: "objects/" + p.Name, Kind: DeleteObjects, Part: p.Name, Release: p.Release, Namespace: p.Namespace, Objects: sortRefs(refs), Data: refsOf(remaining),
		Irreversible: customResources(len(remaining)) + " deleted, with all data",
	})
}

// deleteDefinitions deletes the definitions of a package that have no custom resources left.
func (m *planner) deleteDefinitions(p *Part, removed map[object.Ref]bool) {
	names := m.definitionNames(p.Name, rendered(p).Definitions)
	if !m.options.DeleteDefinitions || len(names) == 0 {
		if len(names) > 0 && len(m.customObjects(p.Name, rendered(p).Definitions, removed)) == 0 {
			m.note("%d CRDs of %s stay; --delete-crds deletes those without objects", len(names), p.Name)
		}
		return
	}
	step := Step{
		ID: "delete-definitions/" + p.Name, Kind: DeleteDefinitions, Part: p.Name, Release: p.Release, Namespace: p.Namespace,
		Irreversible: "CRDs come back only when their package is installed again",
	}
	for _, n := range names {
		live := m.state.Definitions[n]
		if _, asked := m.state.Custom[n]; !asked {
			m.refuse(Refusal{Topic: "data", Part: p.Name, Object: object.RefOf(live), Message: fmt.Sprintf("cannot tell whether %s has custom resources", n), Hint: "you need permission to list them"})
		}
		if k, foreign := m.definitionManager(p, live); foreign && !m.options.TakeOwnership {
			m.note("CRD %s stays: it is managed by %s", n, k)
			continue
		}
		step.Objects = append(step.Objects, object.RefOf(live))
	}
	if step.Data = step.Objects; len(step.Objects) > 0 {
		m.step(step)
	}
}

// customResources formats a number of custom resources.
func customResources(n int) string {
	if n == 1 {
		return "1 custom resource"
	}
	return fmt.Sprintf("%d custom resources", n)
}
