package catalog

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// crossplane returns what Crossplane says of the kinds that its users and
// providers define. No entry can name them; they are recognized by their categories.
func crossplane(kinds *object.Kinds) []declare.Spec {
	var out []declare.Spec
	for _, k := range kinds.All() {
		if !k.Custom || len(k.Categories) == 0 {
			continue
		}
		switch kind := declare.Spell(k.GroupKind()); {
		case slices.Contains(k.Categories, "claim"):
			out = append(out, claim(kind)...)
		case slices.Contains(k.Categories, "composite"):
			out = append(out, composite(kind)...)
		case slices.Contains(k.Categories, "managed"):
			out = append(out, managed(kind, k.Group, kinds)...)
		}
	}
	return out
}

const (
	composition         = "Composition.apiextensions.crossplane.io"
	compositionRevision = "CompositionRevision.apiextensions.crossplane.io"
	crossplaneTypes     = "https://github.com/crossplane/crossplane-runtime/tree/v2.1.0/pkg/resource/unstructured"
)

func claim(kind string) []declare.Spec {
	return []declare.Spec{
		{From: []string{kind}, To: []string{declare.Any}, Relation: "owns", Field: "spec.resourceRef", Source: crossplaneTypes},
		{From: []string{kind}, To: []string{composition}, Relation: "needs", Field: "spec.compositionRef", Source: crossplaneTypes},
		{From: []string{kind}, To: []string{compositionRevision}, Relation: "needs", Field: "spec.compositionRevisionRef", Source: crossplaneTypes},
		{From: []string{kind}, To: []string{"Secret"}, Relation: "owns", Field: "spec.writeConnectionSecretToRef", Inferred: true, Source: crossplaneTypes},
	}
}

// composite reads composite resources of version 1, which keep what is
// Crossplane's in spec, and of version 2, where it is in spec.crossplane.
func composite(kind string) []declare.Spec {
	var out []declare.Spec
	for _, at := range []string{"spec.", "spec.crossplane."} {
		out = append(out,
			declare.Spec{From: []string{kind}, To: []string{declare.Any}, Relation: "owns", Field: at + "resourceRefs[]", Source: crossplaneTypes},
			declare.Spec{From: []string{kind}, To: []string{composition}, Relation: "needs", Field: at + "compositionRef", Source: crossplaneTypes},
			declare.Spec{From: []string{kind}, To: []string{compositionRevision}, Relation: "needs", Field: at + "compositionRevisionRef", Source: crossplaneTypes},
		)
	}
	return append(out,
		declare.Spec{From: []string{declare.Any}, To: []string{kind}, Relation: "owns", Field: "spec.claimRef", Read: "to", Source: crossplaneTypes},
		declare.Spec{From: []string{kind}, To: []string{"Secret"}, Relation: "owns", Field: "spec.writeConnectionSecretToRef", Inferred: true, Source: crossplaneTypes},
	)
}

func managed(kind, group string, kinds *object.Kinds) []declare.Spec {
	out := []declare.Spec{
		{From: []string{kind}, To: []string{"Secret"}, Relation: "owns", Field: "spec.writeConnectionSecretToRef", Inferred: true, Source: crossplaneTypes},
	}
	if configs := providerConfigs(group, kinds); len(configs) > 0 {
		out = append(out, declare.Spec{From: []string{kind}, To: configs, Relation: "needs", Field: "spec.providerConfigRef", Source: crossplaneTypes})
	}
	return out
}

// providerConfigs returns the kinds that configure the provider of a group: those
// of s3.aws.upbound.io are in aws.upbound.io.
func providerConfigs(group string, kinds *object.Kinds) []string {
	for {
		var found []string
		for _, name := range []string{"ProviderConfig", "ClusterProviderConfig"} {
			gk := schema.GroupKind{Group: group, Kind: name}
			if _, ok := kinds.Kind(gk); ok {
				found = append(found, declare.Spell(gk))
			}
		}
		_, rest, ok := strings.Cut(group, ".")
		if len(found) > 0 || !ok || !strings.Contains(rest, ".") {
			return found
		}
		group = rest
	}
}
