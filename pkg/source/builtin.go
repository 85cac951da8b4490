package source

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// findKinds returns what a snapshot knows: its CustomResourceDefinitions, the
// built-in kinds, and the kinds of objects whose definition is not in it, as far
// as these show (a plural by the common rule, a scope by their namespace).
func (s *Snapshot) findKinds() *object.Kinds {
	all := builtIn()
	for _, e := range s.entries {
		if e.body.GroupVersionKind().GroupKind() == crdKind {
			if r, ok := definition(e.body.Object); ok {
				all = append(all, r)
			}
		}
	}
	seen := map[schema.GroupKind]int{}
	for i, r := range all {
		seen[r.GroupKind()] = i
	}
	for _, e := range s.entries {
		gvk := e.body.GroupVersionKind()
		if scheme.Scheme.IsGroupRegistered(gvk.Group) || gvk.Kind == "" || gvk.Version == "" {
			continue
		}
		if i, ok := seen[gvk.GroupKind()]; ok {
			all[i].Namespaced = all[i].Namespaced || e.body.GetNamespace() != ""
			continue
		}
		seen[gvk.GroupKind()] = len(all)
		plural, singular := meta.UnsafeGuessKindToResource(gvk)
		all = append(all, object.Resource{
			Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Plural: plural.Resource, Singular: singular.Resource,
			Namespaced: e.body.GetNamespace() != "", Listable: true, Custom: true,
		})
	}
	k := object.NewKinds(all)
	k.Fail() // what is not here may well be served
	return k
}

// definition reads the kind that a CustomResourceDefinition declares.
func definition(crd map[string]any) (object.Resource, bool) {
	spec, _ := crd["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	r := object.Resource{Group: text(spec, "group"), Kind: text(names, "kind"), Plural: text(names, "plural"), Singular: text(names, "singular"), Listable: true, Custom: true}
	r.Namespaced = text(spec, "scope") == "Namespaced"
	r.ShortNames, r.Categories = texts(names, "shortNames"), texts(names, "categories")
	if r.Singular == "" {
		r.Singular = strings.ToLower(r.Kind)
	}
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		if m, ok := v.(map[string]any); ok && m["served"] == true && (r.Version == "" || m["storage"] == true) {
			r.Version = text(m, "name")
		}
	}
	return r, r.Group != "" && r.Kind != "" && r.Plural != "" && r.Version != ""
}

func text(m map[string]any, key string) string { s, _ := m[key].(string); return s }

func texts(m map[string]any, key string) []string {
	list, _ := m[key].([]any)
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// builtIn returns the kinds of client-go's scheme in their best version. What a
// server's discovery would add, the scope and the short names, is below.
func builtIn() []object.Resource {
	cluster := sets.New(strings.Fields(clusterScoped)...)
	short := map[string][]string{}
	for _, line := range strings.Split(strings.TrimSpace(shortNames), "\n") {
		f := strings.Fields(line)
		short[f[0]] = f[1:]
	}
	best := map[schema.GroupKind]schema.GroupVersionKind{}
	for gvk := range scheme.Scheme.AllKnownTypes() {
		if gvk.Version == "__internal" || notStored(gvk) {
			continue
		}
		if have, ok := best[gvk.GroupKind()]; !ok || newer(gvk.Version, have.Version) {
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
		out = append(out, r)
	}
	out = append(out,
		object.Resource{Group: crdKind.Group, Version: "v1", Kind: crdKind.Kind, Plural: "customresourcedefinitions", Singular: "customresourcedefinition", ShortNames: []string{"crd", "crds"}, Listable: true},
		object.Resource{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService", Plural: "apiservices", Singular: "apiservice", Listable: true},
		object.Resource{Group: "metrics.k8s.io", Version: "v1beta1", Kind: "PodMetrics", Plural: "pods", Singular: "podmetrics", Namespaced: true, Listable: true},
		object.Resource{Group: "metrics.k8s.io", Version: "v1beta1", Kind: "NodeMetrics", Plural: "nodes", Singular: "nodemetrics", Listable: true},
	)
	slices.SortFunc(out, func(a, b object.Resource) int {
		return object.Compare(object.Ref{Group: rank(a.Group), Kind: a.Kind}, object.Ref{Group: rank(b.Group), Kind: b.Kind})
	})
	return out
}

// rank orders groups as a server prefers them: the core, apps, the rest, and
// last those that only repeat another's kinds.
func rank(group string) string {
	switch group {
	case "", "apps":
		return group
	case "extensions", "events.k8s.io", "metrics.k8s.io":
		return "~" + group
	}
	return "b" + group
}

// notStored are types of the scheme that are no resources: lists, options,
// reviews and other requests.
func notStored(gvk schema.GroupVersionKind) bool {
	for _, end := range []string{"List", "Options", "Review", "Event"} {
		if strings.HasSuffix(gvk.Kind, end) && gvk.Kind != "Event" {
			return true
		}
	}
	return slices.Contains([]string{"Scale", "Status", "APIGroup", "APIVersions", "Binding", "Eviction", "TokenRequest", "RangeAllocation", "SerializedReference", "PodStatusResult", "NodeProxyOptions", "DeploymentRollback", "SelfSubjectRulesReview", "ImageReview", "Policy"}, gvk.Kind)
}

// newer compares versions as Kubernetes ranks them: v2 before v1 before v1beta1.
func newer(a, b string) bool {
	return versionRank(a) > versionRank(b)
}

func versionRank(v string) int {
	stage := 2
	for s, name := range []string{"alpha", "beta"} {
		if strings.Contains(v, name) {
			stage = s
		}
	}
	n := 0
	for _, c := range v {
		if c >= '0' && c <= '9' {
			n = n*10 + int(c-'0')
		} else if n > 0 {
			break
		}
	}
	return stage*1000 + n
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
