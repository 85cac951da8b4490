package check

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// podView is a pod, or the template of pods, as rules of security look at it.
type podView struct {
	// ref is the pod, or the workload of a template.
	ref  object.Ref
	meta *metav1.ObjectMeta
	spec *corev1.PodSpec
	live bool
}

// podViews returns the pods of a workload as they run, one of each different spec; of no
// pods, the template. What counts is how they run: admission may have changed them.
func podViews(wl *Workload) []podView {
	var out []podView
	for _, spec := range wl.Specs() {
		v := podView{ref: wl.Ref, meta: &metav1.ObjectMeta{}, spec: spec}
		for _, p := range wl.Pods {
			if &p.Spec == spec {
				v.ref, v.meta, v.live = object.Ref{Kind: "Pod", Namespace: p.Namespace, Name: p.Name}, &p.ObjectMeta, true
			}
		}
		if !v.live && wl.Template != nil {
			v.meta = &wl.Template.ObjectMeta
		}
		out = append(out, v)
	}
	return out
}

// podPlan returns the template of a workload, which is what people wrote; of a bare pod,
// the pod.
func podPlan(wl *Workload) (podView, bool) {
	if wl.Template != nil {
		return podView{ref: wl.Ref, meta: &wl.Template.ObjectMeta, spec: &wl.Template.Spec}, true
	}
	views := podViews(wl)
	if len(views) == 0 {
		return podView{}, false
	}
	return views[0], true
}

// podPatch is a line of a pod's spec as a merge patch of its workload.
func podPatch(wl *Workload, line string) string {
	var b strings.Builder
	depth := 0
	for word := range strings.SplitSeq(wl.specPath(), ".") {
		b.WriteString(strings.Repeat("  ", depth) + word + ":\n")
		depth++
	}
	b.WriteString(strings.Repeat("  ", depth) + line + "\n")
	return b.String()
}

// eachContainer calls for the containers of a pod, with where they are:
// initContainers[setup].
func eachContainer(spec *corev1.PodSpec, call func(path string, c *corev1.Container)) {
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
