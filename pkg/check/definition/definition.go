package definition

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// consumabilityRules are about the use of definitions through kubectl explain, get, apply and
// scale.
func consumabilityRules() []check.Rule {
	rules := slices.Concat(crdSchemaRules(), crdKubectlRules(), crdDeclaredRules())
	for i := range rules {
		rules[i].Category = check.Consumability
	}
	return rules
}

// crdSchemaRules are about the content of a schema, and what it refuses.
func crdSchemaRules() []check.Rule {
	return []check.Rule{
		{
			ID: "crd-schema", Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(2)}, Definition: crdSchemaPresent,
			Title: "Every served version has a schema",
			Why:   "Without a schema the server stores any content. A misspelled field has no effect, and no error says so.",
			Fix:   "Generate the schema from the Go types (controller-gen), or write it by hand, for every version that is served.",
		},
		{
			ID: "crd-structural", Severity: check.Error, Guidelines: []check.Guideline{check.MaturityGuideline(2)}, Definition: crdSchemaStructural,
			Title: "The schema is structural",
			Why:   "The server does not publish a schema that is not structural, does not prune unknown fields and sets no defaults. In apiextensions.k8s.io/v1 it refuses the CRD.",
			Fix:   "Give every field a type, keep types out of anyOf, oneOf, allOf and not, and set spec.preserveUnknownFields to false.",
		},
		{
			ID: "crd-open-spec", Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(2), check.MaturityGuideline(15)}, Definition: crdSchemaClosed,
			Title: "The spec takes only fields that the schema knows",
			Why:   "With x-kubernetes-preserve-unknown-fields at the top, a misspelled field is stored like any other and has no effect.",
			Fix:   "Name the fields of the spec, and keep x-kubernetes-preserve-unknown-fields for parts without a fixed schema: pod templates, chart values, settings of other software.",
		},
		{
			ID: "crd-described", Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(2)}, Definition: crdSchemaDescribed,
			Title: "The fields are described",
			Why:   "kubectl explain is the manual that users have at hand. A field without a description sends users to the source.",
			Fix:   "Write a comment on every field of the Go types, and generate the CRD with its descriptions. Four of five fields are enough.",
		},
		{
			ID: "crd-validated", Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(15)}, Definition: crdSchemaValidated,
			Title: "The schema checks more than types",
			Why:   "A value that the server refuses is corrected at once. A wrong value that it stores shows later, in the operator's log.",
			Fix:   "Say which fields are required, list the values of enumerations, give formats, patterns and bounds, and write rules across fields in CEL (x-kubernetes-validations).",
		},
		{
			ID: "crd-enumerations", Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(15)}, Definition: crdSchemaEnumerations,
			Title: "Values that the description lists are listed in the schema",
			Why:   "A list of values in the description helps readers, but the server still accepts a misspelled value.",
			Fix:   "List the values as an enum (+kubebuilder:validation:Enum).",
		},
		{
			ID: "crd-field-names", Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(2)}, Definition: crdFieldNames,
			Title: "Fields are named in lowerCamelCase",
			Why:   "All Kubernetes APIs do so, and users expect it.",
			Fix:   "Name new fields in lowerCamelCase, and rename the others in the next version, with a conversion.",
		},
		{
			ID: "crd-imperative", Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(1)}, Definition: crdImperative,
			Title: "The spec declares the desired state and triggers no actions",
			Why:   "An action runs once. Stored in Git and applied again, it runs again, or never; and the spec no longer describes the desired state.",
			Fix:   "Declare the desired state (a version, a schedule, a number), or add a kind whose objects are one action each (Backup, Restore), or use an annotation that kubectl sets.",
		},
	}
}

// crdKubectlRules are about how kubectl shows and handles a definition.
func crdKubectlRules() []check.Rule {
	return []check.Rule{
		{
			ID: "crd-printer-columns", Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(3)}, Definition: crdPrinterColumns,
			Title: "kubectl get shows columns of the kind's own",
			Why:   "Users read the list of objects first. Without columns it shows only that they exist.",
			Fix:   "Add printer columns for what they are and for their status (+kubebuilder:printcolumn).",
		},
		{
			ID: "crd-printer-paths", Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(3)}, Definition: crdPrinterPaths,
			Title: "Printer columns lead to fields that exist",
			Why:   "A column whose path matches no field stays empty, and looks as if something was missing.",
			Fix:   "Correct the path of the column, or add the field to the schema.",
		},
		{
			ID: "crd-short-names", Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(3)}, Definition: crdShortNames,
			Title: "The kind has a short name",
			Why:   "A name of three letters is typed a hundred times a day.",
			Fix:   "Add spec.names.shortNames, with a name that no other kind has.",
		},
		{
			ID: "crd-names-clash", Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(3)}, Definition: crdNamesClash,
			Title: "No other kind has the same names",
			Why:   "When two kinds share a name, kubectl takes the first one that it finds without a warning.",
			Fix:   "Choose names of your own, above all short ones; as a user, append the group to the name.",
		},
		{
			ID: "crd-categories", Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(3)}, Definition: crdCategories,
			Title: "The kind is in a category",
			Why:   "A category lists all objects of one operator at once: kubectl get cert-manager.",
			Fix:   "Add the operator's name to spec.names.categories of all its CRDs.",
		},
		{
			ID: "crd-status", Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(3)}, Definition: crdStatusSubresource,
			Title: "The status is a subresource",
			Why:   "With the subresource, users who edit the spec cannot write the status, permissions for it are granted separately, and metadata.generation counts only changes of the spec.",
			Fix:   "Add subresources.status to the version (+kubebuilder:subresource:status), and a status to its schema.",
		},
		{
			ID: "crd-scale", Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(3)}, Definition: crdScaleSubresource,
			Title: "Replicas are scaled by the scale subresource",
			Why:   "kubectl scale, HorizontalPodAutoscalers and PodDisruptionBudgets know a kind's replicas only by its scale subresource.",
			Fix:   "Add subresources.scale with the paths of the replicas in spec and status, and of the selector (+kubebuilder:subresource:scale).",
		},
		{
			ID: "crd-size", Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(2), check.MaturityGuideline(22)}, Definition: crdSize,
			Title: "The CRD is small enough for kubectl apply",
			Why:   "kubectl apply stores a copy of the object in an annotation, and annotations hold 256 KiB. A larger CRD is refused unless it is applied server-side.",
			Fix:   "Apply it with --server-side, or leave out the descriptions of embedded pod templates.",
		},
	}
}

// crdDeclaredRules are about the annotations by which a definition declares its relations.
func crdDeclaredRules() []check.Rule {
	return []check.Rule{
		{
			ID: "crd-relationships", Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(4)}, Definition: crdRelationships,
			Title: "What objects of the kind need and create is declared",
			Why:   "Undeclared relations have to be inferred, and an inferred stack may lack its database.",
			Fix:   "Add the annotation sysop.dev/relationships or the resource/... annotations to the CRD, or an entry to the catalog.",
		},
		{
			ID: "crd-annotations", Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(4)}, Definition: crdAnnotations,
			Title: "Relationship annotations can be read",
			Why:   "An annotation that cannot be read is ignored, and the stack lacks what it declares.",
			Fix:   "Correct the annotation as the message says.",
		},
		{
			ID: "crd-composition", Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(4)}, Definition: crdComposition,
			Title: "The declared parts are those that instances own",
			Why:   "Readers of the declaration look for parts that do not exist, or overlook those that do.",
			Fix:   "Update resource/composition to what the operator creates, and set owner references on all of it.",
		},
		{
			ID: "crd-usage", Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(4)}, Definition: crdUsage,
			Title: "The usage text is where the CRD says",
			Why:   "kubectl sysop man has nothing to show if the ConfigMap or its key does not exist.",
			Fix:   "Install the ConfigMap with the operator, and name it as namespace.configmap.key in resource/usage.",
		},
	}
}
