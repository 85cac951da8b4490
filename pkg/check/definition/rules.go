// Package definition has the rules about CustomResourceDefinitions: their schemas, names,
// versions and conversion, and the pod settings that a custom resource offers.
package definition

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// crdInstalledRules are about how a definition came into the cluster, and how it is served.
func crdInstalledRules() []check.Rule {
	return []check.Rule{
		{
			ID: "crd-by-manifest", Category: check.Portability, Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(23)},
			Title:      "The CRD was registered by a manifest, not by the operator's code",
			Why:        "An operator that registers its own types needs permission to write all CRDs of the cluster, and a review of its chart does not show what it provides.",
			Fix:        "Put the CustomResourceDefinition into the chart or the bundle, and take the code that creates it out of the operator.",
			Definition: registered,
		},
		{
			ID: "crd-survives-uninstall", Category: check.Portability, Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(24), check.CoreOSGuideline(5)},
			Title:      "Uninstalling the chart keeps the CRD, and with it all objects of its kind",
			Why:        "A CRD among the templates of a chart is deleted when the release is uninstalled, or when the chart stops templating it. The API server then deletes every object of its kind, and the garbage collector what these own.",
			Fix:        "Put the CRD into the chart's crds/ directory, or annotate it with helm.sh/resource-policy: keep.",
			Definition: survives,
		},
		{
			ID: "crd-established", Category: check.CoreOS, Severity: check.Error, Guidelines: []check.Guideline{check.CoreOSGuideline(2)},
			Title:      "The API server serves the type that the operator defines",
			Why:        "Until the CRD is established and its names are accepted, no object of the kind can be created or read.",
			Fix:        "Read the condition's message. Names that another CRD has already must be changed in one of the two.",
			Definition: established,
		},
		{
			ID: "crd-uses-built-ins", Category: check.CoreOS, Severity: check.Info, Guidelines: []check.Guideline{check.CoreOSGuideline(3), check.CoreOSGuideline(5)},
			Title:      "Pods of custom resources are run by built-in controllers",
			Why:        "A Deployment or a StatefulSet replaces a lost pod whether the operator runs or not. Pods that the operator creates itself stay lost until it runs again. Some operators do so on purpose, to decide which member goes first.",
			Fix:        "Let the operator create a StatefulSet; where it needs more control than that, run it with several replicas, and monitor that it is up.",
			Definition: builtIns,
		},
		{
			ID: "crd-namespaced", Category: check.Security, Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(9)},
			Title:      "A kind that runs pods is namespaced",
			Why:        "A user who may create a cluster-scoped object can make the operator run pods in any namespace: permissions and quotas of namespaces do not apply.",
			Fix:        "Set scope: Namespaced in the next version of the API, and create the pods in the namespace of the custom resource. The scope of an existing CRD cannot be changed.",
			Definition: scopeOfDefinition,
		},
	}
}

// crdVersionRules are about the versions of a definition: stored, served and converted.
func crdVersionRules() []check.Rule {
	return []check.Rule{
		{
			ID: "crd-stored-versions", Category: check.Portability, Severity: check.Warning, Guidelines: []check.Guideline{check.CoreOSGuideline(4)},
			Title:      "All objects are stored in the CRD's current storage version",
			Why:        "While an old version is among the stored ones, the API server refuses a CRD without it: a release that drops it cannot be installed.",
			Fix:        "Rewrite all objects (a StorageVersionMigration, or read and replace each), then remove the old version from status.storedVersions.",
			Definition: stored,
		},
		{
			ID: "crd-deprecated-versions", Category: check.Portability, Severity: check.Warning, Guidelines: []check.Guideline{check.CoreOSGuideline(4)},
			Title:      "Nothing is stored in a deprecated version, and each deprecated version says what to use instead",
			Why:        "Deprecated versions are removed one day. Clients see only the warning that the API server sends, and the default one does not name the version to move to.",
			Fix:        "Store a version that is not deprecated, and set deprecationWarning on the others.",
			Definition: deprecated,
		},
		{
			ID: "crd-stable-version", Category: check.Portability, Severity: check.Info, Guidelines: []check.Guideline{check.CoreOSGuideline(4)},
			Title:      "The kind is served in a version that is beta or stable",
			Why:        "Alpha means by convention that fields may change or disappear with any release, without a conversion.",
			Fix:        "Pin the operator's release and read its notes before each upgrade; as its author, serve a beta or stable version.",
			Definition: stable,
		},
		{
			ID: "crd-versions-convert", Category: check.CoreOS, Severity: check.Warning, Guidelines: []check.Guideline{check.CoreOSGuideline(4)},
			Title:      "What is written in one served version can be read and written in every other without loss",
			Why:        "With the strategy None the API server changes apiVersion and nothing else, and then cuts what the other version's schema does not have. A field is lost in the conversion, without a warning.",
			Fix:        "Convert by a webhook, stop serving the version, or give it the same fields.",
			Definition: converts,
		},
		{
			ID: "crd-conversion-webhook", Category: check.CoreOS, Severity: check.Error, Guidelines: []check.Guideline{check.CoreOSGuideline(4)},
			Title:      "The webhook that converts objects between versions answers",
			Why:        "While it does not, objects that are stored in another version than the requested one can be neither read nor written, and lists of the kind fail as a whole. Garbage collection and the deletion of namespaces wait as well.",
			Fix:        "Bring the Service and its pods up, with the certificate that the CRD's caBundle is for.",
			Definition: conversion,
		},
	}
}

// crdAppVersionRules are about the version of the application that a custom resource requests.
func crdAppVersionRules() []check.Rule {
	return []check.Rule{
		{
			ID: "crd-version-field", Category: check.CoreOS, Severity: check.Info, Guidelines: []check.Guideline{check.CoreOSGuideline(6)},
			Title:      "Users choose the version in the custom resource",
			Why:        "Otherwise an upgrade of the operator upgrades all applications that it runs at the same time.",
			Fix:        "Add a field for the version or the image to the spec.",
			Definition: versionField,
		},
		{
			ID: "crd-version-acted-on", Category: check.CoreOS, Severity: check.Warning, Guidelines: []check.Guideline{check.CoreOSGuideline(6)},
			Title:      "The pods run the version that the custom resource requests",
			Why:        "A requested version that does not run is a failed or stuck upgrade: expected fixes are not in place.",
			Fix:        "Read the status and the events of the object, and the operator's log.",
			Definition: versionActedOn,
		},
	}
}

// Rules are the rules about CustomResourceDefinitions.
func Rules() []check.Rule {
	return slices.Concat(consumabilityRules(), settableRules(), crdInstalledRules(), crdVersionRules(), crdAppVersionRules())
}
