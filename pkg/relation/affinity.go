package relation

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// affinityRules reads beside whom pods want to run, and beside whom not. It is
// asked of the topmost template alone, not of each of a thousand pods; what keeps
// the pods of one workload apart, as most terms do, names nobody else and is no
// edge; neither is a selector that is empty. Nothing is said of the nodes that a
// pod may run on (nodeSelector, nodeAffinity): those are pods times nodes, and the
// one that counts is spec.nodeName.
func affinityRules() []Rule {
	carriers := carriers()
	return []Rule{
		{Name: "pod-affinity", From: carriers, Relation: Needs, Via: Label, To: "Pod", Field: "spec.affinity.podAffinity", Aside: true, Namespaces: true, Links: onTopTemplate(podAffinity)},
		{Name: "pod-anti-affinity", From: carriers, Relation: Needs, Via: Label, To: "Pod", Field: "spec.affinity.podAntiAffinity", Aside: true, Namespaces: true, Links: onTopTemplate(podAntiAffinity)},
		{Name: "pod-spread", From: carriers, Relation: Needs, Via: Label, To: "Pod", Field: "spec.topologySpreadConstraints[].labelSelector", Aside: true, Links: onTopTemplate(podSpread)},
	}
}

// onTopTemplate reads the template that no other of ours carries for the object.
func onTopTemplate(read func(template, Emit)) func(object.Object, Emit) {
	links := onTemplate(read)
	return func(o object.Object, emit Emit) {
		if !repeated(o) {
			links(o, emit)
		}
	}
}

// repeated says that the object is a copy of what its controller says of pods. A
// custom resource (a Rollout) need not say it as we read it.
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

func podAffinity(t template, emit Emit) {
	if t.spec.Affinity == nil || t.spec.Affinity.PodAffinity == nil {
		return
	}
	a, path := t.spec.Affinity.PodAffinity, t.at+"spec.affinity.podAffinity."
	for i := range a.RequiredDuringSchedulingIgnoredDuringExecution {
		t.beside(&a.RequiredDuringSchedulingIgnoredDuringExecution[i], at(path+"requiredDuringSchedulingIgnoredDuringExecution[", i, "]"), false, emit)
	}
	t.preferred(a.PreferredDuringSchedulingIgnoredDuringExecution, path, emit)
}

// podAntiAffinity: whoever wants to be away from others works without them.
func podAntiAffinity(t template, emit Emit) {
	if t.spec.Affinity == nil || t.spec.Affinity.PodAntiAffinity == nil {
		return
	}
	a, path := t.spec.Affinity.PodAntiAffinity, t.at+"spec.affinity.podAntiAffinity."
	for i := range a.RequiredDuringSchedulingIgnoredDuringExecution {
		t.beside(&a.RequiredDuringSchedulingIgnoredDuringExecution[i], at(path+"requiredDuringSchedulingIgnoredDuringExecution[", i, "]"), true, emit)
	}
	t.preferred(a.PreferredDuringSchedulingIgnoredDuringExecution, path, emit)
}

func (t template) preferred(terms []corev1.WeightedPodAffinityTerm, path string, emit Emit) {
	for i := range terms {
		t.beside(&terms[i].PodAffinityTerm, at(path+"preferredDuringSchedulingIgnoredDuringExecution[", i, "].podAffinityTerm"), true, emit)
	}
}

func podSpread(t template, emit Emit) {
	for i := range t.spec.TopologySpreadConstraints {
		c := &t.spec.TopologySpreadConstraints[i]
		if sel := t.others(c.LabelSelector, c.MatchLabelKeys, nil, true); sel != nil {
			l := podsIn(t.namespace, sel, at(t.at+"spec.topologySpreadConstraints[", i, "].labelSelector"))
			l.Optional = true
			emit(l)
		}
	}
}

// beside emits who a term means. Its namespaces are those that it lists and those
// that its selector finds; its own where it says neither; all of them where the
// selector is empty.
func (t template) beside(term *corev1.PodAffinityTerm, path string, optional bool, emit Emit) {
	in := term.Namespaces
	if len(in) == 0 && term.NamespaceSelector == nil {
		in = []string{t.namespace}
	}
	own := slices.Contains(in, t.namespace) || term.NamespaceSelector != nil
	sel := t.others(term.LabelSelector, term.MatchLabelKeys, term.MismatchLabelKeys, own)
	if sel == nil {
		return
	}
	say := func(l Link) { l.Optional = optional; emit(l) }
	if s := term.NamespaceSelector; s != nil && everything(s) {
		l := podsIn("", sel, path+".labelSelector")
		l.Target.AllNamespaces = true
		say(l)
		return
	}
	for _, namespace := range in {
		say(podsIn(namespace, sel, path+".labelSelector"))
	}
	if term.NamespaceSelector != nil {
		podsWhere(term.NamespaceSelector, sel, path+".labelSelector", say)
	}
}

// others is the selector of a term, with the labels that it takes over from the
// pod; nil where it names nobody, or the pods of the template itself.
func (t template) others(s *metav1.LabelSelector, same, other []string, own bool) *Selector {
	if s == nil || everything(s) {
		return nil
	}
	merged := &metav1.LabelSelector{MatchLabels: maps.Clone(s.MatchLabels), MatchExpressions: slices.Clip(s.MatchExpressions)}
	merge := func(keys []string, operator metav1.LabelSelectorOperator) {
		for _, key := range keys {
			if v, ok := t.meta.Labels[key]; ok {
				merged.MatchExpressions = append(merged.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: []string{v}})
			}
		}
	}
	merge(same, metav1.LabelSelectorOpIn)
	merge(other, metav1.LabelSelectorOpNotIn)
	if sel, err := metav1.LabelSelectorAsSelector(merged); err != nil || own && sel.Matches(labels.Set(t.meta.Labels)) {
		return nil
	}
	return FromLabelSelector(merged)
}
