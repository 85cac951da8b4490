package check

// stackPodRules are about what pods take for granted of clusters.
func stackPodRules() []Rule {
	return []Rule{
		{
			ID: "stack-deprecated-fields", Category: Portability, Severity: Warning, Guidelines: []Guideline{maturity(22)},
			Title: "Pod templates use no labels, annotations or volumes that Kubernetes deprecated or removed",
			Why:   "They work until a release or a node no longer knows them. Then pods are not scheduled, or run without the effect of the field.",
			Fix:   "Use the replacement.",
			Stack: portabilityDeprecatedFields,
		},
		{
			ID: "stack-platforms", Category: Portability, Severity: Error, Guidelines: []Guideline{maturity(22), maturity(10)},
			Title: "Images exist for the architectures of the nodes that pods may run on",
			Why:   "In a cluster with nodes of several architectures the scheduler does not know for which of them an image was built. A pod on the wrong node never starts.",
			Fix:   "Publish images for every architecture, or select nodes by kubernetes.io/arch.",
			Stack: portabilityPlatforms,
		},
	}
}
