package check

import "slices"

func portabilityRules() []Rule {
	return slices.Concat(portabilityPackageRules(), portabilityVersionRules(), portabilityPodRules())
}

// portabilityPackageRules are of what installs the operator and its definitions.
func portabilityPackageRules() []Rule {
	return []Rule{
		{
			ID: "operator-packaged", Category: Portability, Severity: Info, Guidelines: []Guideline{maturity(22)},
			Title:    "A chart or a bundle installed the operator, and its objects say so",
			Why:      "Where nothing says what installed an operator, nobody knows what to run to upgrade it or to take all of it away.",
			Fix:      "Install it from its Helm chart, its OLM bundle, or by a tool that marks what it applies (Kustomize labels, Argo CD, Flux, kubectl apply --applyset).",
			Operator: portabilityPackaged,
		},
		{
			ID: "crd-by-manifest", Category: Portability, Severity: Warning, Guidelines: []Guideline{maturity(23)},
			Title:      "The definition was registered by a manifest, and not by the operator's code",
			Why:        "An operator that registers its own types needs the right to write every definition of the cluster, and who reviews its chart does not see what it brings.",
			Fix:        "Put the CustomResourceDefinition into the chart or the bundle, and take the code that creates it out of the operator.",
			Definition: portabilityRegistered,
		},
		{
			ID: "operator-registers-crds", Category: Portability, Severity: Info, Guidelines: []Guideline{maturity(23)},
			Title:    "The operator has no right to create definitions",
			Why:      "The right is needed only to register types by code. It cannot be narrowed to a name, so that whoever holds it may add any API to the cluster.",
			Fix:      "Ship the definitions as manifests, and take create on customresourcedefinitions out of the role. Operators whose trade it is to make types (Crossplane, Gatekeeper) are the exception.",
			Operator: portabilityRegisters,
		},
		{
			ID: "crd-survives-uninstall", Category: Portability, Severity: Warning, Guidelines: []Guideline{maturity(24), coreos(5)},
			Title:      "To uninstall the chart leaves the definition, and with it all objects of its kind",
			Why:        "A definition that is among the templates of a chart goes when the release is uninstalled, or when the chart stops templating it. The garbage collector then deletes every object of its kind, and what these own.",
			Fix:        "Put the definition into the chart's crds/ folder, or annotate it with helm.sh/resource-policy: keep.",
			Definition: portabilitySurvives,
		},
	}
}

// portabilityVersionRules are of versions that are stored, served and used.
func portabilityVersionRules() []Rule {
	return []Rule{
		{
			ID: "crd-stored-versions", Category: Portability, Severity: Warning, Guidelines: []Guideline{coreos(4)},
			Title:      "All objects are stored in the version that the definition stores today",
			Why:        "As long as an old version is among the stored ones, the API server refuses a definition that drops it: the release that does so cannot be installed.",
			Fix:        "Rewrite all objects (a StorageVersionMigration, or read and replace each), then take the old version out of status.storedVersions.",
			Definition: portabilityStored,
		},
		{
			ID: "crd-deprecated-versions", Category: Portability, Severity: Warning, Guidelines: []Guideline{coreos(4)},
			Title:      "Nothing is stored in a deprecated version, and each deprecated version says what to use instead",
			Why:        "Deprecated versions go. Clients learn of it only by the warning that the API server sends along, and the default one does not name the version to move to.",
			Fix:        "Store a version that is not deprecated, and set deprecationWarning on the others.",
			Definition: portabilityDeprecated,
		},
		{
			ID: "crd-stable-version", Category: Portability, Severity: Info, Guidelines: []Guideline{coreos(4)},
			Title:      "The kind is served in a version that is beta or stable",
			Why:        "Alpha means by convention that fields may change or go with any release, without a conversion.",
			Fix:        "Pin the operator's release and read its notes before each upgrade; as its author, serve a beta or stable version.",
			Definition: portabilityStable,
		},
		{
			ID: "operator-removed-apis", Category: Portability, Severity: Info, Guidelines: []Guideline{maturity(22)},
			Title:    "The operator's rights are for APIs that this cluster has",
			Why:      "A right to an API that Kubernetes removed does nothing. Where the API that took its place is not granted, the operator cannot do what the right was for.",
			Fix:      "Grant the API that took its place, or take the rule out; a newer release of the operator has most often done so.",
			Operator: portabilityRemovedAPIs,
		},
	}
}

// portabilityPodRules are of what pods take for granted of clusters.
func portabilityPodRules() []Rule {
	return []Rule{
		{
			ID: "stack-deprecated-fields", Category: Portability, Severity: Warning, Guidelines: []Guideline{maturity(22)},
			Title: "Pod templates use no labels, annotations and volumes that Kubernetes has deprecated or removed",
			Why:   "They work until a release or a node no longer knows them. Then pods do not schedule, or run without what the field was to give them.",
			Fix:   "Use what took its place.",
			Stack: portabilityDeprecatedFields,
		},
		{
			ID: "stack-platforms", Category: Portability, Severity: Error, Guidelines: []Guideline{maturity(22), maturity(10)},
			Title: "Images exist for the processors of the nodes that pods may run on",
			Why:   "In a cluster with nodes of several architectures the scheduler does not know for which of them an image was built. A pod on the wrong node never starts.",
			Fix:   "Publish images for every architecture, or select nodes by kubernetes.io/arch.",
			Stack: portabilityPlatforms,
		},
	}
}
