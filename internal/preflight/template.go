package preflight

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// podOf is a pod of a template as the API server would keep it: as a dry run said, or
// with the defaults that it gives.
func (f *evaluation) podOf(it *Item, template *corev1.PodTemplateSpec) *corev1.Pod {
	a := f.podDryRuns[it.Ref]
	if a == nil && it.Ref.GroupKind() == check.PodKind {
		a = f.dryRuns[it.Ref]
	}
	p := &corev1.Pod{}
	if a == nil || a.Admitted == nil || runtime.DefaultUnstructuredConverter.FromUnstructured(a.Admitted.Object, p) != nil {
		p = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: template.Labels, Annotations: template.Annotations}, Spec: template.Spec}
	}
	p = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: p.Labels, Annotations: p.Annotations}, Spec: p.Spec}
	p = p.DeepCopy()
	p.Namespace = it.Ref.Namespace
	f.defaults(p)
	return p
}

// defaults fills in what the API server and its admission plugins would, as far as it
// matters here. Of a pod that was admitted there is nothing left to fill in, but for what
// the batch brings along.
func (f *evaluation) defaults(p *corev1.Pod) {
	s := &p.Spec
	if s.SchedulerName == "" {
		s.SchedulerName = corev1.DefaultSchedulerName
	}
	if s.RestartPolicy == "" {
		s.RestartPolicy = corev1.RestartPolicyAlways
	}
	if s.ServiceAccountName == "" {
		s.ServiceAccountName = "default"
	}
	for _, c := range containers(s) {
		containerDefaults(c, s.HostNetwork)
	}
	f.priority(s)
	if s.RuntimeClassName != nil && s.Overhead == nil {
		for _, r := range together[nodev1.RuntimeClass](f, runtimeKind) {
			if r.Name == *s.RuntimeClassName && r.Overhead != nil {
				s.Overhead = r.Overhead.PodFixed
			}
		}
	}
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		tolerate(s, key, corev1.TaintEffectNoExecute)
	}
	f.limitDefaults(p)
}

func containerDefaults(c *corev1.Container, hostNetwork bool) {
	for i := range c.Ports {
		port := &c.Ports[i]
		if port.Protocol == "" {
			port.Protocol = corev1.ProtocolTCP
		}
		if hostNetwork && port.HostPort == 0 {
			port.HostPort = port.ContainerPort
		}
	}
	for name, limit := range c.Resources.Limits {
		if _, ok := c.Resources.Requests[name]; !ok {
			if c.Resources.Requests == nil {
				c.Resources.Requests = corev1.ResourceList{}
			}
			c.Resources.Requests[name] = limit.DeepCopy()
		}
	}
}

// priority resolves the class as the Priority plugin does: a pod that names none gets the
// global default.
func (f *evaluation) priority(s *corev1.PodSpec) {
	if s.Priority != nil {
		return
	}
	for _, c := range together[schedulingv1.PriorityClass](f, priorityKind) {
		if s.PriorityClassName == c.Name || s.PriorityClassName == "" && c.GlobalDefault {
			s.PriorityClassName, s.Priority = c.Name, &c.Value
			if s.PreemptionPolicy == nil {
				s.PreemptionPolicy = c.PreemptionPolicy
			}
			return
		}
	}
}

// tolerate adds a toleration of a taint, unless there is one that covers it.
func tolerate(s *corev1.PodSpec, key string, effect corev1.TaintEffect) {
	covers := func(t corev1.Toleration) bool {
		return (t.Key == key || t.Key == "" && t.Operator == corev1.TolerationOpExists) && (t.Effect == effect || t.Effect == "")
	}
	if !slices.ContainsFunc(s.Tolerations, covers) {
		s.Tolerations = append(s.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect})
	}
}
