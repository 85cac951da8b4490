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
func (m *planner) data(goes []*unstructured.Unstructured, namespace string) []object.Ref {
	var out []object.Ref
	for _, u := range goes {
		if u.GetAnnotations()[resourcePolicy] == keepPolicy {
			continue
		}
		ref := m.placed(u, namespace)
		kind, _ := m.kinds.Kind(ref.GroupKind())
		switch {
		case kind.Custom, ref.GroupKind() == claimKind:
			out = append(out, ref)
		case ref.GroupKind() == statefulSetKind:
			out = append(out, claimsWith(u, ref)...)
		}
	}
	return sortRefs(out)
}

// claimsWith are the claims that are deleted with a StatefulSet, by its retention policy: one
// of each template for each replica.
func claimsWith(set *unstructured.Unstructured, ref object.Ref) []object.Ref {
	if then, _, _ := unstructured.NestedString(set.Object, "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted"); then != "Delete" {
		return nil
	}
	replicas, start := int64(1), int64(0)
	if n, set := number(set, "spec", "replicas"); set {
		replicas = n
	}
	if n, set := number(set, "spec", "ordinals", "start"); set {
		start = n
	}
	var out []object.Ref
	templates, _, _ := unstructured.NestedSlice(set.Object, "spec", "volumeClaimTemplates")
	for _, t := range templates {
		template, _ := t.(map[string]any)
		name, _, _ := unstructured.NestedString(template, "metadata", "name")
		for i := range min(replicas, maxReplicas) {
			out = append(out, object.Ref{Kind: claimKind.Kind, Namespace: ref.Namespace, Name: fmt.Sprintf("%s-%s-%d", name, ref.Name, start+i)})
		}
	}
	return out
}

// maxReplicas bounds how many claims of a StatefulSet are named.
const maxReplicas = 1000

// number reads a whole number of a manifest, which was YAML or JSON.
func number(u *unstructured.Unstructured, path ...string) (int64, bool) {
	value, _, _ := unstructured.NestedFieldNoCopy(u.Object, path...)
	switch n := value.(type) {
	case int64:
		return n, true
	case float64:
		return int64(n), true
	case int:
		return int64(n), true
	}
	return 0, false
}
