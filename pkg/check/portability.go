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
			Title:    "A chart or a bundle installed the operator, and its objects show it",
			Why:      "Without a mark of what installed an operator, it is unknown how to upgrade or uninstall it.",
			Fix:      "Install it from its Helm chart, its OLM bundle, or by a tool that marks what it applies (Kustomize labels, Argo CD, Flux, kubectl apply --applyset).",
			Operator: portabilityPackaged,
		},
		{
			ID: "crd-by-manifest", Category: Portability, Severity: Warning, Guidelines: []Guideline{maturity(23)},
			Title:      "The CRD was registered by a manifest, not by the operator's code",
			Why:        "An operator that registers its own types needs permission to write all CRDs of the cluster, and a review of its chart does not show what it provides.",
			Fix:        "Put the CustomResourceDefinition into the chart or the bundle, and take the code that creates it out of the operator.",
			Definition: portabilityRegistered,
		},
		{
			ID: "operator-registers-crds", Category: Portability, Severity: Info, Guidelines: []Guideline{maturity(23)},
			Title:    "The operator has no permission to create CRDs",
			Why:      "The permission is needed only to register types by code. It cannot be restricted to a name, so its holder may add any API to the cluster.",
			Fix:      "Ship the CRDs as manifests, and remove create on customresourcedefinitions from the role. Operators whose purpose is to define types (Crossplane, Gatekeeper) are the exception.",
			Operator: portabilityRegisters,
		},
		{
			ID: "crd-survives-uninstall", Category: Portability, Severity: Warning, Guidelines: []Guideline{maturity(24), coreos(5)},
			Title:      "Uninstalling the chart keeps the CRD, and with it all objects of its kind",
			Why:        "A CRD among the templates of a chart is deleted when the release is uninstalled, or when the chart stops templating it. The API server then deletes every object of its kind, and the garbage collector what these own.",
			Fix:        "Put the CRD into the chart's crds/ directory, or annotate it with helm.sh/resource-policy: keep.",
			Definition: portabilitySurvives,
		},
	}
}

// portabilityVersionRules are of versions that are stored, served and used.
func portabilityVersionRules() []Rule {
	return []Rule{
		{
			ID: "crd-stored-versions", Category: Portability, Severity: Warning, Guidelines: []Guideline{coreos(4)},
			Title:      "All objects are stored in the CRD's current storage version",
			Why:        "While an old version is among the stored ones, the API server refuses a CRD without it: a release that drops it cannot be installed.",
			Fix:        "Rewrite all objects (a StorageVersionMigration, or read and replace each), then remove the old version from status.storedVersions.",
			Definition: portabilityStored,
		},
		{
			ID: "crd-deprecated-versions", Category: Portability, Severity: Warning, Guidelines: []Guideline{coreos(4)},
			Title:      "Nothing is stored in a deprecated version, and each deprecated version says what to use instead",
			Why:        "Deprecated versions are removed one day. Clients see only the warning that the API server sends, and the default one does not name the version to move to.",
			Fix:        "Store a version that is not deprecated, and set deprecationWarning on the others.",
			Definition: portabilityDeprecated,
		},
		{
			ID: "crd-stable-version", Category: Portability, Severity: Info, Guidelines: []Guideline{coreos(4)},
			Title:      "The kind is served in a version that is beta or stable",
			Why:        "Alpha means by convention that fields may change or disappear with any release, without a conversion.",
			Fix:        "Pin the operator's release and read its notes before each upgrade; as its author, serve a beta or stable version.",
			Definition: portabilityStable,
		},
		{
			ID: "operator-removed-apis", Category: Portability, Severity: Info, Guidelines: []Guideline{maturity(22)},
			Title:    "The operator's permissions are for APIs that this cluster has",
			Why:      "A permission for an API that Kubernetes removed has no effect. Without a permission for the replacement API, the operator cannot do what the permission was for.",
			Fix:      "Grant the replacement API, or remove the rule; a newer release of the operator has most often done so.",
			Operator: portabilityRemovedAPIs,
		},
	}
}

// portabilityPodRules are of what pods take for granted of clusters.
func portabilityPodRules() []Rule {
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
