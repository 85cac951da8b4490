package object

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// RemovedAPI is a kind in an API version that Kubernetes no longer serves.
type RemovedAPI struct {
	schema.GroupVersionKind
	// Release is the first release without it: 1.22.
	Release string
	// Successor is the version that serves the kind today, or empty if there is none.
	Successor schema.GroupVersion
}

// String returns the text that follows the name of the version: removed in Kubernetes 1.22, use
// networking.k8s.io/v1.
func (r RemovedAPI) String() string {
	if r.Successor.Empty() {
		return "removed in Kubernetes " + r.Release + " without a successor"
	}
	return "removed in Kubernetes " + r.Release + ", use " + r.Successor.String()
}

// Removed returns the removal of a kind in a version, and false for custom kinds and for what the
// newest release in the table serves.
func Removed(gvk schema.GroupVersionKind) (RemovedAPI, bool) {
	all := RemovedAPIs()
	i := slices.IndexFunc(all, func(r RemovedAPI) bool { return r.GroupVersionKind == gvk })
	if i < 0 {
		return RemovedAPI{}, false
	}
	return all[i], true
}

// RemovedAPIs returns all removals, by release. Versions are removed kind by kind: other kinds of
// the same group and version may still be served. The caller must not change the result.
func RemovedAPIs() []RemovedAPI { return removedAPIs() }

// removals has the rows of the deprecated API migration guide of kubernetes.io, and the older
// PodPreset and AuditSink: release, version, successor (or none), kinds.
const removals = `
1.16 extensions/v1beta1 apps/v1 DaemonSet Deployment ReplicaSet
1.16 extensions/v1beta1 networking.k8s.io/v1 NetworkPolicy
1.16 extensions/v1beta1 none PodSecurityPolicy
1.16 apps/v1beta1 apps/v1 ControllerRevision Deployment ReplicaSet StatefulSet
1.16 apps/v1beta2 apps/v1 ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet
1.19 auditregistration.k8s.io/v1alpha1 none AuditSink
1.20 settings.k8s.io/v1alpha1 none PodPreset
1.22 admissionregistration.k8s.io/v1beta1 admissionregistration.k8s.io/v1 MutatingWebhookConfiguration ValidatingWebhookConfiguration
1.22 apiextensions.k8s.io/v1beta1 apiextensions.k8s.io/v1 CustomResourceDefinition
1.22 apiregistration.k8s.io/v1beta1 apiregistration.k8s.io/v1 APIService
1.22 authentication.k8s.io/v1beta1 authentication.k8s.io/v1 TokenReview
1.22 authorization.k8s.io/v1beta1 authorization.k8s.io/v1 LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview
1.22 certificates.k8s.io/v1beta1 certificates.k8s.io/v1 CertificateSigningRequest
1.22 coordination.k8s.io/v1beta1 coordination.k8s.io/v1 Lease
1.22 extensions/v1beta1 networking.k8s.io/v1 Ingress
1.22 networking.k8s.io/v1beta1 networking.k8s.io/v1 Ingress IngressClass
1.22 rbac.authorization.k8s.io/v1beta1 rbac.authorization.k8s.io/v1 ClusterRole ClusterRoleBinding Role RoleBinding
1.22 scheduling.k8s.io/v1beta1 scheduling.k8s.io/v1 PriorityClass
1.22 storage.k8s.io/v1beta1 storage.k8s.io/v1 CSIDriver CSINode StorageClass VolumeAttachment
1.25 autoscaling/v2beta1 autoscaling/v2 HorizontalPodAutoscaler
1.25 batch/v1beta1 batch/v1 CronJob
1.25 discovery.k8s.io/v1beta1 discovery.k8s.io/v1 EndpointSlice
1.25 events.k8s.io/v1beta1 events.k8s.io/v1 Event
1.25 node.k8s.io/v1beta1 node.k8s.io/v1 RuntimeClass
1.25 policy/v1beta1 none PodSecurityPolicy
1.25 policy/v1beta1 policy/v1 PodDisruptionBudget
1.26 autoscaling/v2beta2 autoscaling/v2 HorizontalPodAutoscaler
1.26 flowcontrol.apiserver.k8s.io/v1beta1 flowcontrol.apiserver.k8s.io/v1 FlowSchema PriorityLevelConfiguration
1.27 storage.k8s.io/v1beta1 storage.k8s.io/v1 CSIStorageCapacity
1.29 flowcontrol.apiserver.k8s.io/v1beta2 flowcontrol.apiserver.k8s.io/v1 FlowSchema PriorityLevelConfiguration
1.32 flowcontrol.apiserver.k8s.io/v1beta3 flowcontrol.apiserver.k8s.io/v1 FlowSchema PriorityLevelConfiguration
`

var removedAPIs = sync.OnceValue(func() []RemovedAPI {
	var all []RemovedAPI
	for line := range strings.SplitSeq(strings.TrimSpace(removals), "\n") {
		words := strings.Fields(line)
		r := RemovedAPI{Release: words[0]}
		group, version, _ := strings.Cut(words[1], "/")
		if to, v, ok := strings.Cut(words[2], "/"); ok {
			r.Successor = schema.GroupVersion{Group: to, Version: v}
		}
		for _, kind := range words[3:] {
			r.GroupVersionKind = schema.GroupVersionKind{Group: group, Version: version, Kind: kind}
			all = append(all, r)
		}
	}
	return all
})
