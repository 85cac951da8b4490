package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func coreosConverts(d *Definition, r *Result) {
	storage := d.Storage()
	if storage == nil {
		return
	}
	if len(d.CRD.Spec.Versions) == 1 {
		r.Pass(d.Ref)
		return
	}
	if c := d.CRD.Spec.Conversion; c != nil && c.Strategy == apiextensionsv1.WebhookConverter {
		// What a webhook makes of an object is its own affair: whether it answers is another rule.
		r.AddUnknown(d.Ref, "a webhook converts its objects, and only a test shows whether that loses data")
		return
	}
	if d.CRD.Spec.PreserveUnknownFields {
		r.Pass(d.Ref)
		return
	}
	for i := range d.CRD.Spec.Versions {
		v := &d.CRD.Spec.Versions[i]
		if !v.Served || v.Name == storage.Name {
			continue
		}
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil || storage.Schema == nil || storage.Schema.OpenAPIV3Schema == nil {
			r.AddUnknown(d.Ref, fmt.Sprintf("%s or %s has no schema, so they cannot be compared", v.Name, storage.Name))
			continue
		}
		coreosLosses(d, i, v, storage, r)
	}
	if len(r.Findings)+len(r.Unknowns) == 0 {
		r.Pass(d.Ref)
	}
}

// coreosLosses compares a served version with the stored one, in both directions.
func coreosLosses(d *Definition, at int, v, storage *apiextensionsv1.CustomResourceDefinitionVersion, r *Result) {
	from, to := v.Schema.OpenAPIV3Schema, storage.Schema.OpenAPIV3Schema
	field := fmt.Sprintf("spec.versions[%d].schema.openAPIV3Schema", at)
	if lost := coreosLost(from, to); len(lost) > 0 {
		r.AddFinding(Finding{
			Severity: coreosOnlyStatus(lost), Object: d.Ref, Field: field, Value: object.ShortList(lost),
			Message: fmt.Sprintf("values written in %s to %s are lost: %s, in which objects are stored, has no such field", v.Name, object.ShortList(lost), storage.Name),
		})
	}
	if hidden := coreosLost(to, from); len(hidden) > 0 {
		r.AddFinding(Finding{
			Severity: coreosOnlyStatus(hidden), Object: d.Ref, Field: field, Value: object.ShortList(hidden),
			Message: fmt.Sprintf("reading an object in %s and writing it back loses %s, which %s has and %s does not", v.Name, object.ShortList(hidden), storage.Name, v.Name),
		})
	}
}

// coreosOnlyStatus makes milder what the operator will write again.
func coreosOnlyStatus(paths []string) Severity {
	if slices.ContainsFunc(paths, func(p string) bool { return p != "status" && !strings.HasPrefix(p, "status.") }) {
		return 0
	}
	return Info
}

// coreosLost returns the paths of the fields that one schema has and another would have cut
// off, in order, the topmost of each. Source: pruning after conversion as the API server
// does it (schemaCoercingConverter in apiextensions-apiserver).
func coreosLost(from, to *apiextensionsv1.JSONSchemaProps) []string {
	var out []string
	coreosLostAt("", from, to, &out)
	slices.Sort(out)
	return out
}

func coreosLostAt(path string, from, to *apiextensionsv1.JSONSchemaProps, out *[]string) {
	keeps := schemaOpen(to)
	for _, name := range slices.Sorted(maps.Keys(from.Properties)) {
		if path == "" && (name == "apiVersion" || name == "kind" || name == "metadata") {
			continue
		}
		below := strings.TrimPrefix(path+"."+name, ".")
		have := from.Properties[name]
		if want, ok := to.Properties[name]; ok {
			coreosLostAt(below, &have, &want, out)
			continue
		}
		if !keeps && !coreosTakesAny(to) {
			*out = append(*out, below)
		}
	}
	if f, t := coreosItems(from), coreosItems(to); f != nil && t != nil {
		coreosLostAt(path+"[]", f, t, out)
	}
	switch f, t := coreosExtra(from), coreosExtra(to); {
	case f != nil && t != nil:
		coreosLostAt(path+".*", f, t, out)
	case f != nil && !keeps && !coreosTakesAny(to):
		*out = append(*out, path+".*")
	}
}

// coreosTakesAny says that a schema takes fields of any name.
func coreosTakesAny(s *apiextensionsv1.JSONSchemaProps) bool {
	return s.AdditionalProperties != nil && (s.AdditionalProperties.Allows || s.AdditionalProperties.Schema != nil)
}

func coreosItems(s *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	if s.Items == nil {
		return nil
	}
	return s.Items.Schema
}

func coreosExtra(s *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	if s.AdditionalProperties == nil {
		return nil
	}
	return s.AdditionalProperties.Schema
}

func coreosConversion(d *Definition, r *Result) {
	c := d.CRD.Spec.Conversion
	if c == nil || c.Strategy != apiextensionsv1.WebhookConverter || c.Webhook == nil || c.Webhook.ClientConfig == nil {
		return
	}
	const field = "spec.conversion.webhook.clientConfig"
	severity, note := Severity(0), ""
	if len(d.CRD.Spec.Versions) == 1 && len(d.CRD.Status.StoredVersions) < 2 {
		severity, note = Info, "; with a single version it is never called"
	}
	client := c.Webhook.ClientConfig
	if client.Service == nil {
		r.AddUnknown(d.Ref, "its conversion webhook is called by URL, which is not checked")
		return
	}
	service := object.Ref{Kind: "Service", Namespace: client.Service.Namespace, Name: client.Service.Name}
	port := int32(443)
	if client.Service.Port != nil {
		port = *client.Service.Port
	}
	if len(client.CABundle) == 0 && manifestOnly(&d.CRD.ObjectMeta) {
		r.AddUnknown(d.Ref, coreosWritten)
	} else if len(client.CABundle) == 0 {
		r.AddFinding(Finding{
			Severity: max(severity, Warning), Object: d.Ref, Field: field + ".caBundle",
			Message: "the conversion webhook has no caBundle: the API server trusts it only with a certificate of a public authority" + note,
		})
	}
	switch a := d.World.answers(service, port); {
	case a.wrong != "":
		r.AddFinding(Finding{Severity: severity, Object: d.Ref, Field: field + ".service", Value: service.Namespace + "/" + service.Name, Message: "its objects cannot be converted: " + a.wrong + note, Related: []object.Ref{service}})
	case a.unknown != "":
		r.AddUnknown(d.Ref, a.unknown)
	case len(r.Findings)+len(r.Unknowns) == 0:
		r.Pass(d.Ref)
	}
}
