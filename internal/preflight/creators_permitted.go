package preflight

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// asks says that annotations of an object of the batch have a controller make a Secret of
// the name: one that is called so (serving-cert-secret-name of OpenShift), or one for
// certificates on an Ingress or a Gateway that names the Secret (cert-manager.io/issuer).
func asks(it *Item, name string) bool {
	entry := it.Ref.Kind == "Ingress" || it.Ref.Kind == "Gateway"
	for key, value := range it.Object.GetAnnotations() {
		if value == name && strings.Contains(key, "/") {
			return true
		}
		domain, _, _ := strings.Cut(key, "/")
		if entry && (strings.Contains(domain, "cert") || key == "kubernetes.io/tls-acme") && names(it.Object.Object["spec"], name) {
			return true
		}
	}
	return false
}

// permittedCreator finds pods of the batch that may create what is missing: an operator makes the
// Secret of its own webhooks, and a Job before it that of the first password.
func (f *evaluation) permittedCreator(item *Item, missing object.Ref) string {
	plural := map[object.Ref]string{
		{Kind: secretKind.Kind}: "secrets", {Kind: configMapKind.Kind}: "configmaps",
	}[object.Ref{Group: missing.Group, Kind: missing.Kind}]
	if plural == "" {
		return ""
	}
	accounts := map[object.Ref]bool{}
	for _, it := range f.order {
		for _, account := range f.permittedAccounts(it, plural, missing.Namespace) {
			accounts[account] = true
		}
	}
	for _, c := range f.podSets {
		if c.item == item && !makesFirst(c.pod, missing) || c.refused || c.wanted == 0 && !c.later {
			continue
		}
		if accounts[check.ServiceAccount(c.pod.Namespace, c.pod.Spec.ServiceAccountName)] {
			return fmt.Sprintf("%s may create %s, and may create this one", plain(c.of), plural)
		}
	}
	return ""
}

// permittedAccounts returns the service accounts that a binding of the batch lets create a resource
// in a namespace, by a role of the batch or of the cluster.
func (f *evaluation) permittedAccounts(it *Item, plural, namespace string) []object.Ref {
	if it.Ref.Group != rbacv1.GroupName || it.Ref.Kind != "ClusterRoleBinding" && (it.Ref.Kind != "RoleBinding" || it.Ref.Namespace != namespace) {
		return nil
	}
	var b rbacv1.RoleBinding // A ClusterRoleBinding has the same fields.
	if runtime.DefaultUnstructuredConverter.FromUnstructured(it.Object.Object, &b) != nil {
		return nil
	}
	role := object.Ref{Group: rbacv1.GroupName, Kind: b.RoleRef.Kind, Name: b.RoleRef.Name}
	if role.Kind == "Role" {
		role.Namespace = namespace
	}
	if !slices.ContainsFunc(f.rulesOf(role), func(r rbacv1.PolicyRule) bool {
		return check.RuleHas(r.Verbs, "create") && check.RuleHas(r.APIGroups, "") && check.RuleHas(r.Resources, plural)
	}) {
		return nil
	}
	var out []object.Ref
	for _, s := range b.Subjects {
		if sa, ok := check.SubjectAccount(s, it.Ref.Namespace); ok {
			out = append(out, sa)
		}
	}
	return out
}

// rulesOf returns the rules of a role.
func (f *evaluation) rulesOf(role object.Ref) []rbacv1.PolicyRule {
	if at := slices.IndexFunc(f.order, func(it *Item) bool { return it.Ref == role }); at >= 0 {
		var r rbacv1.Role // A ClusterRole has the same rules.
		if runtime.DefaultUnstructuredConverter.FromUnstructured(f.order[at].Object.Object, &r) != nil {
			return nil
		}
		return r.Rules
	}
	if r, ok := check.Of[*rbacv1.Role](f.World.Facts, role); ok {
		return r.Rules
	}
	if r, ok := check.Of[*rbacv1.ClusterRole](f.World.Facts, role); ok {
		return r.Rules
	}
	return nil
}

// makesFirst says that a pod may make what its own containers miss: an init container runs
// before them, and needs it neither itself nor by a volume, without which no container is
// made at all.
func makesFirst(pod *corev1.Pod, missing object.Ref) bool {
	if len(pod.Spec.InitContainers) == 0 {
		return false
	}
	first := &pod.Spec.InitContainers[0]
	return !slices.ContainsFunc(first.Env, func(e corev1.EnvVar) bool {
		from := e.ValueFrom
		return from != nil && (from.SecretKeyRef != nil && from.SecretKeyRef.Name == missing.Name || from.ConfigMapKeyRef != nil && from.ConfigMapKeyRef.Name == missing.Name)
	}) && !slices.ContainsFunc(first.EnvFrom, func(from corev1.EnvFromSource) bool {
		return from.SecretRef != nil && from.SecretRef.Name == missing.Name || from.ConfigMapRef != nil && from.ConfigMapRef.Name == missing.Name
	}) && !slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return mounts(&v, missing.Name) })
}

// mounts says that a volume is of a Secret or a ConfigMap of a name.
func mounts(v *corev1.Volume, name string) bool {
	if v.Secret != nil && v.Secret.SecretName == name || v.ConfigMap != nil && v.ConfigMap.Name == name {
		return true
	}
	return v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(from corev1.VolumeProjection) bool {
		return from.Secret != nil && from.Secret.Name == name || from.ConfigMap != nil && from.ConfigMap.Name == name
	})
}
