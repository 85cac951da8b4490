package install

import (
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var statefulSetKind = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}

// Losses returns the custom resources, claims and definitions that a plan deletes with their data,
// sorted. A plan with losses requires an explicit consent.
func (p *Plan) Losses() []object.Ref {
	var out []object.Ref
	for i := range p.Steps {
		out = append(out, p.Steps[i].Data...)
	}
	return slices.Compact(sortRefs(out))
}

// data returns the custom resources and claims among the removed objects of a manifest, and the
// claims that are deleted with their StatefulSet, sorted. All other custom resources count, because
// only their operator knows whether they hold data.
func (m *planner) data(removed []*unstructured.Unstructured, namespace string) []object.Ref {
	var out []object.Ref
	for _, u := range removed {
		if u.GetAnnotations()[helm.PolicyAnnotation] == keepPolicy {
			continue
		}
		ref := m.placed(u, namespace)
		kind, _ := m.kinds.Kind(ref.GroupKind())
		switch {
		case slices.Contains(configurations, ref.GroupKind()):
		case kind.Custom, ref.GroupKind() == claimKind:
			out = append(out, ref)
		case ref.GroupKind() == statefulSetKind:
			out = append(out, m.claimsWith(u, ref)...)
		}
	}
	return sortRefs(out)
}

// configurations are the custom kinds that the program itself creates as monitors, dashboards and
// scalers: they configure others, and hold no data.
var configurations = []schema.GroupKind{
	{Group: "monitoring.coreos.com", Kind: "ServiceMonitor"},
	{Group: "monitoring.coreos.com", Kind: "PodMonitor"},
	{Group: "monitoring.coreos.com", Kind: "PrometheusRule"},
	{Group: "grafana.integreatly.org", Kind: "GrafanaDashboard"},
	{Group: "autoscaling.k8s.io", Kind: "VerticalPodAutoscaler"},
	{Group: "keda.sh", Kind: "ScaledObject"},
}

// claimsWith returns the existing claims that are deleted with a StatefulSet, by the policy of its
// release or of a later change by others.
func (m *planner) claimsWith(set *unstructured.Unstructured, ref object.Ref) []object.Ref {
	live := m.state.Sets[ref]
	if !deletesClaims(set) && !deletesClaims(live) {
		return nil
	}
	var out []object.Ref
	for _, claim := range m.claimsIn(ref) {
		if goesWith(claim, set) || live != nil && goesWith(claim, live) {
			out = append(out, object.RefOf(claim))
		}
	}
	return out
}

// claimsScaled returns the existing claims that are deleted because a StatefulSet is scaled down,
// no matter which manager scaled it up.
func (m *planner) claimsScaled(was, wanted *unstructured.Unstructured, ref object.Ref) []object.Ref {
	live := m.state.Sets[ref]
	if live == nil {
		return nil // it does not exist and has no pods
	}
	then := retention(wanted, whenScaled)
	if then == "" && retention(was, whenScaled) == "" { // otherwise Helm removes the policy that it has set
		then = retention(live, whenScaled)
	}
	if then != deletePolicy {
		return nil
	}
	has, keeps := ordinalsOf(live), ordinalsOf(wanted)
	if _, set := number(wanted, "spec", "replicas"); !set && !sameNumber(was, live, "spec", "replicas") {
		keeps.to = keeps.from + has.to - has.from // another manager sets the replicas
	}
	prefixes := append(claimPrefixes(wanted), claimPrefixes(live)...)
	var out []object.Ref
	for _, claim := range m.claimsIn(ref) {
		if n, named := ordinalOf(claim.GetName(), prefixes); named && has.has(n) && !keeps.has(n) {
			out = append(out, object.RefOf(claim))
		}
	}
	return out
}

func sameNumber(a, b *unstructured.Unstructured, path ...string) bool {
	value, set := number(a, path...)
	other, _ := number(b, path...)
	return set && value == other
}

// claimsIn returns the claims in the namespace of a StatefulSet that are not being deleted. Unread
// claims block the plan, because unread is not the same as none.
func (m *planner) claimsIn(set object.Ref) []*unstructured.Unstructured {
	all, known := m.state.Claims[set.Namespace]
	if !known && len(m.state.Gaps) == 0 { // a gap has its own refusal
		m.refuse(Refusal{
			Topic: "data", Object: set, Message: fmt.Sprintf("cannot tell which claims would be deleted with %s: those of %s were not read", set, set.Namespace),
			Hint: "you need permission to list persistentvolumeclaims in " + set.Namespace,
		})
	}
	return slices.DeleteFunc(slices.Clone(all), func(u *unstructured.Unstructured) bool { return u.GetDeletionTimestamp() != nil })
}

// scaledAway returns the claims that are deleted because a release scales its StatefulSets down.
func (m *planner) scaledAway(p *Part, record *helm.StoredRecord) []object.Ref {
	wanted := map[object.Ref]*unstructured.Unstructured{}
	for _, u := range rendered(p).Objects {
		if len(claimPrefixes(u)) > 0 {
			wanted[m.placed(u, p.Namespace)] = u
		}
	}
	var out []object.Ref
	for _, u := range record.Objects {
		if ref := m.placed(u, p.Namespace); wanted[ref] != nil {
			out = append(out, m.claimsScaled(u, wanted[ref], ref)...)
		}
	}
	return out
}
