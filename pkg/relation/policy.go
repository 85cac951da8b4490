package relation

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// policyRules reads what protects pods. The peers of a NetworkPolicy are Rule.Peer edges: that a
// pod may connect to another does not mean that it does.
func policyRules() []Rule {
	return []Rule{
		{Name: "disruption-budget-selector", From: from(disruptionBudget), Relation: Serves, Via: Label, To: "Pod", Field: "spec.selector", Links: on(disruptionBudgetSelector)},
		{Name: "network-policy-selector", From: from(networkPolicy), Relation: Serves, Via: Label, To: "Pod", Field: "spec.podSelector", Links: on(networkPolicySelector)},
		{Name: "network-policy-ingress", From: from(networkPolicy), Relation: Needs, Via: Label, To: "Pod", Field: "spec.ingress[].from[]", Peer: true, Namespaces: true, Links: on(networkPolicyIngress)},
		{Name: "network-policy-egress", From: from(networkPolicy), Relation: Needs, Via: Label, To: "Pod", Field: "spec.egress[].to[]", Peer: true, Namespaces: true, Links: on(networkPolicyEgress)},
		{Name: "quota-class", From: from(resourceQuota), Relation: Needs, Via: Spec, To: "(class)", Field: "spec.scopeSelector.matchExpressions[].values[]", Links: on(quotaClasses)},
	}
}

// disruptionBudgetSelector: in policy/v1 an absent selector selects no pod, an empty one every pod
// of the namespace.
func disruptionBudgetSelector(b *policyv1.PodDisruptionBudget, self object.Ref, emit EmitFunc) {
	if b.Spec.Selector != nil {
		emit(pods(b.Spec.Selector, self, "spec.selector"))
	}
}

// networkPolicySelector: an empty or absent selector selects every pod of the namespace.
func networkPolicySelector(p *networkingv1.NetworkPolicy, self object.Ref, emit EmitFunc) {
	emit(pods(&p.Spec.PodSelector, self, "spec.podSelector"))
}

// pods returns a link to the pods that a selector matches in the namespace of self.
func pods(s *metav1.LabelSelector, self object.Ref, field string) Link {
	return podsIn(self.Namespace, FromLabelSelector(s), field)
}

func networkPolicyIngress(p *networkingv1.NetworkPolicy, self object.Ref, emit EmitFunc) {
	for i := range p.Spec.Ingress {
		for j := range p.Spec.Ingress[i].From {
			peer(&p.Spec.Ingress[i].From[j], self, at(at("spec.ingress[", i, "].from["), j, "]"), emit)
		}
	}
}

func networkPolicyEgress(p *networkingv1.NetworkPolicy, self object.Ref, emit EmitFunc) {
	for i := range p.Spec.Egress {
		for j := range p.Spec.Egress[i].To {
			peer(&p.Spec.Egress[i].To[j], self, at(at("spec.egress[", i, "].to["), j, "]"), emit)
		}
	}
}

// peer: a policy neither serves its peers nor fails without them. A podSelector alone selects in
// the policy's own namespace, a namespaceSelector alone all pods of its namespaces, and both
// together the pods that match both. Absent or empty peers and selectors allow everything; like an
// ipBlock, they name no object and make no edge.
func peer(p *networkingv1.NetworkPolicyPeer, self object.Ref, path string, emit EmitFunc) {
	chosen, in := p.PodSelector, p.NamespaceSelector
	say := func(l Link) { l.Optional = true; emit(l) }
	switch {
	case chosen != nil && !everything(chosen):
		sel, field := FromLabelSelector(chosen), path+".podSelector"
		switch {
		case in == nil:
			say(podsIn(self.Namespace, sel, field))
		case everything(in):
			l := podsIn("", sel, field)
			l.Target.AllNamespaces = true
			say(l)
		default:
			podsWhere(in, sel, field, say)
		}
	case in != nil && !everything(in):
		sel := FromLabelSelector(in)
		l := Link{Target: Target{Kind: namespace, Selector: sel}, Field: path + ".namespaceSelector", Value: sel.String()}
		names, ok := namespaceNames(in)
		if !ok {
			say(l)
		}
		for _, name := range names {
			l.Target = Target{Kind: namespace, Name: name, IfPresent: true}
			say(l)
		}
	}
}

// quotaClasses is ifPresent: a quota may count only the objects of some classes, and a class that
// does not exist has none.
func quotaClasses(q *corev1.ResourceQuota, _ object.Ref, emit EmitFunc) {
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

// quotaScope returns the kind of the classes that a scope selects, if any.
func quotaScope(s corev1.ResourceQuotaScope) (schema.GroupKind, bool) {
	switch s {
	case corev1.ResourceQuotaScopePriorityClass:
		return priorityClass, true
	case corev1.ResourceQuotaScopeVolumeAttributesClass:
		return attributesClass, true
	}
	return schema.GroupKind{}, false
}
