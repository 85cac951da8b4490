package source

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// scalable are the built-in kinds that have the subresource scale.
var scalable = []schema.GroupKind{
	{Kind: "ReplicationController"}, {Group: "apps", Kind: "Deployment"}, {Group: "apps", Kind: "ReplicaSet"}, {Group: "apps", Kind: "StatefulSet"},
}

// builtIn returns the kinds of client-go's scheme in their preferred version. The tables below add
// the scope and the short names, which the scheme lacks.
func builtIn() []object.Resource {
	cluster := sets.New(strings.Fields(clusterScoped)...)
	short := map[string][]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(shortNames), "\n") {
		f := strings.Fields(line)
		short[f[0]] = f[1:]
	}
	best := map[schema.GroupKind]schema.GroupVersionKind{}
	for gvk := range scheme.Scheme.AllKnownTypes() {
		// Libraries such as Helm's add definitions to this scheme: they are in the tables below.
		if gvk.Version == "__internal" || gvk.Group == crdKind.Group || notStored(gvk) {
			continue
		}
		if have, ok := best[gvk.GroupKind()]; !ok || version.CompareKubeAwareVersionStrings(gvk.Version, have.Version) > 0 {
			best[gvk.GroupKind()] = gvk
		}
	}
	out := make([]object.Resource, 0, len(best)+2)
	for gk, gvk := range best {
		plural, singular := meta.UnsafeGuessKindToResource(gvk)
		r := object.Resource{Group: gk.Group, Version: gvk.Version, Kind: gk.Kind, Plural: plural.Resource, Singular: singular.Resource, Listable: true}
		if gk.Kind == "Endpoints" {
			r.Plural = "endpoints"
		}
		r.Namespaced = !cluster.Has(gk.Kind)
		r.ShortNames = short[r.Plural]
		r.Scalable = slices.Contains(scalable, gk)
		out = append(out, r)
	}
	out = append(out,
		object.Resource{Group: crdKind.Group, Version: "v1", Kind: crdKind.Kind, Plural: "customresourcedefinitions", Singular: "customresourcedefinition", ShortNames: []string{"crd", "crds"}, Listable: true},
		object.Resource{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService", Plural: "apiservices", Singular: "apiservice", Listable: true},
		object.Resource{Group: "metrics.k8s.io", Version: "v1beta1", Kind: "PodMetrics", Plural: "pods", Singular: "pod", Namespaced: true, Listable: true, Custom: true},
		object.Resource{Group: "metrics.k8s.io", Version: "v1beta1", Kind: "NodeMetrics", Plural: "nodes", Singular: "node", Listable: true, Custom: true},
	)
	slices.SortFunc(out, func(a, b object.Resource) int {
		return object.Compare(object.Ref{Group: rank(a.Group), Kind: a.Kind}, object.Ref{Group: rank(b.Group), Kind: b.Kind})
	})
	return out
}

// rank orders groups as a server prefers them: the core, apps, the rest, and last the groups that
// only repeat the kinds of others.
func rank(group string) string {
	switch group {
	case "", "apps":
		return group
	case "extensions", "events.k8s.io", "metrics.k8s.io":
		return "~" + group
	}
	return "b" + group
}

// notStored reports types of the scheme that are not stored: lists, options, reviews and other
// requests.
func notStored(gvk schema.GroupVersionKind) bool {
	for _, end := range []string{"List", "Options", "Review", "Event"} {
		if strings.HasSuffix(gvk.Kind, end) && gvk.Kind != "Event" {
			return true
		}
	}
	return slices.Contains([]string{"Scale", "Status", "APIGroup", "APIVersions", "Binding", "Eviction", "TokenRequest", "RangeAllocation", "SerializedReference", "PodStatusResult", "NodeProxyOptions", "DeploymentRollback", "SelfSubjectRulesReview", "ImageReview", "Policy"}, gvk.Kind)
}

const clusterScoped = `
Namespace Node PersistentVolume ComponentStatus
CustomResourceDefinition APIService
ClusterRole ClusterRoleBinding
StorageClass VolumeAttachment CSIDriver CSINode VolumeAttributesClass
IngressClass IPAddress ServiceCIDR
PriorityClass RuntimeClass
FlowSchema PriorityLevelConfiguration
MutatingWebhookConfiguration ValidatingWebhookConfiguration
ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding MutatingAdmissionPolicy MutatingAdmissionPolicyBinding
CertificateSigningRequest ClusterTrustBundle
DeviceClass ResourceSlice DeviceTaintRule ResourcePoolStatusRequest
StorageVersion StorageVersionMigration NodeMetrics
`

const shortNames = `
componentstatuses cs
configmaps cm
endpoints ep
events ev
limitranges limits
namespaces ns
nodes no
persistentvolumeclaims pvc
persistentvolumes pv
pods po
replicationcontrollers rc
resourcequotas quota
serviceaccounts sa
services svc
daemonsets ds
deployments deploy
replicasets rs
statefulsets sts
cronjobs cj
horizontalpodautoscalers hpa
certificatesigningrequests csr
ingresses ing
networkpolicies netpol
poddisruptionbudgets pdb
priorityclasses pc
storageclasses sc
volumeattributesclasses vac
ipaddresses ip
`
