package relation

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes/scheme"
)

// BuiltIn returns the relationships of the built-in kinds, a row each. To add one, write a function
// in the file of its domain, a row in the table there, and a fixture in testdata/ named after the
// rule.
func BuiltIn() []Rule {
	return slices.Concat(
		ownerRules(),
		applySetRules(),
		kroRules(),
		podRules(),
		containerRules(),
		volumeRules(),
		workloadRules(),
		autoscalingRules(),
		serviceRules(),
		ingressRules(),
		gatewayRules(),
		istioRules(),
		grantRules(),
		policyRules(),
		storageRules(),
		rbacRules(),
		flowRules(),
		admissionRules(),
		deviceRules(),
		schedulingRules(),
		affinityRules(),
		apiRules(),
		certificateRules(),
		eventRules(),
	)
}

// Typed returns the kinds whose objects the built-in rules read whole as Go types, each in the
// version of that type: the newest stable one in client-go. They read every other kind as maps, or
// only its metadata.
func Typed() []schema.GroupVersionKind {
	var typed []schema.GroupVersionKind
	known := map[schema.GroupKind]bool{} // Scheme.AllKnownTypes copies its whole map
	for _, r := range BuiltIn() {
		if r.Metadata || r.Untyped {
			continue
		}
		for _, gk := range r.From {
			if known[gk] {
				continue
			}
			known[gk] = true
			versions := scheme.Scheme.VersionsForGroupKind(gk)
			if len(versions) == 0 {
				continue
			}
			newest := slices.MaxFunc(versions, func(a, b schema.GroupVersion) int {
				return version.CompareKubeAwareVersionStrings(a.Version, b.Version)
			})
			typed = append(typed, newest.WithKind(gk.Kind))
		}
	}
	slices.SortFunc(typed, func(a, b schema.GroupVersionKind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
	})
	return typed
}

// Kinds that the tables use.
var (
	pod                   = kind("", "Pod")
	podTemplate           = kind("", "PodTemplate")
	replicationController = kind("", "ReplicationController")
	deployment            = kind("apps", "Deployment")
	replicaSet            = kind("apps", "ReplicaSet")
	statefulSet           = kind("apps", "StatefulSet")
	daemonSet             = kind("apps", "DaemonSet")
	job                   = kind("batch", "Job")
	cronJob               = kind("batch", "CronJob")
	autoscaler            = kind("autoscaling", "HorizontalPodAutoscaler")
	disruptionBudget      = kind("policy", "PodDisruptionBudget")
	resourceQuota         = kind("", "ResourceQuota")
	workload              = kind("scheduling.k8s.io", "Workload")
	podGroup              = kind("scheduling.k8s.io", "PodGroup")
	compositePodGroup     = kind("scheduling.k8s.io", "CompositePodGroup")
	priorityClass         = kind("scheduling.k8s.io", "PriorityClass")
	runtimeClass          = kind("node.k8s.io", "RuntimeClass")
	resourceClaim         = kind("resource.k8s.io", "ResourceClaim")
	resourceClaimTemplate = kind("resource.k8s.io", "ResourceClaimTemplate")

	configMap          = kind("", "ConfigMap")
	secret             = kind("", "Secret")
	node               = kind("", "Node")
	namespace          = kind("", "Namespace")
	clusterTrustBundle = kind("certificates.k8s.io", "ClusterTrustBundle")
	podCertificate     = kind("certificates.k8s.io", "PodCertificateRequest")
	signingRequest     = kind("certificates.k8s.io", "CertificateSigningRequest")

	event          = kind("", "Event")
	eventsEvent    = kind("events.k8s.io", "Event")
	lease          = kind("coordination.k8s.io", "Lease")
	leaseCandidate = kind("coordination.k8s.io", "LeaseCandidate")

	service       = kind("", "Service")
	endpoints     = kind("", "Endpoints")
	endpointSlice = kind("discovery.k8s.io", "EndpointSlice")
	ingress       = kind("networking.k8s.io", "Ingress")
	ingressClass  = kind("networking.k8s.io", "IngressClass")
	networkPolicy = kind("networking.k8s.io", "NetworkPolicy")
	ipAddress     = kind("networking.k8s.io", "IPAddress")

	claim            = kind("", "PersistentVolumeClaim")
	persistentVolume = kind("", "PersistentVolume")
	storageClass     = kind("storage.k8s.io", "StorageClass")
	attributesClass  = kind("storage.k8s.io", "VolumeAttributesClass")
	attachment       = kind("storage.k8s.io", "VolumeAttachment")
	csiDriver        = kind("storage.k8s.io", "CSIDriver")
	csiNode          = kind("storage.k8s.io", "CSINode")
	storageCapacity  = kind("storage.k8s.io", "CSIStorageCapacity")

	serviceAccount     = kind("", "ServiceAccount")
	role               = kind("rbac.authorization.k8s.io", "Role")
	clusterRole        = kind("rbac.authorization.k8s.io", "ClusterRole")
	roleBinding        = kind("rbac.authorization.k8s.io", "RoleBinding")
	clusterRoleBinding = kind("rbac.authorization.k8s.io", "ClusterRoleBinding")

	flowSchema    = kind("flowcontrol.apiserver.k8s.io", "FlowSchema")
	priorityLevel = kind("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration")

	mutatingWebhooks        = kind("admissionregistration.k8s.io", "MutatingWebhookConfiguration")
	validatingWebhooks      = kind("admissionregistration.k8s.io", "ValidatingWebhookConfiguration")
	mutatingPolicy          = kind("admissionregistration.k8s.io", "MutatingAdmissionPolicy")
	mutatingPolicyBinding   = kind("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding")
	validatingPolicy        = kind("admissionregistration.k8s.io", "ValidatingAdmissionPolicy")
	validatingPolicyBinding = kind("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding")
	apiService              = kind("apiregistration.k8s.io", "APIService")
	definition              = kind("apiextensions.k8s.io", "CustomResourceDefinition")
	migration               = kind("storagemigration.k8s.io", "StorageVersionMigration")

	deviceClass   = kind("resource.k8s.io", "DeviceClass")
	resourceSlice = kind("resource.k8s.io", "ResourceSlice")
	taintRule     = kind("resource.k8s.io", "DeviceTaintRule")
	poolStatus    = kind("resource.k8s.io", "ResourcePoolStatusRequest")

	httpRoute    = kind(gatewayGroup, "HTTPRoute")
	grpcRoute    = kind(gatewayGroup, "GRPCRoute")
	tlsRoute     = kind(gatewayGroup, "TLSRoute")
	tcpRoute     = kind(gatewayGroup, "TCPRoute")
	udpRoute     = kind(gatewayGroup, "UDPRoute")
	gateway      = kind(gatewayGroup, "Gateway")
	gatewayClass = kind(gatewayGroup, "GatewayClass")
	listenerSet  = kind(gatewayGroup, "ListenerSet")
	backendTLS   = kind(gatewayGroup, "BackendTLSPolicy")

	// Custom resources that built-in kinds refer to.
	secretProviderClass = kind("secrets-store.csi.x-k8s.io", "SecretProviderClass")
	networkAttachment   = kind("k8s.cni.cncf.io", "NetworkAttachmentDefinition")
	gmsaCredentialSpec  = kind("windows.k8s.io", "GMSACredentialSpec")
	certificate         = kind(certManagerGroup, "Certificate")
)
