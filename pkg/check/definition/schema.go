package definition

import (
	"fmt"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// crdSchemaPresent checks that every served version has a schema with content.
func crdSchemaPresent(d *check.Definition, r *check.Result) {
	for _, v := range d.Served() {
		root := schemaOf(v)
		switch {
		case root == nil:
			r.AddFinding(check.Finding{
				Object: d.Ref, Field: "spec.versions[" + v.Name + "].schema",
				Message: "version " + v.Name + " has no schema: any content is stored, and kubectl explain has nothing to show",
			})
		case len(schemaDesired(v)) == 0 && schemaOpen(root.props):
			r.AddFinding(check.Finding{
				Object: d.Ref, Field: schemaField(v), Value: "x-kubernetes-preserve-unknown-fields: true",
				Message: "the schema of version " + v.Name + " names no field and accepts any: misspelled names are stored as they are",
			})
		default:
			r.Pass(d.Ref)
		}
	}
}

// crdSchemaStructural checks that the server can prune, default and publish by the schema.
func crdSchemaStructural(d *check.Definition, r *check.Result) {
	for _, c := range d.CRD.Status.Conditions {
		if c.Type == apiextensionsv1.NonStructuralSchema && c.Status == apiextensionsv1.ConditionTrue {
			r.AddFinding(check.Finding{
				Object: d.Ref, Field: "status.conditions[NonStructuralSchema]", Value: c.Message,
				Message: "the server says that the schema is not structural, so it is not published: no kubectl explain, no pruning, no defaults",
			})
			return
		}
	}
	if d.CRD.Spec.PreserveUnknownFields {
		r.AddFinding(check.Finding{
			Severity: check.Warning, Object: d.Ref, Field: "spec.preserveUnknownFields", Value: "true",
			Message: "fields that no schema knows are stored in every version, misspelled ones included",
			Patch:   "spec:\n  preserveUnknownFields: false\n",
		})
		return
	}
	for _, v := range d.Served() {
		if schemaOf(v) == nil {
			continue
		}
		if problem := schemaNotStructural(v); problem != "" {
			r.AddFinding(check.Finding{
				Object: d.Ref, Field: schemaField(v), Value: problem,
				Message: "the schema of version " + v.Name + " is not structural: the server neither prunes nor publishes it",
			})
			continue
		}
		r.Pass(d.Ref)
	}
}

// schemaNotStructural returns the first error that the server would report for a schema.
func schemaNotStructural(v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, internal, nil); err != nil {
		return err.Error()
	}
	s, err := structuralschema.NewStructural(internal)
	if err != nil {
		return err.Error()
	}
	// Features of newer servers count as allowed.
	all := structuralschema.ValidationOptions{
		AllowNestedAdditionalProperties: true, AllowNestedXValidations: true, AllowValidationPropertiesWithAdditionalProperties: true,
	}
	if errs := structuralschema.ValidateStructuralWithOptions(nil, s, all); len(errs) > 0 {
		return errs[0].Error()
	}
	return ""
}

// crdSchemaClosed finds fields at the top (the spec) that take anything. Deeper fields often
// hold pod templates, chart values and settings of other software, which are open on purpose.
func crdSchemaClosed(d *check.Definition, r *check.Result) {
	severity, then := unknownFields(d)
	for _, v := range d.Served() {
		root := schemaOf(v)
		if root == nil {
			continue
		}
		open := func(at, message string) {
			r.AddFinding(check.Finding{
				Severity: severity, Object: d.Ref, Field: schemaField(v) + at + ".x-kubernetes-preserve-unknown-fields", Value: "true",
				Message: message + ": " + then,
			})
		}
		wrong := len(r.Findings)
		if schemaOpen(root.props) && len(schemaDesired(v)) > 0 {
			open("", "version "+v.Name+" stores fields that its schema does not know, in the spec and outside of it")
		}
		for _, top := range schemaDesired(v) {
			if !schemaOpen(top.props) {
				continue
			}
			says := "names no field"
			if n := len(top.props.Properties); n > 0 {
				says = "names " + object.Count(n, "field") + ", and stores any other"
			}
			open(".properties."+top.name, "the schema of "+top.name+" in version "+v.Name+" "+says)
		}
		if len(r.Findings) == wrong {
			r.Pass(d.Ref)
		}
	}
}

// unknownFields describes what happens to a misspelled name that the schema accepts, and
// returns its severity. A webhook may be stricter than the schema.
func unknownFields(d *check.Definition) (check.Severity, string) {
	if webhooks, known := validatedBy(d); !known || len(webhooks) > 0 {
		return check.Info, "a misspelled name is refused only if a webhook does so"
	}
	return check.Warning, "a misspelled name is stored and has no effect"
}

// How much of a schema must be described. Of some 340 definitions that 25 operators publish
// (the texts come from comments in their types), eight in ten describe four fields of five or
// more; one in ten describes less than half, mostly because the texts were left out to save
// space. So four fifths is a realistic target, which allows for fields that need no words
// (name, port), and one half separates a schema with gaps from one without texts.
const (
	schemaDescribedWell = 0.8
	schemaDescribedHalf = 0.5
)

// crdSchemaDescribed checks that kubectl explain has a text for the fields.
func crdSchemaDescribed(d *check.Definition, r *check.Result) {
	v := preferred(d)
	var all int
	var bare []string
	schemaOwn(v, func(n *schemaNode) {
		// The spec itself needs no description.
		if !n.field() || n.depth() == 1 {
			return
		}
		all++
		if !schemaSays(n.props) {
			bare = append(bare, n.path())
		}
	})
	if all == 0 {
		return
	}
	share := float64(all-len(bare)) / float64(all)
	if share >= schemaDescribedWell {
		r.Pass(d.Ref)
		return
	}
	f := check.Finding{
		Object: d.Ref, Field: schemaField(v), Value: object.FirstWords(bare, 4),
		Message: fmt.Sprintf("%d of the %d fields that users fill in have no description: kubectl explain has nothing to show for them", len(bare), all),
	}
	if len(bare) == 1 && all > 1 {
		f.Message = fmt.Sprintf("1 of the %d fields that users fill in has no description: kubectl explain has nothing to show for it", all)
	}
	if all == 1 {
		f.Message = "the only field that users fill in has no description: kubectl explain has nothing to show for it"
	}
	if share >= schemaDescribedHalf {
		f.Severity = check.Info
	}
	r.AddFinding(f)
}

// schemaSays reports whether a field, or the items of its list, are described.
func schemaSays(p *apiextensionsv1.JSONSchemaProps) bool {
	if strings.TrimSpace(p.Description) != "" || p.Title != "" {
		return true
	}
	return p.Items != nil && p.Items.Schema != nil && strings.TrimSpace(p.Items.Schema.Description) != ""
}
