package apply

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Ranks, in the order of creation.
const (
	rankDefinition = iota
	rankNamespace
	rankClusterWide // what others refer to by name: classes, volumes, nodes, roles
	rankSettings    // what pods need to be admitted or to start
	rankRest
	rankPods
	rankWebhook
)

// rank is a kind's place in the order. Kinds that are not here, custom ones
// too, are rankRest.
func rank(gk schema.GroupKind) int {
	switch gk.String() {
	case "CustomResourceDefinition.apiextensions.k8s.io":
		return rankDefinition
	case "Namespace":
		return rankNamespace
	case "PersistentVolume", "Node", "StorageClass.storage.k8s.io", "CSIDriver.storage.k8s.io", "PriorityClass.scheduling.k8s.io",
		"IngressClass.networking.k8s.io", "RuntimeClass.node.k8s.io", "ClusterRole.rbac.authorization.k8s.io":
		return rankClusterWide
	case "ServiceAccount", "Secret", "ConfigMap", "PersistentVolumeClaim", "LimitRange", "ResourceQuota",
		"Role.rbac.authorization.k8s.io", "RoleBinding.rbac.authorization.k8s.io", "ClusterRoleBinding.rbac.authorization.k8s.io":
		return rankSettings
	case "Pod":
		return rankPods
	case "ValidatingWebhookConfiguration.admissionregistration.k8s.io", "MutatingWebhookConfiguration.admissionregistration.k8s.io",
		"ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io", "APIService.apiregistration.k8s.io":
		return rankWebhook
	}
	return rankRest
}

func isDefinition(o *unstructured.Unstructured) bool {
	return rank(o.GroupVersionKind().GroupKind()) == rankDefinition
}

// order sorts by rank, then by position in the input, except that an owner comes before what it
// owns, and the definition of a custom kind before an owner of that kind (a definition may itself
// have an owner, such as a package). References to owners outside the input do not matter.
func order(objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	sorted := slices.Clone(objects)
	slices.SortStableFunc(sorted, func(a, b *unstructured.Unstructured) int {
		return rank(a.GroupVersionKind().GroupKind()) - rank(b.GroupVersionKind().GroupKind())
	})
	v := visitor{byUID: byUID(sorted), definitions: definitions(sorted), state: map[*unstructured.Unstructured]int{}}
	for _, o := range sorted {
		if err := v.visit(o, nil); err != nil {
			return nil, err
		}
	}
	return v.done, nil
}

func byUID(objects []*unstructured.Unstructured) map[types.UID]*unstructured.Unstructured {
	m := map[types.UID]*unstructured.Unstructured{}
	for _, o := range objects {
		if o.GetUID() != "" {
			m[o.GetUID()] = o
		}
	}
	return m
}

func definitions(objects []*unstructured.Unstructured) map[schema.GroupKind]*unstructured.Unstructured {
	m := map[schema.GroupKind]*unstructured.Unstructured{}
	for _, o := range objects {
		if !isDefinition(o) {
			continue
		}
		group, _, _ := unstructured.NestedString(o.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(o.Object, "spec", "names", "kind")
		m[schema.GroupKind{Group: group, Kind: kind}] = o
	}
	return m
}

// visitor walks owners and definitions depth first.
type visitor struct {
	byUID       map[types.UID]*unstructured.Unstructured
	definitions map[schema.GroupKind]*unstructured.Unstructured
	state       map[*unstructured.Unstructured]int
	done        []*unstructured.Unstructured
}

const (
	unseen = iota
	open
	finished
)

func (v *visitor) visit(o *unstructured.Unstructured, path []string) error {
	path = append(path, refOf(o).String())
	switch v.state[o] {
	case finished:
		return nil
	case open:
		return fmt.Errorf("owner references go round in a circle: %s", strings.Join(path, " is owned by "))
	}
	v.state[o] = open
	if d, ok := v.definitions[o.GroupVersionKind().GroupKind()]; ok && v.state[d] == unseen {
		if err := v.visit(d, path); err != nil {
			return err
		}
	}
	for _, owner := range o.GetOwnerReferences() {
		if first, ok := v.byUID[owner.UID]; ok {
			if err := v.visit(first, path); err != nil {
				return err
			}
		}
	}
	v.state[o] = finished
	v.done = append(v.done, o)
	return nil
}
