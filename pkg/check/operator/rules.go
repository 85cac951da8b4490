// Package operator finds the operators of a cluster, and has the rules about their
// installation and their webhooks.
package operator

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// installedRules are about the installation of an operator, and its pods.
func installedRules() []check.Rule {
	return []check.Rule{
		{
			ID: "operator-replicas", Category: check.Robustness, Severity: check.Info, Guidelines: []check.Guideline{check.CoreOSGuideline(7)},
			Title:    "The operator has a standby replica",
			Why:      "While the only pod of an operator is moved or down, changes of its custom resources have no effect.",
			Fix:      "Run two replicas with leader election; without leader election, one replica is right.",
			Operator: operatorReplicas,
		},
		{
			ID: "operator-packaged", Category: check.Portability, Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(22)},
			Title:    "A chart or a bundle installed the operator, and its objects show it",
			Why:      "Without a mark of what installed an operator, it is unknown how to upgrade or uninstall it.",
			Fix:      "Install it from its Helm chart, its OLM bundle, or by a tool that marks what it applies (Kustomize labels, Argo CD, Flux, kubectl apply --applyset).",
			Operator: packaged,
		},
		{
			ID: "operator-registers-crds", Category: check.Portability, Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(23)},
			Title:    "The operator has no permission to create CRDs",
			Why:      "The permission is needed only to register types by code. It cannot be restricted to a name, so its holder may add any API to the cluster.",
			Fix:      "Ship the CRDs as manifests, and remove create on customresourcedefinitions from the role. Operators whose purpose is to define types (Crossplane, Gatekeeper) are the exception.",
			Operator: registers,
		},
		{
			ID: "operator-removed-apis", Category: check.Portability, Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(22)},
			Title:    "The operator's permissions are for APIs that this cluster has",
			Why:      "A permission for an API that Kubernetes removed has no effect. Without a permission for the replacement API, the operator cannot do what the permission was for.",
			Fix:      "Grant the replacement API, or remove the rule; a newer release of the operator has most often done so.",
			Operator: removedAPIs,
		},
		{
			ID: "operator-one-deployment", Category: check.CoreOS, Severity: check.Warning, Guidelines: []check.Guideline{check.CoreOSGuideline(1)},
			Title:    "Workloads of one installation run the operator, and it is restarted automatically",
			Why:      "A bare pod is lost with its node. Two installations that act on the same objects revert each other's changes.",
			Fix:      "Run it as a Deployment (or a StatefulSet), installed by one command; give a second installation namespaces of its own.",
			Operator: installed,
		},
	}
}

// webhookRules are about the requests that fail while the operator does not answer.
func webhookRules() []check.Rule {
	return []check.Rule{
		{
			ID: "operator-webhook-pods", Category: check.CoreOS, Severity: check.Warning, Guidelines: []check.Guideline{check.CoreOSGuideline(5)},
			Title:    "No pod has to wait for the operator to be admitted",
			Why:      "With failurePolicy Fail no pod that the webhook matches can be created while the operator does not answer: lost pods of its instances, or of the whole cluster, are not replaced. If its own pods are among them, it cannot restart either.",
			Fix:      "Set failurePolicy: Ignore, or narrow the webhook by namespaceSelector and objectSelector; leave out the operator's own namespace and kube-system.",
			Operator: podWebhooks,
		},
		{
			ID: "operator-webhook-reachable", Category: check.CoreOS, Severity: check.Error, Guidelines: []check.Guideline{check.CoreOSGuideline(5)},
			Title:    "The operator's admission webhooks answer",
			Why:      "With failurePolicy Fail the API server refuses every write that the webhook matches while it does not answer.",
			Fix:      "Bring the Service and its pods up, or delete the webhook configuration if it is a leftover.",
			Operator: reachable,
		},
		{
			ID: "operator-webhook-timeout", Category: check.CoreOS, Severity: check.Info, Guidelines: []check.Guideline{check.CoreOSGuideline(5)},
			Title:    "A webhook that is down does not hold up writes for long",
			Why:      "Each write waits for the webhook until its timeout, and webhooks add up. Controllers that write one object after the other slow down by that much.",
			Fix:      "Set timeoutSeconds to 10 or less.",
			Operator: timeouts,
		},
	}
}

// testRules are about tests, which a cluster does not show.
func testRules() []check.Rule {
	return []check.Rule{
		{
			ID: "operator-failure-tests", Category: check.CoreOS, Severity: check.Info, Guidelines: []check.Guideline{check.CoreOSGuideline(7)},
			Title:       "The operator is tested against failures of pods, of configuration and of the network",
			Why:         "Recovery that was never tested fails when it is needed.",
			Fix:         "Check its source for such tests, or try it: delete a pod, drain a node, cut the network, give it a wrong configuration.",
			Uncheckable: "tests against failures cannot be seen in a cluster",
		},
	}
}

// Rules are the rules about operators, except for their permissions.
func Rules() []check.Rule {
	return slices.Concat(installedRules(), webhookRules(), testRules())
}
