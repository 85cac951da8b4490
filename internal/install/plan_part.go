package install

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// namespaces creates the missing namespaces of a part: that of its release, and those of its chart.
func (m *planner) namespaces(p *Part) {
	wanted := map[string]bool{p.Namespace: true}
	names := []string{p.Namespace}
	for _, u := range rendered(p).Namespaces {
		if n := u.GetName(); !wanted[n] {
			wanted[n] = true
			names = append(names, n)
		}
	}
	for _, n := range names {
		ref := object.Ref{Kind: namespaceKind.Kind, Name: n}
		phase, found := m.state.Namespaces[n]
		_, created := m.made[ref]
		switch {
		case n == "" || created:
		case phase == "Terminating":
			m.refuse(Refusal{
				Topic: "namespace", Part: p.Name, Object: ref, Message: fmt.Sprintf("namespace %s is being deleted", n),
				Hint: "wait until it is gone; its status says what blocks it",
			})
		case !found:
			m.made[ref] = p.Name
			m.step(Step{ID: "namespace/" + n, Kind: MakeNamespace, Part: p.Name, Namespace: n, Objects: []object.Ref{ref}})
		case slices.ContainsFunc(rendered(p).Namespaces, func(u *unstructured.Unstructured) bool { return u.GetName() == n && marked(u) }):
			m.note("namespace %s exists and is not changed: the labels and annotations that %s has for it are not set", n, p.Name)
		}
	}
	for _, u := range madeBy(p) {
		n := u.GetNamespace()
		_, found := m.state.Namespaces[n]
		if _, created := m.made[object.Ref{Kind: namespaceKind.Kind, Name: n}]; n != "" && !found && !created {
			m.refuse(Refusal{
				Topic: "namespace", Part: p.Name, Object: object.RefOf(u), Message: fmt.Sprintf("%s needs namespace %s, which does not exist", object.RefOf(u), n),
				Hint: fmt.Sprintf("create it first: kubectl create namespace %s", n),
			})
		}
	}
}

func marked(u *unstructured.Unstructured) bool {
	return len(u.GetLabels())+len(u.GetAnnotations()) > 0
}

// await returns the step that waits for the gate of a part; false if it has no objects to wait for.
func (m *planner) await(p *Part) (Step, bool) {
	refs := slices.Clone(p.Ready)
	if len(refs) == 0 {
		for _, u := range rendered(p).Objects {
			if ref := object.RefOf(u); ref.Name != "" && !health.Stateless(ref.GroupKind()) {
				refs = append(refs, ref)
			}
		}
	}
	refs = sortRefs(refs)
	return Step{ID: "await/" + p.Name, Kind: Await, Part: p.Name, Release: p.Release, Namespace: p.Namespace, Version: p.Version, Objects: refs, Timeout: m.options.Timeout}, len(refs) > 0
}

// kubernetes checks the version of the cluster against the range of the chart.
func (m *planner) kubernetes(p *Part) {
	if p.Chart == nil || p.Chart.Helm == nil || p.Chart.Helm.Metadata == nil {
		return
	}
	if r, bad := CheckKubernetes(p.Name, p.Chart.Helm.Metadata.KubeVersion, m.state.Kubernetes); bad {
		m.refuse(r)
	}
}
