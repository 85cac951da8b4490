package chart

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// scopes tells which kinds are namespaced.
type scopes struct {
	asked func(schema.GroupKind) (namespaced, known bool)
	own   map[schema.GroupKind]bool
}

func (s scopes) scopeOf(gk schema.GroupKind) (namespaced, known bool) {
	if s.asked != nil {
		if namespaced, known = s.asked(gk); known {
			return namespaced, true
		}
	}
	if namespaced, known = s.own[gk]; known {
		return namespaced, true
	}
	if gk.Group != "" && !slices.Contains(strings.Fields(builtinGroups), gk.Group) {
		return false, false
	}
	return !slices.Contains(strings.Fields(clusterScoped), gk.Kind), true
}

// builtinGroups are those of Kubernetes itself, except the core group; clusterScoped are the
// cluster-scoped kinds in them.
const (
	builtinGroups = "admissionregistration.k8s.io apiextensions.k8s.io apiregistration.k8s.io apps authentication.k8s.io " +
		"authorization.k8s.io autoscaling batch certificates.k8s.io coordination.k8s.io discovery.k8s.io events.k8s.io extensions " +
		"flowcontrol.apiserver.k8s.io internal.apiserver.k8s.io networking.k8s.io node.k8s.io policy rbac.authorization.k8s.io " +
		"resource.k8s.io scheduling.k8s.io storage.k8s.io storagemigration.k8s.io"
	clusterScoped = "APIService CertificateSigningRequest ClusterRole ClusterRoleBinding ClusterTrustBundle ComponentStatus " +
		"CSIDriver CSINode CustomResourceDefinition DeviceClass DeviceTaintRule FlowSchema IngressClass IPAddress MutatingAdmissionPolicy " +
		"MutatingAdmissionPolicyBinding MutatingWebhookConfiguration Namespace Node PersistentVolume PodSecurityPolicy PriorityClass " +
		"PriorityLevelConfiguration ResourceSlice RuntimeClass SelfSubjectAccessReview SelfSubjectReview SelfSubjectRulesReview " +
		"ServiceCIDR StorageClass StorageVersion StorageVersionMigration SubjectAccessReview TokenReview ValidatingAdmissionPolicy " +
		"ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration VolumeAttachment VolumeAttributesClass"
)

// ownScopes returns the scopes of the kinds that definitions among the documents define.
func ownScopes(docs []document) map[schema.GroupKind]bool {
	own := map[schema.GroupKind]bool{}
	for _, d := range docs {
		if !isDefinition(d.object) {
			continue
		}
		group, _, _ := unstructured.NestedString(d.object.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(d.object.Object, "spec", "names", "kind")
		scope, _, _ := unstructured.NestedString(d.object.Object, "spec", "scope")
		if group != "" && kind != "" {
			own[schema.GroupKind{Group: group, Kind: kind}] = scope != "Cluster"
		}
	}
	return own
}

func sameSpec(a, b *unstructured.Unstructured) bool {
	return reflect.DeepEqual(a.Object["spec"], b.Object["spec"])
}
