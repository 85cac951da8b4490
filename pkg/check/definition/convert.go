package definition

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func converts(d *check.Definition, r *check.Result) {
	storage := d.Storage()
	if storage == nil {
		return
	}
	if len(d.CRD.Spec.Versions) == 1 {
		r.Pass(d.Ref)
		return
	}
	if c := d.CRD.Spec.Conversion; c != nil && c.Strategy == apiextensionsv1.WebhookConverter {
		// The rule cannot see how a webhook converts; another rule checks that it answers.
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
		addLosses(d, i, v, storage, r)
	}
	if len(r.Findings)+len(r.Unknowns) == 0 {
		r.Pass(d.Ref)
	}
}

// addLosses compares a served version with the stored one, in both directions.
func addLosses(d *check.Definition, at int, v, storage *apiextensionsv1.CustomResourceDefinitionVersion, r *check.Result) {
	from, to := v.Schema.OpenAPIV3Schema, storage.Schema.OpenAPIV3Schema
	field := fmt.Sprintf("spec.versions[%d].schema.openAPIV3Schema", at)
	if missing := lostFields(from, to); len(missing) > 0 {
		r.AddFinding(check.Finding{
			Severity: statusSeverity(missing), Object: d.Ref, Field: field, Value: object.ShortList(missing),
			Message: fmt.Sprintf("values written in %s to %s are lost: %s, in which objects are stored, has no such field", v.Name, object.ShortList(missing), storage.Name),
		})
	}
	if hidden := lostFields(to, from); len(hidden) > 0 {
		r.AddFinding(check.Finding{
			Severity: statusSeverity(hidden), Object: d.Ref, Field: field, Value: object.ShortList(hidden),
			Message: fmt.Sprintf("reading an object in %s and writing it back loses %s, which %s has and %s does not", v.Name, object.ShortList(hidden), storage.Name, v.Name),
		})
	}
}

// statusSeverity lowers the severity for the status, which the operator writes again.
func statusSeverity(paths []string) check.Severity {
	if slices.ContainsFunc(paths, func(p string) bool { return p != "status" && !strings.HasPrefix(p, "status.") }) {
		return 0
	}
	return check.Info
}

// lostFields returns the topmost paths of the fields that one schema has and another prunes,
// in order. Source: pruning after conversion as the API server does it
// (schemaCoercingConverter in apiextensions-apiserver).
func lostFields(from, to *apiextensionsv1.JSONSchemaProps) []string {
	var out []string
	lostFieldsAt("", from, to, &out)
	slices.Sort(out)
	return out
}

func lostFieldsAt(path string, from, to *apiextensionsv1.JSONSchemaProps, out *[]string) {
	keeps := schemaOpen(to)
	for _, name := range slices.Sorted(maps.Keys(from.Properties)) {
		if path == "" && (name == "apiVersion" || name == "kind" || name == "metadata") {
			continue
		}
		child := strings.TrimPrefix(path+"."+name, ".")
		have := from.Properties[name]
		if want, ok := to.Properties[name]; ok {
			lostFieldsAt(child, &have, &want, out)
			continue
		}
		if !keeps && !takesAnyField(to) {
			*out = append(*out, child)
		}
	}
	if f, t := itemSchema(from), itemSchema(to); f != nil && t != nil {
		lostFieldsAt(path+"[]", f, t, out)
	}
	switch f, t := valueSchema(from), valueSchema(to); {
	case f != nil && t != nil:
		lostFieldsAt(path+".*", f, t, out)
	case f != nil && !keeps && !takesAnyField(to):
		*out = append(*out, path+".*")
	}
}

// takesAnyField reports whether a schema takes fields of any name.
func takesAnyField(s *apiextensionsv1.JSONSchemaProps) bool {
	return s.AdditionalProperties != nil && (s.AdditionalProperties.Allows || s.AdditionalProperties.Schema != nil)
}

func itemSchema(s *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	if s.Items == nil {
		return nil
	}
	return s.Items.Schema
}

func valueSchema(s *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	if s.AdditionalProperties == nil {
		return nil
	}
	return s.AdditionalProperties.Schema
}

func conversion(d *check.Definition, r *check.Result) {
	c := d.CRD.Spec.Conversion
	if c == nil || c.Strategy != apiextensionsv1.WebhookConverter || c.Webhook == nil || c.Webhook.ClientConfig == nil {
		return
	}
	const field = "spec.conversion.webhook.clientConfig"
	severity, note := check.Severity(0), ""
	if len(d.CRD.Spec.Versions) == 1 && len(d.CRD.Status.StoredVersions) < 2 {
		severity, note = check.Info, "; with a single version it is never called"
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
	if len(client.CABundle) == 0 && check.IsManifest(&d.CRD.ObjectMeta) {
		r.AddUnknown(d.Ref, check.UnknownBundle)
	} else if len(client.CABundle) == 0 {
		r.AddFinding(check.Finding{
			Severity: max(severity, check.Warning), Object: d.Ref, Field: field + ".caBundle",
			Message: "the conversion webhook has no caBundle: the API server trusts it only with a certificate of a public authority" + note,
		})
	}
	switch a := d.World.Answers(service, port); {
	case a.Wrong != "":
		r.AddFinding(check.Finding{Severity: severity, Object: d.Ref, Field: field + ".service", Value: service.Namespace + "/" + service.Name, Message: "its objects cannot be converted: " + a.Wrong + note, Related: []object.Ref{service}})
	case a.Unknown != "":
		r.AddUnknown(d.Ref, a.Unknown)
	case len(r.Findings)+len(r.Unknowns) == 0:
		r.Pass(d.Ref)
	}
}
