package check

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Container is a container of a workload's pods.
type Container struct {
	*corev1.Container
	// Spec is the pod spec that has it.
	Spec *corev1.PodSpec
	// On is the object that declares it: the workload, or a pod where the workload's template
	// lacks it. Path is its place there.
	On   object.Ref
	Path string
	// Init is set for an init container that ends before the others start.
	Init bool
	// Injected is set where the workload's template lacks it.
	Injected bool
}

// Containers returns the containers of a workload's pods as they run, or of the template where
// there are no pods, in order. A container that differs between pods comes once in each form.
func (wl *Workload) Containers() []Container {
	var out []Container
	for _, spec := range wl.Specs() {
		add := func(list []corev1.Container, field string, init bool) {
			for i := range list {
				c := Container{Container: &list[i], Spec: spec, On: wl.Ref, Path: fmt.Sprintf("%s.%s[%s]", wl.SpecPath(), field, list[i].Name)}
				c.Init = init && (list[i].RestartPolicy == nil || *list[i].RestartPolicy != corev1.ContainerRestartPolicyAlways)
				if wl.Template != nil && !HasContainer(&wl.Template.Spec, list[i].Name) {
					c.Injected, c.Path = true, fmt.Sprintf("spec.%s[%s]", field, list[i].Name)
					c.On = wl.templateRef(spec)
				}
				out = append(out, c)
			}
		}
		add(spec.InitContainers, "initContainers", true)
		add(spec.Containers, "containers", false)
	}
	return out
}

// templateRef returns the pod that has a spec.
func (wl *Workload) templateRef(spec *corev1.PodSpec) object.Ref {
	for _, p := range wl.Pods {
		if &p.Spec == spec {
			return PodRef(p)
		}
	}
	return wl.Ref
}

// Describe names the container in a sentence.
func (c *Container) Describe() string {
	switch {
	case c.Injected:
		return "container " + c.Name + ", which was injected,"
	case c.Init:
		return "init container " + c.Name
	}
	return "container " + c.Name
}

// EachContainer calls visit for the containers of a pod, with their places:
// initContainers[setup].
func EachContainer(spec *corev1.PodSpec, call func(path string, c *corev1.Container)) {
	for i := range spec.InitContainers {
		call("initContainers["+spec.InitContainers[i].Name+"]", &spec.InitContainers[i])
	}
	for i := range spec.Containers {
		call("containers["+spec.Containers[i].Name+"]", &spec.Containers[i])
	}
	for i := range spec.EphemeralContainers {
		call("ephemeralContainers["+spec.EphemeralContainers[i].Name+"]", (*corev1.Container)(&spec.EphemeralContainers[i].EphemeralContainerCommon))
	}
}

// HasContainer reports whether pods of a spec have a container, or an init container, of a
// name.
func HasContainer(spec *corev1.PodSpec, name string) bool {
	hasName := func(c corev1.Container) bool { return c.Name == name }
	return slices.ContainsFunc(spec.Containers, hasName) || slices.ContainsFunc(spec.InitContainers, hasName)
}
