// Package stack has the rules about the objects of a stack together: their owners, backups,
// metrics, the connections of a System, and the features that they assume of a cluster.
package stack

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// stackPodRules are about the cluster features that pods assume.
func stackPodRules() []check.Rule {
	return []check.Rule{
		{
			ID: "stack-deprecated-fields", Category: check.Portability, Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(22)},
			Title: "Pod templates use no labels, annotations or volumes that Kubernetes deprecated or removed",
			Why:   "They work until a release or a node no longer knows them. Then pods are not scheduled, or run without the effect of the field.",
			Fix:   "Use the replacement.",
			Stack: deprecatedFields,
		},
		{
			ID: "stack-platforms", Category: check.Portability, Severity: check.Error, Guidelines: []check.Guideline{check.MaturityGuideline(22), check.MaturityGuideline(10)},
			Title: "Images exist for the architectures of the nodes that pods may run on",
			Why:   "In a cluster with nodes of several architectures the scheduler does not know for which of them an image was built. A pod on the wrong node never starts.",
			Fix:   "Publish images for every architecture, or select nodes by kubernetes.io/arch.",
			Stack: platforms,
		},
	}
}

// Rules are the rules about the objects of a stack together.
func Rules() []check.Rule {
	return slices.Concat(ownerRules(), backupRules(), metricsRules(), stackPodRules(), connectionRules(), levelRules())
}
