package relation

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// policyRules reads what guards pods. The peers of a NetworkPolicy are no edges:
// that a pod may talk to another does not say that it does.
func policyRules() []Rule {
	return []Rule{
		{Name: "disruption-budget-selector", From: from(disruptionBudget), Relation: Serves, Via: Label, To: "Pod", Field: "spec.selector", Links: on(disruptionBudgetSelector)},
		{Name: "network-policy-selector", From: from(networkPolicy), Relation: Serves, Via: Label, To: "Pod", Field: "spec.podSelector", Links: on(networkPolicySelector)},
		{Name: "quota-class", From: from(resourceQuota), Relation: Needs, Via: Spec, To: "(class)", Field: "spec.scopeSelector.matchExpressions[].values[]", Links: on(quotaClasses)},
	}
}

// disruptionBudgetSelector: in policy/v1 a missing selector means no pod, an
// empty one every pod of the namespace.
func disruptionBudgetSelector(b *policyv1.PodDisruptionBudget, self object.Ref, emit Emit) {
	if b.Spec.Selector != nil {
		emit(pods(b.Spec.Selector, self, "spec.selector"))
	}
}

// networkPolicySelector: an empty selector means every pod of the namespace, and
// a missing one is no different.
func networkPolicySelector(p *networkingv1.NetworkPolicy, self object.Ref, emit Emit) {
	emit(pods(&p.Spec.PodSelector, self, "spec.podSelector"))
}

// pods is a link to the pods that a selector finds in the namespace of self.
func pods(s *metav1.LabelSelector, self object.Ref, field string) Link {
	sel := FromLabelSelector(s)
	return Link{Target: Target{Kind: pod, Namespace: self.Namespace, Selector: sel}, Field: field, Value: sel.String()}
}

// quotaClasses: a quota may count only what is of some classes. It counts nothing
// of one that is not there, and is none the worse for it.
func quotaClasses(q *corev1.ResourceQuota, _ object.Ref, emit Emit) {
	if q.Spec.ScopeSelector == nil {
		return
	}
	for i, e := range q.Spec.ScopeSelector.MatchExpressions {
		class, ok := quotaScope(e.ScopeName)
		if !ok || e.Operator != corev1.ScopeSelectorOpIn {
			continue
		}
		for j, name := range e.Values {
			if name != "" {
				l := to(class, "", name, at(at("spec.scopeSelector.matchExpressions[", i, "].values["), j, "]"))
				l.Optional = true
				emit(l)
			}
		}
	}
}

// quotaScope is the kind of the classes that a scope names, if it names any.
func quotaScope(s corev1.ResourceQuotaScope) (schema.GroupKind, bool) {
	switch s {
	case corev1.ResourceQuotaScopePriorityClass:
		return priorityClass, true
	case corev1.ResourceQuotaScopeVolumeAttributesClass:
		return attributesClass, true
	}
	return schema.GroupKind{}, false
}
