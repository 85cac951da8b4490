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
			Title:    "Workloads of one installation run the operator, and it comes back by itself",
			Why:      "A bare pod is gone with its node. Two installations that act on the same objects undo each other's work.",
			Fix:      "Run it as a Deployment (or a StatefulSet), installed by one command; give a second installation namespaces of its own.",
			Operator: coreosInstalled,
		},
		{
			ID: "crd-established", Category: CoreOS, Severity: Error, Guidelines: []Guideline{coreos(2)},
			Title:      "The API server serves the type that the operator defines",
			Why:        "Until the definition is established and its names are accepted, nobody can make or read an object of the kind.",
			Fix:        "Read the condition's message. Names that another definition has must be changed, in one of the two.",
			Definition: coreosEstablished,
		},
		{
			ID: "crd-uses-built-ins", Category: CoreOS, Severity: Info, Guidelines: []Guideline{coreos(3), coreos(5)},
			Title:      "Pods of custom resources are run by built-in controllers",
			Why:        "A Deployment or a StatefulSet replaces a lost pod whether the operator runs or not. Pods that the operator makes itself stay lost until it is back. Some operators do so on purpose, to decide which member goes first.",
			Fix:        "Let the operator make a StatefulSet; where it needs more say than that, run it with several replicas, and watch that it is up.",
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
			Why:        "With the strategy None the API server changes apiVersion and nothing else, and then cuts what the other version's schema does not have. A field is lost on the way, silently.",
			Fix:        "Convert by a webhook, stop serving the version, or give it the same fields.",
			Definition: coreosConverts,
		},
		{
			ID: "crd-conversion-webhook", Category: CoreOS, Severity: Error, Guidelines: []Guideline{coreos(4)},
			Title:      "The webhook that converts objects between versions answers",
			Why:        "While it does not, objects that are stored in another version than asked for can be neither read nor written, and lists of the kind fail as a whole. Garbage collection and the removal of namespaces wait as well.",
			Fix:        "Bring the Service and its pods up, with the certificate that the definition's caBundle is for.",
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
			Why:      "With failurePolicy Fail no pod that the webhook looks at can be made while the operator does not answer: lost pods of its instances, or of the whole cluster, do not come back. If its own pods are among them, it does not come back either.",
			Fix:      "Set failurePolicy: Ignore, or narrow the webhook by namespaceSelector and objectSelector; leave out the operator's own namespace and kube-system.",
			Operator: coreosPodWebhooks,
		},
		{
			ID: "operator-webhook-reachable", Category: CoreOS, Severity: Error, Guidelines: []Guideline{coreos(5)},
			Title:    "The operator's admission webhooks answer",
			Why:      "With failurePolicy Fail the API server refuses every write that the webhook is to be asked about, as long as nobody answers.",
			Fix:      "Bring the Service and its pods up, or remove the webhook configuration that is left over.",
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
			Title:      "Users state the version that they want in the custom resource",
			Why:        "Where they cannot, an upgrade of the operator upgrades every application that it runs, at the same time.",
			Fix:        "Add a field for the version or the image to the spec.",
			Definition: coreosVersionField,
		},
		{
			ID: "crd-version-acted-on", Category: CoreOS, Severity: Warning, Guidelines: []Guideline{coreos(6)},
			Title:      "The version that a custom resource states is the one that its pods run",
			Why:        "A version that is stated and not run is a failed or stuck upgrade: fixes that were thought to be in are not.",
			Fix:        "Look at the status and the events of the object, and at the operator's log.",
			Definition: coreosVersionActedOn,
		},
		{
			ID: "operator-failure-tests", Category: CoreOS, Severity: Info, Guidelines: []Guideline{coreos(7)},
			Title:       "The operator is tested against failures of pods, of configuration and of the network",
			Why:         "What was never tried fails when it is needed.",
			Fix:         "Look for such tests in its source, or try it: delete a pod, drain a node, cut the network, give it a wrong configuration.",
			Uncheckable: "whether it was tested against failures cannot be read from a cluster",
		},
	}
}
