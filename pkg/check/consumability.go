package check

import "slices"

// consumabilityRules are about definitions as users meet them: through kubectl explain,
// get, apply and scale.
func consumabilityRules() []Rule {
	rules := slices.Concat(crdSchemaRules(), crdKubectlRules(), crdDeclaredRules())
	for i := range rules {
		rules[i].Category = Consumability
	}
	return rules
}

// crdSchemaRules are about what a schema says, and what it refuses.
func crdSchemaRules() []Rule {
	return []Rule{
		{
			ID: "crd-schema", Severity: Warning, Guidelines: []Guideline{maturity(2)}, Definition: crdSchemaPresent,
			Title: "Every served version has a schema",
			Why:   "Without a schema the server stores whatever is written. A field with a mistake in its name has no effect, and nobody is told.",
			Fix:   "Generate the schema from the Go types (controller-gen), or write it by hand, for every version that is served.",
		},
		{
			ID: "crd-structural", Severity: Error, Guidelines: []Guideline{maturity(2)}, Definition: crdSchemaStructural,
			Title: "The schema is structural",
			Why:   "Of a schema that is not structural the server publishes nothing. It does not prune unknown fields and sets no defaults, and a definition of apiextensions.k8s.io/v1 is refused with it.",
			Fix:   "Give every field a type, keep types out of anyOf, oneOf, allOf and not, and set spec.preserveUnknownFields to false.",
		},
		{
			ID: "crd-open-spec", Severity: Warning, Guidelines: []Guideline{maturity(2), maturity(15)}, Definition: crdSchemaClosed,
			Title: "The spec takes only fields that the schema knows",
			Why:   "With x-kubernetes-preserve-unknown-fields at the top, a mistake in the name of a field is stored like any other and does nothing.",
			Fix:   "Name the fields of the spec, and keep x-kubernetes-preserve-unknown-fields for the parts that are free by nature: pod templates, values of charts, settings of other software.",
		},
		{
			ID: "crd-described", Severity: Warning, Guidelines: []Guideline{maturity(2)}, Definition: crdSchemaDescribed,
			Title: "The fields are described",
			Why:   "kubectl explain is the manual that is at hand. A field without a description sends users to the source.",
			Fix:   "Write a comment on every field of the Go types, and generate the definition with its descriptions. Four fields of five are enough.",
		},
		{
			ID: "crd-validated", Severity: Warning, Guidelines: []Guideline{maturity(15)}, Definition: crdSchemaValidated,
			Title: "The schema checks more than types",
			Why:   "A value that the server refuses is mended at once. One that it stores is found later, in the log of the operator.",
			Fix:   "Say which fields are required, list the values of enumerations, give formats, patterns and bounds, and write rules across fields in CEL (x-kubernetes-validations).",
		},
		{
			ID: "crd-enumerations", Severity: Info, Guidelines: []Guideline{maturity(15)}, Definition: crdSchemaEnumerations,
			Title: "Values that the description lists are listed in the schema",
			Why:   "A list of values in the text helps readers, but the server takes a value with a mistake all the same.",
			Fix:   "List the values as an enum (+kubebuilder:validation:Enum).",
		},
		{
			ID: "crd-field-names", Severity: Info, Guidelines: []Guideline{maturity(2)}, Definition: crdFieldNames,
			Title: "Fields are named in lowerCamelCase",
			Why:   "All of Kubernetes does so, and users write by habit.",
			Fix:   "Name new fields so, and rename the others with the next version, by conversion.",
		},
		{
			ID: "crd-imperative", Severity: Warning, Guidelines: []Guideline{maturity(1)}, Definition: crdImperative,
			Title: "The spec says what is wanted, and orders nothing",
			Why:   "An order is done once. Kept in Git and applied again, it is done again, or never; and the spec no longer says how things are.",
			Fix:   "Say what is to hold (a version, a schedule, a number), or make a kind of its own of which each object is one deed (Backup, Restore), or take an annotation that kubectl sets.",
		},
	}
}

// crdKubectlRules are about what kubectl makes of a definition.
func crdKubectlRules() []Rule {
	return []Rule{
		{
			ID: "crd-printer-columns", Severity: Info, Guidelines: []Guideline{maturity(3)}, Definition: crdPrinterColumns,
			Title: "kubectl get shows columns of the kind's own",
			Why:   "The list of objects is what is looked at first. Without columns it says only that they are there.",
			Fix:   "Add printer columns for what they are and how they fare (+kubebuilder:printcolumn).",
		},
		{
			ID: "crd-printer-paths", Severity: Warning, Guidelines: []Guideline{maturity(3)}, Definition: crdPrinterPaths,
			Title: "Printer columns lead to fields that exist",
			Why:   "A column of which the path leads nowhere stays empty, and looks as if something was missing.",
			Fix:   "Mend the path of the column, or add the field to the schema.",
		},
		{
			ID: "crd-short-names", Severity: Info, Guidelines: []Guideline{maturity(3)}, Definition: crdShortNames,
			Title: "The kind has a short name",
			Why:   "A name of three letters is typed a hundred times a day.",
			Fix:   "Add spec.names.shortNames, with a name that no other kind has.",
		},
		{
			ID: "crd-names-clash", Severity: Info, Guidelines: []Guideline{maturity(3)}, Definition: crdNamesClash,
			Title: "No other kind has the same names",
			Why:   "Of two kinds of one name kubectl takes the first that it finds, and does not say so.",
			Fix:   "Choose names of your own, above all short ones; as a user, write the group behind the name.",
		},
		{
			ID: "crd-categories", Severity: Info, Guidelines: []Guideline{maturity(3)}, Definition: crdCategories,
			Title: "The kind is in a category",
			Why:   "By a category everything of one operator is listed at once: kubectl get cert-manager.",
			Fix:   "Add the operator's name to spec.names.categories of all its definitions.",
		},
		{
			ID: "crd-status", Severity: Warning, Guidelines: []Guideline{maturity(3)}, Definition: crdStatusSubresource,
			Title: "The status is a subresource",
			Why:   "Apart from the spec, the status cannot be written by whoever edits the spec, rights to it are given apart, and metadata.generation counts changes of the spec alone.",
			Fix:   "Add subresources.status to the version (+kubebuilder:subresource:status), and a status to its schema.",
		},
		{
			ID: "crd-scale", Severity: Info, Guidelines: []Guideline{maturity(3)}, Definition: crdScaleSubresource,
			Title: "Replicas are scaled by the scale subresource",
			Why:   "kubectl scale, HorizontalPodAutoscalers and disruption budgets know a kind's replicas by its scale subresource alone.",
			Fix:   "Add subresources.scale with the paths of the replicas in spec and status, and of the selector (+kubebuilder:subresource:scale).",
		},
		{
			ID: "crd-size", Severity: Info, Guidelines: []Guideline{maturity(2), maturity(22)}, Definition: crdSize,
			Title: "The definition is small enough for kubectl apply",
			Why:   "kubectl apply keeps a copy of the object in an annotation, and annotations hold 256 KiB. A bigger definition is refused unless it is applied by the server.",
			Fix:   "Apply it with --server-side, or leave out the descriptions of embedded pod templates.",
		},
	}
}

// crdDeclaredRules are about what a definition says of others in its annotations.
func crdDeclaredRules() []Rule {
	return []Rule{
		{
			ID: "crd-relationships", Severity: Info, Guidelines: []Guideline{maturity(4)}, Definition: crdRelationships,
			Title: "What objects of the kind need and make is declared",
			Why:   "What is not declared has to be guessed, and a stack that is guessed may lack its database.",
			Fix:   "Add the annotation sysop.dev/relationships or the resource/... annotations to the definition, or an entry to the catalog.",
		},
		{
			ID: "crd-annotations", Severity: Warning, Guidelines: []Guideline{maturity(4)}, Definition: crdAnnotations,
			Title: "Relationship annotations can be read",
			Why:   "An annotation that cannot be read says nothing, and the stack lacks what it stands for.",
			Fix:   "Mend the annotation as the message says.",
		},
		{
			ID: "crd-composition", Severity: Info, Guidelines: []Guideline{maturity(4)}, Definition: crdComposition,
			Title: "The declared parts are those that instances own",
			Why:   "Who reads the declaration looks for parts that are not there, or overlooks those that are.",
			Fix:   "Bring resource/composition up to what the operator makes, and set owner references on all of it.",
		},
		{
			ID: "crd-usage", Severity: Warning, Guidelines: []Guideline{maturity(4)}, Definition: crdUsage,
			Title: "The usage text is where the definition says",
			Why:   "kubectl sysop man has nothing to show where the ConfigMap or its key is not there.",
			Fix:   "Install the ConfigMap with the operator, and name it as namespace.configmap.key in resource/usage.",
		},
	}
}
