package preflight

import "github.com/kubectl-sysop/kubectl-sysop/pkg/check"

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
