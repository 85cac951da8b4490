package relation

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ToKinds returns the kinds that To names; none if the object that is read gives the kind. A bare
// name is a built-in kind, or a custom kind that a built-in rule uses.
func (r *Rule) ToKinds() []schema.GroupKind {
	var kinds []schema.GroupKind
	bare := bareKinds()
	for name := range strings.SplitSeq(r.To, ", ") {
		if kind, group, ok := strings.Cut(name, "."); ok {
			kinds = append(kinds, schema.GroupKind{Group: group, Kind: kind})
		} else if i := slices.IndexFunc(bare, func(gk schema.GroupKind) bool { return gk.Kind == name }); i >= 0 {
			kinds = append(kinds, bare[i])
		}
	}
	return kinds
}

// bareKinds returns the kinds that are written without their group.
func bareKinds() []schema.GroupKind {
	return []schema.GroupKind{
		pod, podTemplate, replicationController, deployment, replicaSet, statefulSet, daemonSet, job, cronJob, autoscaler, disruptionBudget,
		resourceQuota, podGroup, priorityClass, runtimeClass, resourceClaim, resourceClaimTemplate, configMap, secret, node, namespace, clusterTrustBundle,
		service, endpoints, endpointSlice, ingress, ingressClass, networkPolicy, ipAddress, claim, persistentVolume, storageClass, attributesClass, attachment,
		csiDriver, csiNode, storageCapacity, serviceAccount, role, clusterRole, roleBinding, clusterRoleBinding, flowSchema, priorityLevel,
		mutatingWebhooks, validatingWebhooks, mutatingPolicy, mutatingPolicyBinding, validatingPolicy, validatingPolicyBinding, apiService, definition,
		deviceClass, resourceSlice, httpRoute, grpcRoute, tlsRoute, tcpRoute, udpRoute, gateway, gatewayClass, listenerSet, backendTLS,
		secretProviderClass, networkAttachment, gmsaCredentialSpec, certificate,
		kind(certManagerGroup, "Issuer"), kind(certManagerGroup, "ClusterIssuer"),
		migration, taintRule, poolStatus, ReferenceGrant, workload, compositePodGroup,
		kind("", "Event"), kind("", "LimitRange"), kind("apps", "ControllerRevision"), kind("coordination.k8s.io", "Lease"),
		kind("networking.k8s.io", "ServiceCIDR"), kind("certificates.k8s.io", "CertificateSigningRequest"), kind("certificates.k8s.io", "PodCertificateRequest"),
	}
}
