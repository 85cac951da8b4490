package install

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

var statefulSetKind = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}

// Losses are the custom resources, claims and definitions that a plan deletes, sorted: what is
// in them is lost, whatever the run is. A plan that has any needs more than a yes.
func (p *Plan) Losses() []object.Ref {
	var out []object.Ref
	for i := range p.Steps {
		out = append(out, p.Steps[i].Data...)
	}
	return slices.Compact(sortRefs(out))
}

// data are the custom resources and claims among objects of a manifest that go, sorted, and
// the claims that go with their StatefulSet. Whether a custom resource stands for data, only
// its operator knows: all of them count.
func (m *planner) data(removed []*unstructured.Unstructured, namespace string) []object.Ref {
	var out []object.Ref
	for _, u := range removed {
		if u.GetAnnotations()[resourcePolicy] == keepPolicy {
			continue
		}
		ref := m.placed(u, namespace)
		kind, _ := m.kinds.Kind(ref.GroupKind())
		switch {
		case kind.Custom, ref.GroupKind() == claimKind:
			out = append(out, ref)
		case ref.GroupKind() == statefulSetKind:
			out = append(out, m.claimsWith(u, ref)...)
		}
	}
	return sortRefs(out)
}

// claimsWith are the claims that are there and are deleted with a StatefulSet, by what its
// release or somebody since has it say.
func (m *planner) claimsWith(set *unstructured.Unstructured, ref object.Ref) []object.Ref {
	live := m.state.Sets[ref]
	if !deletesClaims(set) && !deletesClaims(live) {
		return nil
	}
	var out []object.Ref
	for _, claim := range m.claimsIn(ref) {
		if goesWith(claim, set) || live != nil && goesWith(claim, live) {
			out = append(out, refOf(claim))
		}
	}
	return out
}

// claimsScaled are the claims that are there and are deleted since a StatefulSet is to have fewer
// pods than it has, whoever gave it those.
func (m *planner) claimsScaled(was, wanted *unstructured.Unstructured, ref object.Ref) []object.Ref {
	live := m.state.Sets[ref]
	if live == nil {
		return nil // it is not there: it has no pods
	}
	then := retention(wanted, whenScaled)
	if then == "" && retention(was, whenScaled) == "" { // else Helm takes away what it set itself
		then = retention(live, whenScaled)
	}
	if then != deletePolicy {
		return nil
	}
	has, keeps := ordinalsOf(live), ordinalsOf(wanted)
	if _, set := number(wanted, "spec", "replicas"); !set && !sameNumber(was, live, "spec", "replicas") {
		keeps.to = keeps.from + has.to - has.from // it is somebody else's number
	}
	prefixes := append(claimPrefixes(wanted), claimPrefixes(live)...)
	var out []object.Ref
	for _, claim := range m.claimsIn(ref) {
		if n, named := ordinalOf(claim.GetName(), prefixes); named && has.has(n) && !keeps.has(n) {
			out = append(out, refOf(claim))
		}
	}
	return out
}

func sameNumber(a, b *unstructured.Unstructured, path ...string) bool {
	value, set := number(a, path...)
	other, _ := number(b, path...)
	return set && value == other
}

// claimsIn are the claims in the namespace of a StatefulSet that nobody deletes yet. Where they
// are not known, the plan is blocked: none is not what that means.
func (m *planner) claimsIn(set object.Ref) []*unstructured.Unstructured {
	all, known := m.state.Claims[set.Namespace]
	if !known && len(m.state.Gaps) == 0 { // a gap is a refusal of its own
		m.refuse(Refusal{
			Topic: "data", Object: set, Message: fmt.Sprintf("cannot tell which claims would be deleted with %s: those of %s were not read", set, set.Namespace),
			Hint: "you need permission to list persistentvolumeclaims in " + set.Namespace,
		})
	}
	return slices.DeleteFunc(slices.Clone(all), func(u *unstructured.Unstructured) bool { return u.GetDeletionTimestamp() != nil })
}

// scaledAway are the claims that go with pods which StatefulSets of a release are to have no more.
func (m *planner) scaledAway(p *Part, record *LiveRecord) []object.Ref {
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
