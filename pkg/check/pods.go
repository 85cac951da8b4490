package check

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// PodRef is the reference of a pod.
func PodRef(p *corev1.Pod) object.Ref {
	return object.Ref{Kind: "Pod", Namespace: p.Namespace, Name: p.Name}
}

// PodRefs are the references of pods.
func PodRefs(pods []*corev1.Pod) []object.Ref {
	out := make([]object.Ref, 0, len(pods))
	for _, p := range pods {
		out = append(out, PodRef(p))
	}
	return out
}

// PodReady reports whether a pod is ready, and not terminating.
func PodReady(p *corev1.Pod) bool {
	return p.DeletionTimestamp == nil && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// HasEnded reports whether a pod has run to its end.
func HasEnded(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// IsMirrorPod reports whether a pod is the mirror of a static pod, which a kubelet runs from a
// file.
func IsMirrorPod(p *metav1.ObjectMeta) bool {
	_, mirror := p.Annotations[corev1.MirrorPodAnnotationKey]
	return mirror || slices.ContainsFunc(p.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "Node" && o.APIVersion == "v1" })
}

// BudgetField returns the field by which a budget limits evictions, and its value.
func BudgetField(b *policyv1.PodDisruptionBudget) (field, value string) {
	switch {
	case b.Spec.MaxUnavailable != nil:
		return "spec.maxUnavailable", b.Spec.MaxUnavailable.String()
	case b.Spec.MinAvailable != nil:
		return "spec.minAvailable", b.Spec.MinAvailable.String()
	}
	return "spec", ""
}

// Selects reports whether a selector matches labels; one that is not set or not valid selects
// nothing.
func Selects(s *metav1.LabelSelector, set map[string]string) bool {
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(set))
}

// SelectsEverything reports whether a selector excludes nothing, as one does that is not set.
func SelectsEverything(s *metav1.LabelSelector) bool {
	return s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0
}

// PodView is a pod, or the template of pods, as the rules about security check it.
type PodView struct {
	// ref is the pod, or the workload of a template.
	Ref  object.Ref
	Meta *metav1.ObjectMeta
	Spec *corev1.PodSpec
	Live bool
}

// PodViews returns the pods of a workload as they run, one of each different spec; the
// template where there are no pods. Pods take precedence, since admission may have changed
// them.
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

// PodPlan returns the template of a workload, as users wrote it; for a bare pod, the pod.
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

// PodPatch returns a merge patch of a workload for one line of its pods' spec.
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
