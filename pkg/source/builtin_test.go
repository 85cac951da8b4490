package source

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// served is what the API server of Kubernetes 1.36 says of its listable
// resources: group (core for none), kind, plural, singular, scope, short names.
const served = `
core ComponentStatus componentstatuses componentstatus Cluster cs
core ConfigMap configmaps configmap Namespaced cm
core Endpoints endpoints endpoints Namespaced ep
core Event events event Namespaced ev
core LimitRange limitranges limitrange Namespaced limits
core Namespace namespaces namespace Cluster ns
core Node nodes node Cluster no
core PersistentVolume persistentvolumes persistentvolume Cluster pv
core PersistentVolumeClaim persistentvolumeclaims persistentvolumeclaim Namespaced pvc
core Pod pods pod Namespaced po
core PodTemplate podtemplates podtemplate Namespaced
core ReplicationController replicationcontrollers replicationcontroller Namespaced rc
core ResourceQuota resourcequotas resourcequota Namespaced quota
core Secret secrets secret Namespaced
core Service services service Namespaced svc
core ServiceAccount serviceaccounts serviceaccount Namespaced sa
admissionregistration.k8s.io MutatingAdmissionPolicy mutatingadmissionpolicies mutatingadmissionpolicy Cluster
admissionregistration.k8s.io MutatingAdmissionPolicyBinding mutatingadmissionpolicybindings mutatingadmissionpolicybinding Cluster
admissionregistration.k8s.io MutatingWebhookConfiguration mutatingwebhookconfigurations mutatingwebhookconfiguration Cluster
admissionregistration.k8s.io ValidatingAdmissionPolicy validatingadmissionpolicies validatingadmissionpolicy Cluster
admissionregistration.k8s.io ValidatingAdmissionPolicyBinding validatingadmissionpolicybindings validatingadmissionpolicybinding Cluster
admissionregistration.k8s.io ValidatingWebhookConfiguration validatingwebhookconfigurations validatingwebhookconfiguration Cluster
apiextensions.k8s.io CustomResourceDefinition customresourcedefinitions customresourcedefinition Cluster crd crds
apiregistration.k8s.io APIService apiservices apiservice Cluster
apps ControllerRevision controllerrevisions controllerrevision Namespaced
apps DaemonSet daemonsets daemonset Namespaced ds
apps Deployment deployments deployment Namespaced deploy
apps ReplicaSet replicasets replicaset Namespaced rs
apps StatefulSet statefulsets statefulset Namespaced sts
autoscaling HorizontalPodAutoscaler horizontalpodautoscalers horizontalpodautoscaler Namespaced hpa
batch CronJob cronjobs cronjob Namespaced cj
batch Job jobs job Namespaced
certificates.k8s.io CertificateSigningRequest certificatesigningrequests certificatesigningrequest Cluster csr
certificates.k8s.io ClusterTrustBundle clustertrustbundles clustertrustbundle Cluster
certificates.k8s.io PodCertificateRequest podcertificaterequests podcertificaterequest Namespaced
coordination.k8s.io Lease leases lease Namespaced
coordination.k8s.io LeaseCandidate leasecandidates leasecandidate Namespaced
discovery.k8s.io EndpointSlice endpointslices endpointslice Namespaced
events.k8s.io Event events event Namespaced ev
flowcontrol.apiserver.k8s.io FlowSchema flowschemas flowschema Cluster
flowcontrol.apiserver.k8s.io PriorityLevelConfiguration prioritylevelconfigurations prioritylevelconfiguration Cluster
internal.apiserver.k8s.io StorageVersion storageversions storageversion Cluster
networking.k8s.io IPAddress ipaddresses ipaddress Cluster ip
networking.k8s.io Ingress ingresses ingress Namespaced ing
networking.k8s.io IngressClass ingressclasses ingressclass Cluster
networking.k8s.io NetworkPolicy networkpolicies networkpolicy Namespaced netpol
networking.k8s.io ServiceCIDR servicecidrs servicecidr Cluster
node.k8s.io RuntimeClass runtimeclasses runtimeclass Cluster
policy PodDisruptionBudget poddisruptionbudgets poddisruptionbudget Namespaced pdb
rbac.authorization.k8s.io ClusterRole clusterroles clusterrole Cluster
rbac.authorization.k8s.io ClusterRoleBinding clusterrolebindings clusterrolebinding Cluster
rbac.authorization.k8s.io Role roles role Namespaced
rbac.authorization.k8s.io RoleBinding rolebindings rolebinding Namespaced
resource.k8s.io DeviceClass deviceclasses deviceclass Cluster
resource.k8s.io DeviceTaintRule devicetaintrules devicetaintrule Cluster
resource.k8s.io ResourceClaim resourceclaims resourceclaim Namespaced
resource.k8s.io ResourceClaimTemplate resourceclaimtemplates resourceclaimtemplate Namespaced
resource.k8s.io ResourcePoolStatusRequest resourcepoolstatusrequests resourcepoolstatusrequest Cluster
resource.k8s.io ResourceSlice resourceslices resourceslice Cluster
scheduling.k8s.io PodGroup podgroups podgroup Namespaced
scheduling.k8s.io PriorityClass priorityclasses priorityclass Cluster pc
scheduling.k8s.io Workload workloads workload Namespaced
storage.k8s.io CSIDriver csidrivers csidriver Cluster
storage.k8s.io CSINode csinodes csinode Cluster
storage.k8s.io CSIStorageCapacity csistoragecapacities csistoragecapacity Namespaced
storage.k8s.io StorageClass storageclasses storageclass Cluster sc
storage.k8s.io VolumeAttachment volumeattachments volumeattachment Cluster
storage.k8s.io VolumeAttributesClass volumeattributesclasses volumeattributesclass Cluster vac
storagemigration.k8s.io StorageVersionMigration storageversionmigrations storageversionmigration Cluster
`

func TestBuiltInKindsAreServedSo(t *testing.T) {
	have := map[string]string{}
	for _, r := range builtIn() {
		scope := "Cluster"
		if r.Namespaced {
			scope = "Namespaced"
		}
		group := r.Group
		if group == "" {
			group = "core"
		}
		have[group+" "+r.Kind] = strings.Join(append([]string{r.Plural, r.Singular, scope}, r.ShortNames...), " ")
		if r.Custom != (r.Group == "metrics.k8s.io") || !r.Listable || r.Version == "" {
			t.Errorf("%+v", r)
		}
	}
	want := map[string]string{}
	for line := range strings.Lines(served) {
		f := strings.Fields(line)
		if len(f) > 4 {
			want[f[0]+" "+f[1]] = strings.Join(f[2:], " ")
		}
	}
	for kind, names := range want {
		if have[kind] != names {
			t.Errorf("%s: %q, and the server says %q", kind, have[kind], names)
		}
	}
	// What the server does not have is from another version, or an aggregated API's.
	var extra []string
	for kind := range have {
		if _, ok := want[kind]; !ok {
			extra = append(extra, kind)
		}
	}
	slices.Sort(extra)
	for _, kind := range extra {
		group, _, _ := strings.Cut(kind, " ")
		if !slices.Contains([]string{"extensions", "lifecycle.k8s.io", "metrics.k8s.io", "scheduling.k8s.io"}, group) {
			t.Errorf("%s is not served", kind)
		}
	}
}

// TestBuiltInVersions has the newest of the scheme, stable before beta.
func TestBuiltInVersions(t *testing.T) {
	k := object.NewKinds(builtIn())
	for name, want := range map[string]string{"hpa": "autoscaling/v2", "pods": "v1", "deploy": "apps/v1", "ing": "networking.k8s.io/v1", "events": "v1", "pdb": "policy/v1", "podmetrics": "metrics.k8s.io/v1beta1", "crd": "apiextensions.k8s.io/v1"} {
		if r, err := k.Find(name); err != nil || r.APIVersion() != want {
			t.Errorf("%s is %s, want %s (%v)", name, r.APIVersion(), want, err)
		}
	}
	if first, second := fmt.Sprint(builtIn()), fmt.Sprint(builtIn()); first != second {
		t.Error("the order differs from call to call")
	}
	for gvk := range scheme.Scheme.AllKnownTypes() {
		if r, ok := k.Kind(gvk.GroupKind()); ok && !scheme.Scheme.Recognizes(kindOf(r)) {
			t.Errorf("%v is in no Go package", r)
		}
	}
}
