package relation

import (
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// affinityRules reads pod affinity and anti-affinity. It reads only the topmost template, not each
// of its pods. Most terms select the pods of the workload itself, which makes no edge. An empty
// selector selects all pods of its namespaces, an absent one none. nodeSelector and nodeAffinity
// make no edges: they would be pods times nodes, and the node that matters is spec.nodeName.
func affinityRules() []Rule {
	carriers := carriers()
	return []Rule{
		{Name: "pod-affinity", From: carriers, Relation: Needs, Via: Label, To: "Pod", Field: "spec.affinity.podAffinity", Peer: true, Namespaces: true, Links: onTopTemplate(podAffinity)},
		{Name: "pod-anti-affinity", From: carriers, Relation: Needs, Via: Label, To: "Pod", Field: "spec.affinity.podAntiAffinity", Peer: true, Namespaces: true, Links: onTopTemplate(podAntiAffinity)},
		{Name: "pod-spread", From: carriers, Relation: Needs, Via: Label, To: "Pod", Field: "spec.topologySpreadConstraints[].labelSelector", Peer: true, Links: onTopTemplate(podSpread)},
	}
}

// onTopTemplate reads the template unless an object that was read carries the same one, and
// excludes the pods of the template itself.
func onTopTemplate(read func(template, EmitFunc)) func(object.Object, EmitFunc) {
	links := onTemplate(read)
	return func(o object.Object, emit EmitFunc) {
		if !repeated(o) {
			links(o, excludingSelf(o, emit))
		}
	}
}

// excludingSelf excludes the object's own pods from links, and drops links that can match no other
// pod.
func excludingSelf(o object.Object, emit EmitFunc) EmitFunc {
	own := ownPods(o)
	if own == nil {
		return emit
	}
	carried := labels.Set(templateOf(o).meta.Labels)
	return func(l Link) {
		t := &l.Target
		near := t.Namespace == o.Namespace
		s, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchLabels: t.Selector.Labels, MatchExpressions: t.Selector.Expressions})
		if (near || t.AllNamespaces || t.Namespaces != nil) && err == nil && s.Matches(carried) {
			if near && t.Selector.isWithin(own) {
				return
			}
			t.Except = own
		}
		emit(l)
	}
}

// ownPods returns a selector of the pods of a workload: its own selector without the revision hash,
// or all labels of its template if it has none. It is nil for a pod and for a template without an
// owner.
func ownPods(o object.Object) *Selector {
	t := templateOf(o)
	if t.meta == nil || o.GroupKind() == pod || o.GroupKind() == podTemplate {
		return nil
	}
	own := &Selector{Labels: t.meta.Labels}
	if s := podSelector(o); s != nil && !everything(s) {
		own = FromLabelSelector(s)
	}
	own.Labels = maps.Clone(own.Labels)
	maps.DeleteFunc(own.Labels, func(key, _ string) bool { return strings.HasSuffix(key, appsv1.DefaultDeploymentUniqueLabelKey) })
	return own
}

// repeated reports whether the object is a copy of its controller's pod template. A custom
// controller (a Rollout) may carry the template in a shape that the rules do not read, so its copy
// counts.
func repeated(o object.Object) bool {
	controller := metav1.GetControllerOfNoCopy(o.Meta)
	if controller == nil {
		return false
	}
	switch o.GroupKind() {
	case pod:
		return true
	case replicaSet:
		return controller.Kind == deployment.Kind || retired(o)
	case job:
		return controller.Kind == cronJob.Kind
	}
	return false
}

func podAffinity(t template, emit EmitFunc) {
	if t.spec.Affinity == nil || t.spec.Affinity.PodAffinity == nil {
		return
	}
	a, path := t.spec.Affinity.PodAffinity, t.at+"spec.affinity.podAffinity."
	// If each required term selects the pod itself, the scheduler lets the first pod run alone.
	required := a.RequiredDuringSchedulingIgnoredDuringExecution
	onlySelf := !slices.ContainsFunc(required, func(term corev1.PodAffinityTerm) bool { return !t.itself(&term) })
	for i := range required {
		t.emitAffinity(&required[i], at(path+"requiredDuringSchedulingIgnoredDuringExecution[", i, "]"), onlySelf, emit)
	}
	t.preferred(a.PreferredDuringSchedulingIgnoredDuringExecution, path, emit)
}

// podAntiAffinity is optional: the pod works without the pods that it avoids.
func podAntiAffinity(t template, emit EmitFunc) {
	if t.spec.Affinity == nil || t.spec.Affinity.PodAntiAffinity == nil {
		return
	}
	a, path := t.spec.Affinity.PodAntiAffinity, t.at+"spec.affinity.podAntiAffinity."
	for i := range a.RequiredDuringSchedulingIgnoredDuringExecution {
		t.emitAffinity(&a.RequiredDuringSchedulingIgnoredDuringExecution[i], at(path+"requiredDuringSchedulingIgnoredDuringExecution[", i, "]"), true, emit)
	}
	t.preferred(a.PreferredDuringSchedulingIgnoredDuringExecution, path, emit)
}

func (t template) preferred(terms []corev1.WeightedPodAffinityTerm, path string, emit EmitFunc) {
	for i := range terms {
		t.emitAffinity(&terms[i].PodAffinityTerm, at(path+"preferredDuringSchedulingIgnoredDuringExecution[", i, "].podAffinityTerm"), true, emit)
	}
}

func podSpread(t template, emit EmitFunc) {
	for i := range t.spec.TopologySpreadConstraints {
		c := &t.spec.TopologySpreadConstraints[i]
		if sel := t.merged(c.LabelSelector, c.MatchLabelKeys, nil); sel != nil {
			l := podsIn(t.namespace, FromLabelSelector(sel), at(t.at+"spec.topologySpreadConstraints[", i, "].labelSelector"))
			l.Optional = true
			emit(l)
		}
	}
}

// emitAffinity emits links to the pods that a term selects, in the namespaces that it lists and
// that its selector matches. With neither it is the pod's own namespace; with an empty selector,
// all.
func (t template) emitAffinity(term *corev1.PodAffinityTerm, path string, optional bool, emit EmitFunc) {
	merged := t.merged(term.LabelSelector, term.MatchLabelKeys, term.MismatchLabelKeys)
	if merged == nil {
		return
	}
	sel := FromLabelSelector(merged)
	say := func(l Link) { l.Optional = optional; emit(l) }
	if s := term.NamespaceSelector; s != nil && everything(s) {
		l := podsIn("", sel, path+".labelSelector")
		l.Target.AllNamespaces = true
		say(l)
		return
	}
	for _, namespace := range t.namespaces(term) {
		say(podsIn(namespace, sel, path+".labelSelector"))
	}
	if term.NamespaceSelector != nil {
		podsWhere(term.NamespaceSelector, sel, path+".labelSelector", say)
	}
}

// namespaces returns those that a term lists, or the pod's own if it lists none.
func (t template) namespaces(term *corev1.PodAffinityTerm) []string {
	if len(term.Namespaces) == 0 && term.NamespaceSelector == nil {
		return []string{t.namespace}
	}
	return term.Namespaces
}

// itself reports whether a term selects the pods of the template. It cannot resolve a selector of
// namespaces.
func (t template) itself(term *corev1.PodAffinityTerm) bool {
	s, err := metav1.LabelSelectorAsSelector(t.merged(term.LabelSelector, term.MatchLabelKeys, term.MismatchLabelKeys))
	return err == nil && s.Matches(labels.Set(t.meta.Labels)) &&
		(term.NamespaceSelector != nil && everything(term.NamespaceSelector) || slices.Contains(t.namespaces(term), t.namespace))
}

// merged returns the selector of a term with the labels that it copies from the pod, or nil if it
// is malformed or selects nothing.
func (t template) merged(s *metav1.LabelSelector, same, other []string) *metav1.LabelSelector {
	if s == nil {
		return nil
	}
	merged := &metav1.LabelSelector{MatchLabels: s.MatchLabels, MatchExpressions: slices.Clip(s.MatchExpressions)}
	merge := func(keys []string, operator metav1.LabelSelectorOperator) {
		for _, key := range keys {
			if v, ok := t.meta.Labels[key]; ok {
				merged.MatchExpressions = append(merged.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: []string{v}})
			}
		}
	}
	merge(same, metav1.LabelSelectorOpIn)
	merge(other, metav1.LabelSelectorOpNotIn)
	if _, err := metav1.LabelSelectorAsSelector(merged); err != nil {
		return nil
	}
	return merged
}
