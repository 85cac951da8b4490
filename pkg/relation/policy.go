package relation

import (
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// policyRules reads what guards pods.
func policyRules() []Rule {
	return []Rule{
		{Name: "disruption-budget-selector", From: from(disruptionBudget), Relation: Serves, Via: Label, To: "Pod", Field: "spec.selector", Links: on(disruptionBudgetSelector)},
		{Name: "network-policy-selector", From: from(networkPolicy), Relation: Serves, Via: Label, To: "Pod", Field: "spec.podSelector", Links: on(networkPolicySelector)},
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
