package regulator

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// WatchDeployment is the input of DeploymentManifests: what runs in a cluster to regulate a system.
type WatchDeployment struct {
	System *system.System
	World  *regulate.SystemState
	Kinds  *object.Kinds
	// Namespace is that of the system, and of all its objects.
	Namespace string
	// Reads is what is listed and watched.
	Reads []WatchedResource
	// Image is that of kubectl-sysop, Version its version label.
	Image, Version string
	// Replicas is how many run; one of them is active.
	Replicas int32
}

// WatchedResource is a resource that is listed and watched; in all namespaces if Namespace is
// empty.
type WatchedResource struct{ Group, Resource, Namespace string }

// Manifest is an object to be applied, with comment lines.
type Manifest struct {
	Comment string
	Object  *unstructured.Unstructured
}

// MetricsPort is where the pods serve /metrics, /healthz and /readyz.
const MetricsPort = 8080

// watchUser is the UID of the container: no user of any image.
const watchUser = 65532

// DeploymentManifests returns the ServiceAccount, the least roles with their bindings, and the Deployment
// of a watch, in the order of applying. Writes are limited by name to the objects of the actions
// of the system. Create, list and watch cannot be limited by name: comments name them.
func DeploymentManifests(in WatchDeployment) []Manifest {
	m := &manifests{in: in, name: system.WatchName(in.System.Name)}
	m.account()
	m.roles()
	m.budget()
	m.deployment()
	return m.out
}

type manifests struct {
	in   WatchDeployment
	name string
	out  []Manifest
}

func (m *manifests) add(comment string, o any) {
	u := journal.Unstructured(o)
	unstructured.RemoveNestedField(u.Object, "status")
	unstructured.RemoveNestedField(u.Object, "spec", "template", "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(u.Object, "spec", "strategy")
	if u.GetKind() == "Deployment" {
		_ = unstructured.SetNestedField(u.Object, "RollingUpdate", "spec", "strategy", "type")
	}
	m.out = append(m.out, Manifest{Comment: comment, Object: u})
}

func (m *manifests) meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: m.labels()}
}

func (m *manifests) labels() map[string]string {
	out := map[string]string{
		system.Label:                   m.in.System.Name,
		"app.kubernetes.io/name":       "kubectl-sysop",
		"app.kubernetes.io/component":  "regulate-watch",
		"app.kubernetes.io/managed-by": "kubectl-sysop",
	}
	if m.in.Version != "" && len(validation.IsValidLabelValue(m.in.Version)) == 0 { // (devel) is not a valid label
		out["app.kubernetes.io/version"] = m.in.Version
	}
	return out
}

func (m *manifests) account() {
	no := false
	m.add("The account that watches the System "+m.in.System.Name+". Only the pods of the Deployment below get its token.", &corev1.ServiceAccount{
		TypeMeta:                     metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta:                   m.meta(m.in.Namespace, m.name),
		AutomountServiceAccountToken: &no,
	})
}

// roles are a Role in each namespace that is read or written, and a ClusterRole for
// cluster-scoped objects.
func (m *manifests) roles() {
	writes := permission.Policies(m.rights())
	reads := m.reads()
	namespaces := slices.Sorted(maps.Keys(writes))
	for ns := range reads {
		if !slices.Contains(namespaces, ns) {
			namespaces = append(namespaces, ns)
		}
	}
	slices.Sort(namespaces)
	for _, ns := range namespaces {
		rules := append(slices.Clone(reads[ns]), writes[ns]...)
		comment := m.permissionNote(ns, writes[ns])
		if ns == "" {
			m.clusterRole(comment, rules)
			continue
		}
		m.role(ns, comment, rules)
	}
}

// permissions are those of the actions and of the leader election.
func (m *manifests) rights() []permission.Permission {
	rights := regulate.AllRights(m.in.System, m.in.World, m.in.Kinds, m.in.Namespace)
	for _, verb := range []string{"get", "update"} {
		rights = append(rights, permission.Permission{Verb: verb, Group: coordinationv1.GroupName, Resource: "leases", Namespace: m.in.Namespace, Name: system.WatchName(m.in.System.Name)})
	}
	// the manifest of an adopted System is in the cluster
	return append(rights, permission.Permission{Verb: "get", Resource: "configmaps", Namespace: m.in.Namespace, Name: system.ParentName(m.in.System.Name)})
}

// reads are the rules of what is listed and watched, by namespace: one for each API group. They
// exclude Secrets, whose list contains their data.
func (m *manifests) reads() map[string][]rbacv1.PolicyRule {
	type place struct{ namespace, group string }
	resources := map[place][]string{}
	for _, r := range m.in.Reads {
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
func (m *manifests) permissionNote(ns string, writes []rbacv1.PolicyRule) string {
	place := "in the namespace " + ns
	if ns == "" {
		place = "in the whole cluster"
	}
	lines := []string{"What the watch reads and writes " + place + ": writes are limited by name to the objects of the actions of the System."}
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

func (m *manifests) subjects() []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: m.in.Namespace, Name: m.name}}
}

func (m *manifests) role(ns, comment string, rules []rbacv1.PolicyRule) {
	name := m.name
	if ns != m.in.Namespace {
		name = m.wide() // a system of the same name may have a role there too
	}
	m.add(comment, &rbacv1.Role{
		TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "Role"}, ObjectMeta: m.meta(ns, name), Rules: rules,
	})
	m.add("", &rbacv1.RoleBinding{
		TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"}, ObjectMeta: m.meta(ns, name), Subjects: m.subjects(),
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
	})
}

// wide is the name of objects outside of the namespace of the system.
func (m *manifests) wide() string { return m.in.Namespace + "-" + m.name }

func (m *manifests) clusterRole(comment string, rules []rbacv1.PolicyRule) {
	m.add(comment, &rbacv1.ClusterRole{
		TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"}, ObjectMeta: m.meta("", m.wide()), Rules: rules,
	})
	m.add("", &rbacv1.ClusterRoleBinding{
		TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"}, ObjectMeta: m.meta("", m.wide()), Subjects: m.subjects(),
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: m.wide()},
	})
}

// chosen are the labels of the Pod selector, which never change.
func (m *manifests) chosen() map[string]string {
	return map[string]string{system.Label: m.in.System.Name, "app.kubernetes.io/component": "regulate-watch"}
}

// budget lets a drain continue: it blocks only if there is another replica.
func (m *manifests) budget() {
	one := intstr.FromInt32(1)
	m.add("A drain evicts one of the pods at a time.", &policyv1.PodDisruptionBudget{
		TypeMeta: metav1.TypeMeta{APIVersion: policyv1.SchemeGroupVersion.String(), Kind: "PodDisruptionBudget"}, ObjectMeta: m.meta(m.in.Namespace, m.name),
		Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one, Selector: &metav1.LabelSelector{MatchLabels: m.chosen()}},
	})
}

func (m *manifests) deployment() {
	replicas := max(m.in.Replicas, 1)
	m.add(m.aboutDeployment(), &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment"}, ObjectMeta: m.meta(m.in.Namespace, m.name),
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: m.chosen()},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: m.labels()}, Spec: m.pod()},
		},
	})
}

func (m *manifests) aboutDeployment() string {
	lines := []string{fmt.Sprintf("The same program as on the command line. It finds the System by its name: it must have been adopted (kubectl sysop system adopt) in the namespace %s.", m.in.Namespace)}
	var execs, envs []string
	for i := range m.in.System.Apps {
		app := &m.in.System.Apps[i]
		for _, signal := range slices.Sorted(maps.Keys(app.On)) {
			for k := range app.On[signal] {
				for act := &app.On[signal][k]; act != nil; act = act.Inverse {
					if act.Exec != nil && !slices.Contains(execs, app.Name) {
						execs = append(execs, app.Name)
					}
					if act.HTTP != nil && act.HTTP.SecretEnv != "" && !slices.Contains(envs, act.HTTP.SecretEnv) {
						envs = append(envs, act.HTTP.SecretEnv)
					}
				}
			}
		}
	}
	if len(execs) > 0 {
		lines = append(lines, "Commands (exec) of "+strings.Join(execs, ", ")+" are refused here: --allow-exec allows them, in an image that has them.")
	}
	if len(envs) > 0 {
		lines = append(lines, "It needs these environment variables, which are not set here: "+strings.Join(envs, ", ")+".")
	}
	return strings.Join(lines, "\n")
}

func (m *manifests) pod() corev1.PodSpec {
	yes, user := true, int64(watchUser)
	grace := int64(60) // lets a started action end
	return corev1.PodSpec{
		ServiceAccountName: m.name, AutomountServiceAccountToken: &yes, TerminationGracePeriodSeconds: &grace,
		SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: &yes, RunAsUser: &user, RunAsGroup: &user, FSGroup: &user, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
		Containers:      []corev1.Container{m.container()},
		Volumes:         []corev1.Volume{{Name: "home", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: quantity("64Mi")}}}},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{MatchLabels: m.chosen()},
		}},
	}
}

func (m *manifests) container() corev1.Container {
	yes, no := true, false
	probe := func(path string) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString("metrics")}}, TimeoutSeconds: 5, PeriodSeconds: 15}
	}
	amounts := func(cpu, memory, disk string) corev1.ResourceList {
		out := corev1.ResourceList{corev1.ResourceMemory: *quantity(memory), corev1.ResourceEphemeralStorage: *quantity(disk)}
		if cpu != "" {
			out[corev1.ResourceCPU] = *quantity(cpu)
		}
		return out
	}
	return corev1.Container{
		Name: "watch", Image: m.in.Image,
		Args: []string{
			"regulate", "watch", m.in.System.Name, "--namespace=" + m.in.Namespace, "--yes", "--leader-elect", fmt.Sprintf("--metrics-address=:%d", MetricsPort),
		},
		Env:            []corev1.EnvVar{{Name: "HOME", Value: "/home/sysop"}},
		Ports:          []corev1.ContainerPort{{Name: "metrics", ContainerPort: MetricsPort, Protocol: corev1.ProtocolTCP}},
		LivenessProbe:  probe("/healthz"),
		ReadinessProbe: probe("/readyz"),
		Resources:      corev1.ResourceRequirements{Requests: amounts("50m", "128Mi", "64Mi"), Limits: amounts("", "512Mi", "128Mi")},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes, RunAsNonRoot: &yes, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
		VolumeMounts: []corev1.VolumeMount{{Name: "home", MountPath: "/home/sysop"}},
	}
}

func quantity(text string) *resource.Quantity {
	q := resource.MustParse(text)
	return &q
}
