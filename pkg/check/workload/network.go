package workload

import (
	"fmt"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func networkRules() []check.Rule {
	return []check.Rule{{
		ID: "pod-network-policy", Category: check.Security, Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(12)},
		Title: "A NetworkPolicy limits who may connect to the pods",
		Why:   "Pods that no policy selects accept connections from every pod of the cluster, in any namespace.",
		Fix:   "Select the pods by a NetworkPolicy with policyTypes: [Ingress] that names who connects to them. It needs a network plug-in that enforces policies.",
		Stack: policiesOfPods,
	}}
}

// policyIndex is the network policies by namespace.
type policyIndex map[string][]*networkingv1.NetworkPolicy

func policiesOfPods(s *check.Stack, r *check.Result) {
	byNamespace := policyIndex{}
	for _, p := range check.All[*networkingv1.NetworkPolicy](s.World.Facts, check.NetworkPolicyKind.Group, check.NetworkPolicyKind.Kind) {
		byNamespace[p.Namespace] = append(byNamespace[p.Namespace], p)
	}
	otherReasons := map[string]string{}
	for _, wl := range s.Workloads() {
		ns := wl.Ref.Namespace
		if _, ok := otherReasons[ns]; !ok {
			otherReasons[ns] = s.World.OtherPolicies(ns)
		}
		policyOf(s.World, wl, byNamespace[ns], otherReasons[ns], r)
	}
}

// policyOf checks the pods of a workload, by the labels of the pods themselves: a policy may
// select one of two pods.
func policyOf(w *check.ClusterState, wl *check.Workload, policies []*networkingv1.NetworkPolicy, otherReason string, r *check.Result) {
	var with []map[string]string
	for _, p := range wl.Pods {
		if !p.Spec.HostNetwork {
			with = append(with, p.Labels)
		}
	}
	if len(wl.Pods) == 0 && wl.Template != nil && !wl.Template.Spec.HostNetwork {
		with = append(with, wl.Template.Labels)
	}
	// Policies do not apply to a pod in the node's network.
	if len(with) == 0 {
		return
	}
	worst := check.Finding{Severity: check.Info + 1}
	for _, set := range with {
		if f, wrong := policyOn(set, policies); wrong && f.Severity < worst.Severity {
			worst = f
		}
	}
	switch {
	case worst.Severity > check.Info:
		r.Pass(wl.Ref)
	case otherReason != "":
		r.AddUnknown(wl.Ref, otherReason)
	case worst.Severity == check.Warning && !w.Read(check.NetworkPolicyKind, wl.Ref.Namespace):
		r.AddUnknown(wl.Ref, "the network policies of the namespace "+wl.Ref.Namespace+" were not read")
	default:
		worst.Object = wl.Ref
		if !wl.IsLongRunning() {
			// A pod that runs to completion seldom listens.
			worst.Severity = check.Info
		}
		r.AddFinding(worst)
	}
}

// policyOn returns a finding for pods of some labels that no policy selects, or whose ingress
// no policy restricts.
func policyOn(set map[string]string, policies []*networkingv1.NetworkPolicy) (check.Finding, bool) {
	var selecting, open []object.Ref
	for _, p := range policies {
		if !check.Selects(&p.Spec.PodSelector, set) {
			continue
		}
		ref := object.Ref{Group: check.NetworkPolicyKind.Group, Kind: check.NetworkPolicyKind.Kind, Namespace: p.Namespace, Name: p.Name}
		selecting = append(selecting, ref)
		if !policyHasIngress(p) {
			continue
		}
		if !policyOpen(p) {
			open = append(open, object.Ref{})
			continue
		}
		open = append(open, ref)
	}
	switch at := slices.IndexFunc(open, func(r object.Ref) bool { return r.Name != "" }); {
	case len(selecting) == 0:
		return check.Finding{Severity: check.Warning, Message: "no NetworkPolicy selects its pods: every pod of the cluster may connect to them"}, true
	case len(open) == 0:
		return check.Finding{Severity: check.Info, Related: selecting, Message: fmt.Sprintf("%s selects its pods for egress alone: every pod of the cluster may connect to them", check.DescribeAll(selecting))}, true
	case at >= 0:
		return check.Finding{Severity: check.Info, Related: []object.Ref{open[at]}, Message: fmt.Sprintf("%s lets every pod of the cluster connect to its pods, on every port", check.DescribeAll(open[at:at+1]))}, true
	}
	return check.Finding{}, false
}

// policyHasIngress: without policyTypes, every policy is for ingress.
func policyHasIngress(p *networkingv1.NetworkPolicy) bool {
	return len(p.Spec.PolicyTypes) == 0 || slices.Contains(p.Spec.PolicyTypes, networkingv1.PolicyTypeIngress)
}

// policyOpen reports whether a rule lets in the whole cluster, to every port: policies add up,
// so one such rule makes all others void.
func policyOpen(p *networkingv1.NetworkPolicy) bool {
	return slices.ContainsFunc(p.Spec.Ingress, func(rule networkingv1.NetworkPolicyIngressRule) bool {
		if len(rule.Ports) > 0 {
			return false
		}
		return len(rule.From) == 0 || slices.ContainsFunc(rule.From, func(peer networkingv1.NetworkPolicyPeer) bool {
			if b := peer.IPBlock; b != nil {
				return (b.CIDR == "0.0.0.0/0" || b.CIDR == "::/0") && len(b.Except) == 0
			}
			return peer.NamespaceSelector != nil && check.SelectsEverything(peer.NamespaceSelector) && (peer.PodSelector == nil || check.SelectsEverything(peer.PodSelector))
		})
	})
}
