package e2e

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// newPool makes a batch at random: nodes in two or three zones, some with a disk, a device
// or a taint; pods of one to four workloads with rules of all sorts; pods that are there.
func newPool(r *rand.Rand, number int) *pool {
	p := &pool{number: number}
	for i := range 2 + r.IntN(4) {
		p.nodes = append(p.nodes, p.node(r, i))
	}
	apps := []string{"web", "db", "api"}[:1+r.IntN(3)]
	ranked := r.IntN(4) == 0
	for _, app := range apps {
		replicas := 1 + r.IntN(3)
		like := p.pod(r, app)
		if ranked {
			like.Spec.PriorityClassName = []string{"", "rank-1", "rank-2", "rank-3"}[r.IntN(4)]
		}
		for k := range replicas {
			pod := like.DeepCopy()
			pod.Name = fmt.Sprintf("%s-%d-%d", app, number, k)
			p.batch = append(p.batch, schedule.Pod{Name: pod.Name, Pod: pod})
		}
	}
	for i := range r.IntN(4) {
		pod := p.pod(r, apps[r.IntN(len(apps))])
		pod.Name = fmt.Sprintf("old-%d-%d", number, i)
		pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("500m")
		if ranked {
			pod.Spec.PriorityClassName = []string{"", "rank-1", "rank-2", "rank-3"}[r.IntN(4)]
		}
		if r.IntN(4) == 0 {
			p.waiting = append(p.waiting, pod)
			continue
		}
		pod.Spec.NodeName = p.nodes[r.IntN(len(p.nodes))].Name
		p.there = append(p.there, pod)
	}
	return p
}

func (p *pool) label() string { return fmt.Sprint(p.number) }

func (p *pool) node(r *rand.Rand, i int) *corev1.Node {
	name := fmt.Sprintf("pool-%d-%d", p.number, i)
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		corev1.LabelHostname: name, "pool": p.label(), corev1.LabelTopologyZone: fmt.Sprintf("zone-%d-%d", p.number, r.IntN(2)),
	}}}
	n.Spec.Taints = []corev1.Taint{{Key: "pool", Value: p.label(), Effect: corev1.TaintEffectNoSchedule}}
	n.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: *resource.NewQuantity(3+r.Int64N(7), resource.DecimalSI), corev1.ResourceMemory: *resource.NewQuantity((4+r.Int64N(13))<<30, resource.BinarySI),
		corev1.ResourcePods: resource.MustParse([]string{"110", "110", "110", "4"}[r.IntN(4)]),
	}
	if r.IntN(3) == 0 {
		n.Status.Allocatable["example.com/gpu"] = resource.MustParse("2")
	}
	n.Status.Capacity = n.Status.Allocatable
	if r.IntN(2) == 0 {
		n.Labels["disk"] = "ssd"
	}
	switch r.IntN(12) {
	case 0:
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule})
	case 1:
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoExecute})
	case 2:
		n.Spec.Unschedulable = true
	case 3:
		delete(n.Labels, corev1.LabelTopologyZone)
	}
	return n
}

// app is the label of a workload: pods of other pools have another.
func (p *pool) app(name string) map[string]string {
	return map[string]string{"app": fmt.Sprintf("%s-%d", name, p.number)}
}

func (p *pool) pod(r *rand.Rand, app string) *corev1.Pod {
	zero := int64(0)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "batches", Labels: p.app(app)}}
	pod.Spec = corev1.PodSpec{
		TerminationGracePeriodSeconds: &zero,
		NodeSelector:                  map[string]string{"pool": p.label()},
		Tolerations:                   []corev1.Toleration{{Key: "pool", Operator: corev1.TolerationOpExists}, {Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists}},
		Containers: []corev1.Container{{Name: "main", Image: "example.com/app", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse([]string{"100m", "250m", "500m", "1", "1500m", "2"}[r.IntN(6)]), corev1.ResourceMemory: resource.MustParse([]string{"64Mi", "512Mi", "1Gi", "3Gi"}[r.IntN(4)]),
		}}}},
	}
	switch r.IntN(10) {
	case 0:
		pod.Spec.NodeSelector["disk"] = "ssd"
	case 1:
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: "gpu", Operator: corev1.TolerationOpExists})
	case 2:
		gpu := corev1.ResourceList{"example.com/gpu": resource.MustParse("1")}
		pod.Spec.Containers[0].Resources.Limits = gpu
		pod.Spec.Containers[0].Resources.Requests["example.com/gpu"] = gpu["example.com/gpu"]
	case 3:
		pod.Spec.InitContainers = []corev1.Container{{Name: "first", Image: "example.com/app", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}}}
	}
	p.rules(r, pod, app)
	return pod
}

// rules adds what concerns other pods.
func (p *pool) rules(r *rand.Rand, pod *corev1.Pod, app string) {
	key := func() string { return []string{corev1.LabelTopologyZone, corev1.LabelHostname}[r.IntN(2)] }
	other := func() string { return []string{app, app, "web", "db", "api"}[r.IntN(5)] }
	term := func() corev1.PodAffinityTerm {
		return corev1.PodAffinityTerm{TopologyKey: key(), LabelSelector: &metav1.LabelSelector{MatchLabels: p.app(other())}}
	}
	spread := func(key string, skew int32) {
		pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			MaxSkew: skew, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: p.app(app)},
		})
	}
	switch r.IntN(16) {
	case 0:
		pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 8080}}
	case 1:
		pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 8080, HostIP: []string{"127.0.0.1", "127.0.0.2"}[r.IntN(2)]}}
	case 2, 3:
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term()}}}
	case 4:
		pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term()}}}
	case 5:
		spread(key(), 1+r.Int32N(2))
	case 6:
		spread(corev1.LabelTopologyZone, 1)
		spread(corev1.LabelHostname, 1)
	case 7:
		spread(key(), 1)
		honor, least := corev1.NodeInclusionPolicyHonor, 1+r.Int32N(3)
		pod.Spec.TopologySpreadConstraints[0].NodeTaintsPolicy = &honor
		pod.Spec.TopologySpreadConstraints[0].MinDomains = &least
	}
}
