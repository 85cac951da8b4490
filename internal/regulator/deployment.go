package regulator

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-sysop/kubectl-sysop/internal/incluster"
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
	Reads []incluster.Resource
	// Image is that of kubectl-sysop, Version its version label.
	Image, Version string
	// Replicas is how many run; one of them is active.
	Replicas int32
}

// MetricsPort is where the pods serve /metrics, /healthz and /readyz.
const MetricsPort = 8080

// DeploymentManifests returns the ServiceAccount, the least roles with their bindings, and the Deployment
// of a watch, in the order of applying. Writes are limited by name to the objects of the actions
// of the system. Create, list and watch cannot be limited by name: comments name them.
func DeploymentManifests(in WatchDeployment) []incluster.Manifest {
	m := &manifests{in, incluster.Program{
		Name: system.WatchName(in.System.Name), Namespace: in.Namespace, Image: in.Image, Version: in.Version,
		Component: "regulate-watch", Labels: map[string]string{system.Label: in.System.Name},
	}}
	m.Account("The account that watches the System " + in.System.Name + ". Only the pods of the Deployment below get its token.")
	m.Roles("the watch", "writes are limited by name to the objects of the actions of the System.", in.Reads, m.rights())
	m.budget()
	m.deployment()
	return m.Manifests
}

type manifests struct {
	in WatchDeployment
	incluster.Program
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

// chosen are the labels of the Pod selector, which never change.
func (m *manifests) chosen() map[string]string {
	return map[string]string{system.Label: m.in.System.Name, "app.kubernetes.io/component": "regulate-watch"}
}

// budget lets a drain continue: it blocks only if there is another replica.
func (m *manifests) budget() {
	one := intstr.FromInt32(1)
	m.Add("A drain evicts one of the pods at a time.", &policyv1.PodDisruptionBudget{
		TypeMeta: metav1.TypeMeta{APIVersion: policyv1.SchemeGroupVersion.String(), Kind: "PodDisruptionBudget"}, ObjectMeta: m.Meta(m.in.Namespace, m.Name),
		Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one, Selector: &metav1.LabelSelector{MatchLabels: m.chosen()}},
	})
}

func (m *manifests) deployment() {
	replicas := max(m.in.Replicas, 1)
	m.Add(m.aboutDeployment(), &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment"}, ObjectMeta: m.Meta(m.in.Namespace, m.Name),
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType},
			Selector: &metav1.LabelSelector{MatchLabels: m.chosen()},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: m.AllLabels()}, Spec: m.pod()},
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
	probe := func(path string) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString("metrics")}}, TimeoutSeconds: 5, PeriodSeconds: 15}
	}
	grace := int64(60) // lets a started action end
	pod := m.Pod("watch", "regulate", "watch", m.in.System.Name, "--namespace="+m.in.Namespace, "--yes", "--leader-elect", fmt.Sprintf("--metrics-address=:%d", MetricsPort))
	pod.TerminationGracePeriodSeconds = &grace
	pod.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{MatchLabels: m.chosen()},
	}}
	c := &pod.Containers[0]
	c.Ports = []corev1.ContainerPort{{Name: "metrics", ContainerPort: MetricsPort, Protocol: corev1.ProtocolTCP}}
	c.LivenessProbe, c.ReadinessProbe = probe("/healthz"), probe("/readyz")
	return pod
}
