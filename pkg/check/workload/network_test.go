package workload

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

const policedPod = `
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, labels: {app: web, tier: front}}
spec: {HOST containers: [{name: c, image: "x:1"}]}
status: {phase: Running}
`

func policyText(name, namespace, spec string) string {
	return "\n---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: " + name + ", namespace: " + namespace + "}\nspec: {" + spec + "}\n"
}

func TestNetworkPolicies(t *testing.T) {
	const shut = "podSelector: {}, policyTypes: [Ingress]"
	const ours = "podSelector: {matchLabels: {app: web}}, "
	for name, c := range map[string]struct {
		policies string
		want     check.Severity
	}{
		"none":                         {"", check.Warning},
		"of another namespace":         {policyText("p", "other", shut), check.Warning},
		"of other pods":                {policyText("p", "shop", "podSelector: {matchLabels: {app: db}}, policyTypes: [Ingress]"), check.Warning},
		"of all, nobody let in":        {policyText("p", "shop", shut), 0},
		"by expression":                {policyText("p", "shop", "podSelector: {matchExpressions: [{key: tier, operator: In, values: [front, back]}]}, policyTypes: [Ingress]"), 0},
		"no types mean ingress":        {policyText("p", "shop", "podSelector: {}"), 0},
		"egress alone":                 {policyText("p", "shop", "podSelector: {}, policyTypes: [Egress]"), check.Info},
		"egress and another":           {policyText("p", "shop", "podSelector: {}, policyTypes: [Egress]") + policyText("q", "shop", shut), 0},
		"everybody let in":             {policyText("p", "shop", ours+"ingress: [{}]"), check.Info},
		"everybody, to a port":         {policyText("p", "shop", ours+"ingress: [{ports: [{port: 80}]}]"), 0},
		"every namespace":              {policyText("p", "shop", ours+"ingress: [{from: [{namespaceSelector: {}}]}]"), check.Info},
		"every namespace, some pods":   {policyText("p", "shop", ours+"ingress: [{from: [{namespaceSelector: {}, podSelector: {matchLabels: {a: b}}}]}]"), 0},
		"every pod of the namespace":   {policyText("p", "shop", ours+"ingress: [{from: [{podSelector: {}}]}]"), 0},
		"every address":                {policyText("p", "shop", ours+"ingress: [{from: [{ipBlock: {cidr: 0.0.0.0/0}}]}]"), check.Info},
		"every address but some":       {policyText("p", "shop", ours+"ingress: [{from: [{ipBlock: {cidr: 0.0.0.0/0, except: [10.0.0.0/8]}}]}]"), 0},
		"one open makes others void":   {policyText("p", "shop", shut) + policyText("q", "shop", ours+"ingress: [{}]"), check.Info},
		"an empty list lets in nobody": {policyText("p", "shop", ours+"ingress: []"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := checktest.Read(t, operator.Find, strings.Replace(policedPod, "HOST", "", 1)+c.policies)
			r := checktest.Only(t, Rules(), "pod-network-policy", w.Stack("Pod/shop/web").Check)
			var got check.Severity
			if len(r.Findings) > 0 {
				got = r.Findings[0].Severity
			}
			if got != c.want || len(r.Unknowns) != 0 || (len(r.Passed) == 1) != (c.want == 0) {
				t.Errorf("severity %d, right %v, open %v; want %d", got, r.Passed, r.Unknowns, c.want)
			}
		})
	}
}

// TestPoliciesSelectAsTheGraphSays holds the selectors here against the graph's.
func TestPoliciesSelectAsTheGraphSays(t *testing.T) {
	more := map[string]string{
		"good": policyText("b", "shop", "podSelector: {matchExpressions: [{key: app.kubernetes.io/name, operator: NotIn, values: [shop]}]}"),
		"bad":  policyText("a", "bad", "podSelector: {matchLabels: {app: bad-operator}}"),
	}
	for name, policies := range more {
		policiesAgree(t, checktest.Directory(t, "../testdata/"+name)+policies)
	}
}

func policiesAgree(t *testing.T, text string) {
	t.Helper()
	w := checktest.Read(t, operator.Find, text)
	for _, wl := range w.Workloads() {
		for _, pod := range wl.Pods {
			ref := object.Ref{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}
			selected := len(w.Serving(ref, check.NetworkPolicyKind)) > 0
			r := checktest.Only(t, Rules(), "pod-network-policy", w.Stack(ref.String()).Check)
			bare := slices.ContainsFunc(r.Findings, func(f check.Finding) bool { return f.Severity == check.Warning })
			if selected == bare {
				t.Errorf("%s: the graph says %t, the rule %t", ref, selected, !bare)
			}
		}
	}
}

func TestNetworkPoliciesThatAreNotKnown(t *testing.T) {
	const cilium = `
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ciliumnetworkpolicies.cilium.io}
spec: {group: cilium.io, scope: Namespaced, names: {plural: ciliumnetworkpolicies, singular: ciliumnetworkpolicy, kind: CiliumNetworkPolicy}, versions: [{name: v2, served: true, storage: true}]}
`
	const one = "---\napiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: {name: p, namespace: NS}\n"
	pod := strings.Replace(policedPod, "HOST", "", 1)
	for name, c := range map[string]struct {
		text              string
		unread            []string
		wrong, open, fine int
	}{
		"policies unread":                 {text: pod, unread: []string{"NetworkPolicy"}, open: 1},
		"a policy of Cilium":              {text: pod + cilium + strings.Replace(one, "NS", "shop", 1), open: 1},
		"one of another namespace":        {text: pod + cilium + strings.Replace(one, "NS", "other", 1), wrong: 1},
		"Cilium without policies":         {text: pod + cilium, wrong: 1},
		"those of Cilium unread":          {text: pod + cilium, unread: []string{"CiliumNetworkPolicy"}, open: 1},
		"selected all the same":           {text: pod + cilium + policyText("p", "shop", "podSelector: {}"), unread: []string{"CiliumNetworkPolicy"}, fine: 1},
		"in the network of the node":      {text: strings.Replace(policedPod, "HOST", "hostNetwork: true,", 1)},
		"in the network, policies unread": {text: strings.Replace(policedPod, "HOST", "hostNetwork: true,", 1), unread: []string{"NetworkPolicy"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := checktest.Read(t, operator.Find, c.text, c.unread...)
			r := checktest.Only(t, Rules(), "pod-network-policy", w.Stack("Pod/shop/web").Check)
			if len(r.Findings) != c.wrong || len(r.Unknowns) != c.open || len(r.Passed) != c.fine {
				t.Errorf("wrong %v, open %v, right %v", r.Findings, r.Unknowns, r.Passed)
			}
		})
	}
}

// TestPolicyOfOldGroup: the group extensions had the built-in policies, which are read as
// those of networking.k8s.io.
func TestPolicyOfOldGroup(t *testing.T) {
	for group, want := range map[string]bool{"extensions": false, "networking.k8s.io": false, "crd.projectcalico.org": true} {
		if got := check.IsNetworkPolicy(object.Resource{Group: group, Kind: "NetworkPolicy"}); got != want {
			t.Errorf("NetworkPolicy of %s is another's: %t, want %t", group, got, want)
		}
	}
}
