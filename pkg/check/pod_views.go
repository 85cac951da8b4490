package check

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// PodView is a pod, or the template of pods, as rules of security look at it.
type PodView struct {
	// ref is the pod, or the workload of a template.
	Ref  object.Ref
	Meta *metav1.ObjectMeta
	Spec *corev1.PodSpec
	Live bool
}

// PodViews returns the pods of a workload as they run, one of each different spec; of no
// pods, the template. What counts is how they run: admission may have changed them.
func PodViews(wl *Workload) []PodView {
	var out []PodView
	for _, spec := range wl.Specs() {
		v := PodView{Ref: wl.Ref, Meta: &metav1.ObjectMeta{}, Spec: spec}
		for _, p := range wl.Pods {
			if &p.Spec == spec {
				v.Ref, v.Meta, v.Live = object.Ref{Kind: "Pod", Namespace: p.Namespace, Name: p.Name}, &p.ObjectMeta, true
			}
		}
		if !v.Live && wl.Template != nil {
			v.Meta = &wl.Template.ObjectMeta
		}
		out = append(out, v)
	}
	return out
}

// PodPlan returns the template of a workload, which is what people wrote; of a bare pod,
// the pod.
func PodPlan(wl *Workload) (PodView, bool) {
	if wl.Template != nil {
		return PodView{Ref: wl.Ref, Meta: &wl.Template.ObjectMeta, Spec: &wl.Template.Spec}, true
	}
	views := PodViews(wl)
	if len(views) == 0 {
		return PodView{}, false
	}
	return views[0], true
}

// PodPatch is a line of a pod's spec as a merge patch of its workload.
func PodPatch(wl *Workload, line string) string {
	var b strings.Builder
	depth := 0
	for word := range strings.SplitSeq(wl.SpecPath(), ".") {
		b.WriteString(strings.Repeat("  ", depth) + word + ":\n")
		depth++
	}
	b.WriteString(strings.Repeat("  ", depth) + line + "\n")
	return b.String()
}
