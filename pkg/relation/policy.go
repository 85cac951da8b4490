package relation

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// policyRules reads what guards pods. The peers of a NetworkPolicy are aside: that a
// pod may talk to another does not say that it does.
func policyRules() []Rule {
	return []Rule{
		{Name: "disruption-budget-selector", From: from(disruptionBudget), Relation: Serves, Via: Label, To: "Pod", Field: "spec.selector", Links: on(disruptionBudgetSelector)},
		{Name: "network-policy-selector", From: from(networkPolicy), Relation: Serves, Via: Label, To: "Pod", Field: "spec.podSelector", Links: on(networkPolicySelector)},
		{Name: "network-policy-ingress", From: from(networkPolicy), Relation: Needs, Via: Label, To: "Pod", Field: "spec.ingress[].from[]", Peer: true, Namespaces: true, Links: on(networkPolicyIngress)},
		{Name: "network-policy-egress", From: from(networkPolicy), Relation: Needs, Via: Label, To: "Pod", Field: "spec.egress[].to[]", Peer: true, Namespaces: true, Links: on(networkPolicyEgress)},
		{Name: "quota-class", From: from(resourceQuota), Relation: Needs, Via: Spec, To: "(class)", Field: "spec.scopeSelector.matchExpressions[].values[]", Links: on(quotaClasses)},
	}
}

// disruptionBudgetSelector: in policy/v1 a missing selector means no pod, an
// empty one every pod of the namespace.
func disruptionBudgetSelector(b *policyv1.PodDisruptionBudget, self object.Ref, emit EmitFunc) {
	if b.Spec.Selector != nil {
		emit(pods(b.Spec.Selector, self, "spec.selector"))
	}
}

// networkPolicySelector: an empty selector means every pod of the namespace, and
// a missing one is no different.
func networkPolicySelector(p *networkingv1.NetworkPolicy, self object.Ref, emit EmitFunc) {
	emit(pods(&p.Spec.PodSelector, self, "spec.podSelector"))
}

// pods is a link to the pods that a selector finds in the namespace of self.
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

// peer: a policy does not exist for the sake of those whom it lets in, and works
// without them. A selector of pods alone means those of the own namespace, one of namespaces
// alone all that is in them, and both together the pods that both find. What is
// missing or empty means everything: a list of peers that is not there, every pod
// of the namespace, every namespace. It names nobody and makes no edge, nor does a
// block of addresses.
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

// quotaClasses: a quota may count only what is of some classes. It counts nothing
// of one that is not there, and is none the worse for it.
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
