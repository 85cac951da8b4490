// Package netpolicy says which connections the NetworkPolicies of a cluster allow, by the rules of
// networking.k8s.io/v1: a pod that no policy selects for a direction is not restricted in it, and
// the policies that select it add up. Policies of other kinds are not its business.
package netpolicy

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Pod is one end of a connection.
type Pod struct {
	Namespace string
	// NamespaceLabels are the labels of the namespace; nil where it was not read.
	NamespaceLabels map[string]string
	Labels          map[string]string
	// HostNetwork: the policies do not apply to it, and its address is that of its node.
	HostNetwork bool
}

// Port is the port of the pod that is connected to.
type Port struct {
	Protocol corev1.Protocol // empty for TCP
	Number   int32
	// Names are those that containers of the pod give the port.
	Names []string
}

// Verdict is whether a connection is allowed.
type Verdict string

// The verdicts.
const (
	Allowed Verdict = "allowed"
	Denied  Verdict = "denied"
	// Unknown means that only an address range, or a label of a namespace that was not read, may allow it.
	Unknown Verdict = "unknown"
)

// Answer is a verdict, with the policies that restrict the pod; none if it is not restricted.
type Answer struct {
	Verdict  Verdict
	Policies []*networkingv1.NetworkPolicy
}

// Ingress says whether the policies of the namespace of to let from connect.
func Ingress(policies []*networkingv1.NetworkPolicy, from, to Pod, port Port) Answer {
	return decide(policies, to, networkingv1.PolicyTypeIngress, func(p *networkingv1.NetworkPolicy) Verdict {
		out := Denied
		for _, r := range p.Spec.Ingress {
			out = better(out, rule(p.Namespace, r.From, r.Ports, from, port))
		}
		return out
	})
}

// Egress says whether the policies of the namespace of from let it connect to to.
func Egress(policies []*networkingv1.NetworkPolicy, from, to Pod, port Port) Answer {
	return decide(policies, from, networkingv1.PolicyTypeEgress, func(p *networkingv1.NetworkPolicy) Verdict {
		out := Denied
		for _, r := range p.Spec.Egress {
			out = better(out, rule(p.Namespace, r.To, r.Ports, to, port))
		}
		return out
	})
}

// decide joins the verdicts of the policies that select a pod for a direction.
func decide(policies []*networkingv1.NetworkPolicy, pod Pod, direction networkingv1.PolicyType, verdict func(*networkingv1.NetworkPolicy) Verdict) Answer {
	if pod.HostNetwork {
		return Answer{Verdict: Allowed}
	}
	out := Answer{Verdict: Denied}
	for _, p := range policies {
		if p.Namespace == pod.Namespace && restricts(p, direction) && selects(&p.Spec.PodSelector, pod.Labels) {
			out.Policies = append(out.Policies, p)
			out.Verdict = better(out.Verdict, verdict(p))
		}
	}
	if len(out.Policies) == 0 {
		out.Verdict = Allowed
	}
	return out
}

// restricts reports whether a policy is for a direction. Without policyTypes it is for ingress, and
// for egress if it has egress rules.
func restricts(p *networkingv1.NetworkPolicy, direction networkingv1.PolicyType) bool {
	if len(p.Spec.PolicyTypes) > 0 {
		return slices.Contains(p.Spec.PolicyTypes, direction)
	}
	return direction == networkingv1.PolicyTypeIngress || len(p.Spec.Egress) > 0
}

// rule returns the verdict of one rule about a peer and a port of the pod that is connected to. No
// peers mean all, no ports mean all.
func rule(namespace string, peers []networkingv1.NetworkPolicyPeer, ports []networkingv1.NetworkPolicyPort, other Pod, port Port) Verdict {
	if len(ports) > 0 && !slices.ContainsFunc(ports, func(p networkingv1.NetworkPolicyPort) bool { return covers(p, port) }) {
		return Denied
	}
	if len(peers) == 0 {
		return Allowed
	}
	out := Denied
	for _, p := range peers {
		out = better(out, peer(namespace, p, other))
	}
	return out
}

// peer returns the verdict of one peer. A podSelector alone selects in the policy's namespace, a
// namespaceSelector alone all pods of its namespaces, and both the pods that match both.
func peer(namespace string, p networkingv1.NetworkPolicyPeer, other Pod) Verdict {
	if p.IPBlock != nil || other.HostNetwork {
		return Unknown // the address of a pod is known only when it runs
	}
	if p.PodSelector != nil && !selects(p.PodSelector, other.Labels) {
		return Denied
	}
	switch {
	case p.NamespaceSelector != nil:
		return inNamespace(p.NamespaceSelector, other)
	case p.PodSelector != nil && other.Namespace == namespace:
		return Allowed
	}
	return Denied
}

// inNamespace reports whether the namespace of a pod is selected. The API server sets the label with
// its name; others are unknown if it was not read.
func inNamespace(s *metav1.LabelSelector, pod Pod) Verdict {
	known := pod.NamespaceLabels
	if known == nil {
		known = map[string]string{corev1.LabelMetadataName: pod.Namespace}
		other := func(key string) bool { return key != corev1.LabelMetadataName }
		for key := range s.MatchLabels {
			if other(key) {
				return Unknown
			}
		}
		if slices.ContainsFunc(s.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool { return other(r.Key) }) {
			return Unknown
		}
	}
	if selects(s, known) {
		return Allowed
	}
	return Denied
}

// covers reports whether an entry of ports covers a port: by its number, its range, or a name of a
// container's port. Without a port it covers all of its protocol.
func covers(p networkingv1.NetworkPolicyPort, port Port) bool {
	if protocol(p.Protocol) != protocol(&port.Protocol) {
		return false
	}
	switch {
	case p.Port == nil:
		return true
	case p.Port.Type == intstr.String:
		return slices.Contains(port.Names, p.Port.StrVal)
	case p.EndPort != nil:
		return port.Number >= p.Port.IntVal && port.Number <= *p.EndPort
	}
	return port.Number == p.Port.IntVal
}

func protocol(p *corev1.Protocol) corev1.Protocol {
	if p == nil || *p == "" {
		return corev1.ProtocolTCP
	}
	return *p
}

// selects reports whether a selector matches labels; an empty one matches all. An invalid selector,
// which the API server refuses, matches nothing.
func selects(s *metav1.LabelSelector, set map[string]string) bool {
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(set))
}

// better returns the more permissive verdict: policies and rules add up.
func better(a, b Verdict) Verdict {
	switch {
	case a == Allowed || b == Allowed:
		return Allowed
	case a == Unknown || b == Unknown:
		return Unknown
	}
	return Denied
}
