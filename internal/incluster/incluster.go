// Package incluster makes the manifests that run this program in a cluster: the account, the least
// roles, and the pod.
package incluster

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
)

// Manifest is an object to be applied, with comment lines.
type Manifest struct {
	Comment string
	Object  *unstructured.Unstructured
}

// Resource is a resource that is read; in all namespaces if Namespace is empty.
type Resource struct{ Group, Resource, Namespace string }

// Program is what runs in the cluster, and collects its manifests in the order of applying.
type Program struct {
	// Name is that of the account and of what runs it; Namespace is that of both.
	Name, Namespace string
	// Image is that of kubectl-sysop, Version its version label.
	Image, Version string
	// Component is what the program does, and Labels are further labels of all objects.
	Component string
	Labels    map[string]string

	Manifests []Manifest
}

// user is the UID of the container: no user of any image.
const user = 65532

// Add adds a typed object.
func (p *Program) Add(comment string, o any) {
	u := journal.Unstructured(o)
	unstructured.RemoveNestedField(u.Object, "status")
	for _, path := range [][]string{{"spec", "template"}, {"spec", "jobTemplate"}, {"spec", "jobTemplate", "spec", "template"}} {
		unstructured.RemoveNestedField(u.Object, append(path, "metadata", "creationTimestamp")...)
	}
	p.Manifests = append(p.Manifests, Manifest{Comment: comment, Object: u})
}

// Meta is the metadata of an object.
func (p *Program) Meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: p.AllLabels()}
}

// AllLabels are the labels of every object.
func (p *Program) AllLabels() map[string]string {
	out := map[string]string{
		"app.kubernetes.io/name":       "kubectl-sysop",
		"app.kubernetes.io/component":  p.Component,
		"app.kubernetes.io/managed-by": "kubectl-sysop",
	}
	maps.Copy(out, p.Labels)
	if p.Version != "" && len(validation.IsValidLabelValue(p.Version)) == 0 { // (devel) is not a valid label
		out["app.kubernetes.io/version"] = p.Version
	}
	return out
}

// Account adds the ServiceAccount.
func (p *Program) Account(comment string) {
	no := false
	p.Add(comment, &corev1.ServiceAccount{
		TypeMeta:                     metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta:                   p.Meta(p.Namespace, p.Name),
		AutomountServiceAccountToken: &no,
	})
}

// Roles adds a Role in each namespace that is read or written, and a ClusterRole for cluster-scoped
// objects. The subject and the limits say in their comments what reads and writes, and how writes
// are limited.
func (p *Program) Roles(subject, limits string, reading []Resource, rights []permission.Permission) {
	writes, reads := permission.Policies(rights), readRules(reading)
	namespaces := slices.AppendSeq(slices.Collect(maps.Keys(writes)), maps.Keys(reads))
	slices.Sort(namespaces)
	for _, ns := range slices.Compact(namespaces) {
		rules := append(slices.Clone(reads[ns]), writes[ns]...)
		comment := permissionNote(subject, limits, ns, writes[ns])
		if ns == "" {
			p.clusterRole(comment, rules)
			continue
		}
		p.role(ns, comment, rules)
	}
}

// readRules are the rules of what is read, by namespace: one for each API group. They exclude
// Secrets, whose list contains their data.
func readRules(reading []Resource) map[string][]rbacv1.PolicyRule {
	type place struct{ namespace, group string }
	resources := map[place][]string{}
	for _, r := range reading {
		if r.Group == "" && r.Resource == "secrets" {
			continue
		}
		p := place{r.Namespace, r.Group}
		if !slices.Contains(resources[p], r.Resource) {
			resources[p] = append(resources[p], r.Resource)
		}
	}
	places := slices.SortedFunc(maps.Keys(resources), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.group, b.group))
	})
	out := map[string][]rbacv1.PolicyRule{}
	for _, p := range places {
		slices.Sort(resources[p])
		out[p.namespace] = append(out[p.namespace], rbacv1.PolicyRule{APIGroups: []string{p.group}, Resources: resources[p], Verbs: []string{"get", "list", "watch"}})
	}
	return out
}

// permissionNote describes the rules of a role that cannot be limited by name.
func permissionNote(subject, limits, ns string, writes []rbacv1.PolicyRule) string {
	place := "in the namespace " + ns
	if ns == "" {
		place = "in the whole cluster"
	}
	lines := []string{"What " + subject + " reads and writes " + place + ": " + limits}
	var unnamed []string
	for _, w := range writes {
		if len(w.ResourceNames) == 0 {
			unnamed = append(unnamed, strings.Join(w.Verbs, ", ")+" of "+strings.Join(w.Resources, ", "))
		}
	}
	if len(unnamed) > 0 {
		lines = append(lines, "Not limited by name, since the names are unknown before creation: "+strings.Join(unnamed, "; ")+".")
	}
	return strings.Join(lines, "\n")
}

func (p *Program) subjects() []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: p.Namespace, Name: p.Name}}
}

func (p *Program) role(ns, comment string, rules []rbacv1.PolicyRule) {
	name := p.Name
	if ns != p.Namespace {
		name = p.wide() // one of the same name may have a role there too
	}
	p.Add(comment, &rbacv1.Role{
		TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "Role"}, ObjectMeta: p.Meta(ns, name), Rules: rules,
	})
	p.Add("", &rbacv1.RoleBinding{
		TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"}, ObjectMeta: p.Meta(ns, name), Subjects: p.subjects(),
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
	})
}

// wide is the name of objects outside of the namespace.
func (p *Program) wide() string { return p.Namespace + "-" + p.Name }

func (p *Program) clusterRole(comment string, rules []rbacv1.PolicyRule) {
	p.Add(comment, &rbacv1.ClusterRole{
		TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"}, ObjectMeta: p.Meta("", p.wide()), Rules: rules,
	})
	p.Add("", &rbacv1.ClusterRoleBinding{
		TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"}, ObjectMeta: p.Meta("", p.wide()), Subjects: p.subjects(),
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: p.wide()},
	})
}

// Pod returns a pod with one container that runs the program with arguments. It meets the Pod
// Security Standard "restricted".
func (p *Program) Pod(name string, args ...string) corev1.PodSpec {
	yes, no, uid := true, false, int64(user)
	amounts := func(cpu, memory, disk string) corev1.ResourceList {
		out := corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory), corev1.ResourceEphemeralStorage: resource.MustParse(disk)}
		if cpu != "" {
			out[corev1.ResourceCPU] = resource.MustParse(cpu)
		}
		return out
	}
	limit := resource.MustParse("64Mi")
	return corev1.PodSpec{
		ServiceAccountName: p.Name, AutomountServiceAccountToken: &yes,
		SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: &yes, RunAsUser: &uid, RunAsGroup: &uid, FSGroup: &uid, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
		Containers: []corev1.Container{{
			Name: name, Image: p.Image, Args: args,
			Env:       []corev1.EnvVar{{Name: "HOME", Value: "/home/sysop"}},
			Resources: corev1.ResourceRequirements{Requests: amounts("50m", "128Mi", "64Mi"), Limits: amounts("", "512Mi", "128Mi")},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes, RunAsNonRoot: &yes, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
			VolumeMounts: []corev1.VolumeMount{{Name: "home", MountPath: "/home/sysop"}},
		}},
		Volumes: []corev1.Volume{{Name: "home", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &limit}}}},
	}
}
