package check

import (
	"fmt"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// The built-in kinds that several packages of rules read.
var (
	PodKind     = schema.GroupKind{Kind: "Pod"}
	NodeKind    = schema.GroupKind{Kind: "Node"}
	ServiceKind = schema.GroupKind{Kind: "Service"}
	BudgetKind  = schema.GroupKind{Group: policyv1.GroupName, Kind: "PodDisruptionBudget"}

	ClusterRoleKind        = schema.GroupKind{Group: rbacv1.GroupName, Kind: "ClusterRole"}
	ClusterRoleBindingKind = schema.GroupKind{Group: rbacv1.GroupName, Kind: "ClusterRoleBinding"}
	RoleKind               = schema.GroupKind{Group: rbacv1.GroupName, Kind: "Role"}
	RoleBindingKind        = schema.GroupKind{Group: rbacv1.GroupName, Kind: "RoleBinding"}

	DefinitionKind    = schema.GroupKind{Group: apiextensionsv1.GroupName, Kind: "CustomResourceDefinition"}
	NetworkPolicyKind = schema.GroupKind{Group: networkingv1.GroupName, Kind: "NetworkPolicy"}
)

// WantedEverywhere returns the kinds whose objects in any namespace may concern a stack in
// one: those that schedule backups, as Velero does, the network policies of CNIs and meshes,
// collectors of metrics, and role bindings.
func WantedEverywhere(kinds *object.Kinds) []schema.GroupKind {
	out := []schema.GroupKind{ClusterRoleKind, ClusterRoleBindingKind, RoleKind, RoleBindingKind}
	for _, k := range kinds.All() {
		if k.Custom && (IsNetworkPolicy(k) || CollectsMetrics(k.Kind)) {
			out = append(out, k.GroupKind())
			continue
		}
		if r := (object.Ref{Group: k.Group, Kind: k.Kind}); k.Custom && IsBackup(r) && (k.Group == "velero.io" || IsClusterBackup(r)) {
			out = append(out, k.GroupKind())
		}
	}
	return out
}

// IsBackup reports whether a kind is a backup or a schedule of backups, by its name: Backup,
// ScheduledBackup, BackupConfiguration, VolumeSnapshot, Velero's Schedule; restores and backup
// locations are excluded.
func IsBackup(r object.Ref) bool {
	kind := strings.ToLower(r.Kind)
	for _, excluded := range []string{"restore", "class", "content", "location", "storage", "repository", "request", "delete", "download", "blueprint", "verification", "export"} {
		if strings.Contains(kind, excluded) {
			return false
		}
	}
	if !strings.Contains(r.Group, ".") || strings.HasSuffix(r.Group, ".k8s.io") && r.Group != "snapshot.storage.k8s.io" && r.Group != "groupsnapshot.storage.k8s.io" {
		return false
	}
	switch {
	case strings.Contains(kind, "backup"), strings.HasPrefix(kind, "volumesnapshot"), kind == "volumegroupsnapshot", kind == "snapshotgroup", kind == "snapshotschedule", IsClusterBackup(r):
		return true
	case kind == "schedule":
		return r.Group == "velero.io" || strings.HasPrefix(r.Group, "k8up.") || strings.HasPrefix(r.Group, "backup.")
	case kind == "replicationsource":
		return strings.HasPrefix(r.Group, "volsync.")
	}
	return false
}

// IsClusterBackup reports whether a kind schedules backups of anything in the cluster, in ways
// that are not read here: Longhorn's jobs, which volumes join by their labels, and the
// policies of Kasten.
func IsClusterBackup(r object.Ref) bool {
	return r.Kind == "RecurringJob" && r.Group == "longhorn.io" || r.Kind == "Policy" && r.Group == "config.kio.kasten.io"
}

// CollectsMetrics reports whether a kind selects the targets of metrics collection:
// ServiceMonitor, PodMonitor, VMPodScrape, PodMonitoring.
func CollectsMetrics(kind string) bool {
	return strings.HasSuffix(kind, "Monitor") || strings.HasSuffix(kind, "Monitoring") || strings.HasSuffix(kind, "Scrape") || kind == "ScrapeConfig"
}

// IsNetworkPolicy reports whether objects of a kind restrict connections: those of Cilium,
// Calico, Antrea and the administrators' ones share the name. Those of the group extensions
// are the built-in ones by their old name.
func IsNetworkPolicy(k object.Resource) bool {
	return IsMeshPolicy(k) || k.GroupKind() != NetworkPolicyKind && k.Group != "extensions" && strings.HasSuffix(k.Kind, "NetworkPolicy")
}

// IsMeshPolicy reports whether a kind is a policy of a mesh (Istio, Linkerd, Kuma, Consul),
// where an object in the mesh's own namespace may apply to all others.
func IsMeshPolicy(k object.Resource) bool {
	switch k.Kind {
	case "AuthorizationPolicy", "MeshTrafficPermission", "ServiceIntentions":
		return true
	}
	return false
}

// OtherPolicies returns the reason why the built-in policies are not decisive: policies of
// another kind may select the pods of a namespace, and their selectors are not read here. It
// is empty where there are none.
func (w *ClusterState) OtherPolicies(namespace string) string {
	for _, k := range w.Kinds.All() {
		if !IsNetworkPolicy(k) {
			continue
		}
		for _, ref := range w.Instances(k.GroupKind()) {
			if ref.Namespace == "" || ref.Namespace == namespace || IsMeshPolicy(k) {
				return fmt.Sprintf("%s may limit who connects to them, and is not evaluated", Describe(ref))
			}
		}
		in := namespace
		if !k.Namespaced || IsMeshPolicy(k) {
			in = ""
		}
		if !w.Read(k.GroupKind(), in) {
			return fmt.Sprintf("%s could not be read, and may limit who connects to them", k)
		}
	}
	return ""
}
