package check

import "slices"

func coreosRules() []Rule {
	return slices.Concat(coreosRunRules(), coreosConvertRules(), coreosWebhookRules(), coreosVersionRules())
}

// coreosRunRules are of how the operator is installed, and what it leaves to Kubernetes.
func coreosRunRules() []Rule {
	return []Rule{
		{
			ID: "operator-one-deployment", Category: CoreOS, Severity: Warning, Guidelines: []Guideline{coreos(1)},
			Title:    "Workloads of one installation run the operator, and it is restarted automatically",
			Why:      "A bare pod is lost with its node. Two installations that act on the same objects revert each other's changes.",
			Fix:      "Run it as a Deployment (or a StatefulSet), installed by one command; give a second installation namespaces of its own.",
			Operator: coreosInstalled,
		},
		{
			ID: "crd-established", Category: CoreOS, Severity: Error, Guidelines: []Guideline{coreos(2)},
			Title:      "The API server serves the type that the operator defines",
			Why:        "Until the CRD is established and its names are accepted, no object of the kind can be created or read.",
			Fix:        "Read the condition's message. Names that another CRD has already must be changed in one of the two.",
			Definition: coreosEstablished,
		},
		{
			ID: "crd-uses-built-ins", Category: CoreOS, Severity: Info, Guidelines: []Guideline{coreos(3), coreos(5)},
			Title:      "Pods of custom resources are run by built-in controllers",
			Why:        "A Deployment or a StatefulSet replaces a lost pod whether the operator runs or not. Pods that the operator creates itself stay lost until it runs again. Some operators do so on purpose, to decide which member goes first.",
			Fix:        "Let the operator create a StatefulSet; where it needs more control than that, run it with several replicas, and monitor that it is up.",
			Definition: coreosBuiltIns,
		},
	}
}

// coreosConvertRules are of objects that were written in an older version.
func coreosConvertRules() []Rule {
	return []Rule{
		{
			ID: "crd-versions-convert", Category: CoreOS, Severity: Warning, Guidelines: []Guideline{coreos(4)},
			Title:      "What is written in one served version can be read and written in every other without loss",
			Why:        "With the strategy None the API server changes apiVersion and nothing else, and then cuts what the other version's schema does not have. A field is lost in the conversion, without a warning.",
			Fix:        "Convert by a webhook, stop serving the version, or give it the same fields.",
			Definition: coreosConverts,
		},
		{
			ID: "crd-conversion-webhook", Category: CoreOS, Severity: Error, Guidelines: []Guideline{coreos(4)},
			Title:      "The webhook that converts objects between versions answers",
			Why:        "While it does not, objects that are stored in another version than the requested one can be neither read nor written, and lists of the kind fail as a whole. Garbage collection and the deletion of namespaces wait as well.",
			Fix:        "Bring the Service and its pods up, with the certificate that the CRD's caBundle is for.",
			Definition: coreosConversion,
		},
	}
}

// coreosWebhookRules are of what waits while the operator is away.
func coreosWebhookRules() []Rule {
	return []Rule{
		{
			ID: "operator-webhook-pods", Category: CoreOS, Severity: Warning, Guidelines: []Guideline{coreos(5)},
			Title:    "No pod has to wait for the operator to be admitted",
			Why:      "With failurePolicy Fail no pod that the webhook matches can be created while the operator does not answer: lost pods of its instances, or of the whole cluster, are not replaced. If its own pods are among them, it cannot restart either.",
			Fix:      "Set failurePolicy: Ignore, or narrow the webhook by namespaceSelector and objectSelector; leave out the operator's own namespace and kube-system.",
			Operator: coreosPodWebhooks,
		},
		{
			ID: "operator-webhook-reachable", Category: CoreOS, Severity: Error, Guidelines: []Guideline{coreos(5)},
			Title:    "The operator's admission webhooks answer",
			Why:      "With failurePolicy Fail the API server refuses every write that the webhook matches while it does not answer.",
			Fix:      "Bring the Service and its pods up, or delete the webhook configuration if it is a leftover.",
			Operator: coreosReachable,
		},
		{
			ID: "operator-webhook-timeout", Category: CoreOS, Severity: Info, Guidelines: []Guideline{coreos(5)},
			Title:    "A webhook that is down does not hold up writes for long",
			Why:      "Each write waits for the webhook until its timeout, and webhooks add up. Controllers that write one object after the other slow down by that much.",
			Fix:      "Set timeoutSeconds to 10 or less.",
			Operator: coreosTimeouts,
		},
	}
}

// coreosVersionRules are of the version that users want, and of tests, which nobody can see
// from here.
func coreosVersionRules() []Rule {
	return []Rule{
		{
			ID: "crd-version-field", Category: CoreOS, Severity: Info, Guidelines: []Guideline{coreos(6)},
			Title:      "Users choose the version in the custom resource",
			Why:        "Otherwise an upgrade of the operator upgrades all applications that it runs at the same time.",
			Fix:        "Add a field for the version or the image to the spec.",
			Definition: coreosVersionField,
		},
		{
			ID: "crd-version-acted-on", Category: CoreOS, Severity: Warning, Guidelines: []Guideline{coreos(6)},
			Title:      "The pods run the version that the custom resource requests",
			Why:        "A requested version that does not run is a failed or stuck upgrade: expected fixes are not in place.",
			Fix:        "Read the status and the events of the object, and the operator's log.",
			Definition: coreosVersionActedOn,
		},
		{
			ID: "operator-failure-tests", Category: CoreOS, Severity: Info, Guidelines: []Guideline{coreos(7)},
			Title:       "The operator is tested against failures of pods, of configuration and of the network",
			Why:         "Recovery that was never tested fails when it is needed.",
			Fix:         "Check its source for such tests, or try it: delete a pod, drain a node, cut the network, give it a wrong configuration.",
			Uncheckable: "tests against failures cannot be seen in a cluster",
		},
	}
}
