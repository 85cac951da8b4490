package health

import "strings"

// stateless are the kinds without state, Kind.group: they configure something, record something, or
// list others. Errors in them show in the objects that use them.
const stateless = `
ConfigMap Secret ServiceAccount LimitRange PodTemplate Endpoints Event Event.events.k8s.io
ControllerRevision.apps
Role.rbac.authorization.k8s.io RoleBinding.rbac.authorization.k8s.io
ClusterRole.rbac.authorization.k8s.io ClusterRoleBinding.rbac.authorization.k8s.io
NetworkPolicy.networking.k8s.io IngressClass.networking.k8s.io IPAddress.networking.k8s.io
EndpointSlice.discovery.k8s.io
StorageClass.storage.k8s.io VolumeAttributesClass.storage.k8s.io
CSIDriver.storage.k8s.io CSINode.storage.k8s.io CSIStorageCapacity.storage.k8s.io
PriorityClass.scheduling.k8s.io Workload.scheduling.k8s.io
RuntimeClass.node.k8s.io
Lease.coordination.k8s.io LeaseCandidate.coordination.k8s.io
PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io
MutatingWebhookConfiguration.admissionregistration.k8s.io ValidatingWebhookConfiguration.admissionregistration.k8s.io
ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io
MutatingAdmissionPolicy.admissionregistration.k8s.io MutatingAdmissionPolicyBinding.admissionregistration.k8s.io
ClusterTrustBundle.certificates.k8s.io
DeviceClass.resource.k8s.io ResourceClaimTemplate.resource.k8s.io ResourceSlice.resource.k8s.io
PodMetrics.metrics.k8s.io NodeMetrics.metrics.k8s.io
`

func statelessKinds() []kindRule {
	var rules []kindRule
	for word := range strings.FieldsSeq(stateless) {
		kind, group, _ := strings.Cut(word, ".")
		rules = append(rules, kindRule{group, "", kind, func(s *subject) (Health, bool) { return s.exists(), true }})
	}
	return rules
}

// exists returns the health of a kind without state: it is enough that the object exists, even with
// metadata only.
func (s *subject) exists() Health {
	return newHealth(Healthy, s.createdAt(), Exists, "it exists, and a %s has no state of its own", s.Kind)
}
