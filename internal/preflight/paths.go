package preflight

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// spec is the path of the pod's spec in the object that runs it, as people write it there.
func (c *podSet) spec() string {
	switch {
	case c.by != "":
		return "pod"
	case c.of.GroupKind() == check.PodKind:
		return "spec"
	}
	return c.template() + ".spec"
}

// template is the path of the pod's template.
func (c *podSet) template() string {
	switch {
	case c.by != "" || c.of.GroupKind() == check.PodKind:
		return ""
	case c.of.Kind == "CronJob":
		return "spec.jobTemplate.spec.template"
	}
	return "spec.template"
}

// containers returns the containers of a pod, those that run before the others first.
func containers(s *corev1.PodSpec) []*corev1.Container {
	out := make([]*corev1.Container, 0, len(s.InitContainers)+len(s.Containers))
	for i := range s.InitContainers {
		out = append(out, &s.InitContainers[i])
	}
	for i := range s.Containers {
		out = append(out, &s.Containers[i])
	}
	return out
}
