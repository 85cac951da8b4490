package preflight

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	resourcehelper "k8s.io/component-helpers/resource"
)

// fitsInPlaceOf says that a new pod of a crew can be wherever an old one was, once that has gone:
// it asks for no more of anything, and chooses nodes in the same way. A pod that looks at
// where others are (to be near them, or spread) is none.
func fitsInPlaceOf(c *podSet, old *corev1.Pod) bool {
	a, b := &c.pod.Spec, &old.Spec
	if len(a.ResourceClaims) > 0 || a.HostNetwork != b.HostNetwork || a.PriorityClassName != b.PriorityClassName || a.SchedulerName != cmp.Or(b.SchedulerName, corev1.DefaultSchedulerName) {
		return false
	}
	if slices.ContainsFunc(a.TopologySpreadConstraints, func(t corev1.TopologySpreadConstraint) bool { return t.WhenUnsatisfiable == corev1.DoNotSchedule }) {
		return false
	}
	if a.Affinity != nil && a.Affinity.PodAffinity != nil && len(a.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
		return false
	}
	mine, other := affinityOf(a), affinityOf(b)
	if c.of.Kind == "DaemonSet" { // each is bound to its node
		mine.NodeAffinity, other.NodeAffinity = nil, nil
	}
	if !equality.Semantic.DeepEqual(mine, other) || !equality.Semantic.DeepEqual(a.NodeSelector, b.NodeSelector) || !tolerates(a, b) {
		return false
	}
	return !asksMore(c.pod, old) && subset(hostPorts(a), hostPorts(b)) && subset(claimsIn(c, a), claimsIn(c, b))
}

func affinityOf(s *corev1.PodSpec) corev1.Affinity {
	if s.Affinity == nil {
		return corev1.Affinity{}
	}
	return *s.Affinity
}

// tolerates says that a pod tolerates all that an old one does.
func tolerates(a, b *corev1.PodSpec) bool {
	return !slices.ContainsFunc(b.Tolerations, func(t corev1.Toleration) bool {
		return !slices.ContainsFunc(a.Tolerations, func(mine corev1.Toleration) bool {
			return mine.Key == t.Key && mine.Operator == t.Operator && mine.Value == t.Value && (mine.Effect == t.Effect || mine.Effect == "")
		}) && t.Key != corev1.TaintNodeNotReady && t.Key != corev1.TaintNodeUnreachable
	})
}

func asksMore(a, b *corev1.Pod) bool {
	have := resourcehelper.PodRequests(b, resourcehelper.PodResourcesOptions{})
	for name, q := range resourcehelper.PodRequests(a, resourcehelper.PodResourcesOptions{}) {
		if q.Cmp(have[name]) > 0 {
			return true
		}
	}
	return false
}

type hostPort struct {
	ip, protocol string
	port         int32
}

func hostPorts(s *corev1.PodSpec) []hostPort {
	var out []hostPort
	for _, list := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			for _, p := range list[i].Ports {
				if p.HostPort != 0 {
					out = append(out, hostPort{p.HostIP, string(p.Protocol), p.HostPort})
				}
			}
		}
	}
	return out
}

// claimsIn are the claims that a pod mounts, but for those that each pod of a StatefulSet
// has of its own.
func claimsIn(c *podSet, s *corev1.PodSpec) []string {
	var out []string
	for i := range s.Volumes {
		v := &s.Volumes[i]
		if v.PersistentVolumeClaim != nil && !slices.ContainsFunc(c.templates, func(t corev1.PersistentVolumeClaim) bool { return t.Name == v.Name }) {
			out = append(out, v.PersistentVolumeClaim.ClaimName)
		}
	}
	return out
}

func subset[T comparable](a, of []T) bool {
	return !slices.ContainsFunc(a, func(v T) bool { return !slices.Contains(of, v) })
}
