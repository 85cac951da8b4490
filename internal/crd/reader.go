package crd

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	at "k8s.io/apimachinery/pkg/util/validation/field"
	invalid "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// reader reads objects of one version as the API server does.
type reader struct {
	keepsAll   bool
	structural *schema.Structural
	validator  *validate.SchemaValidator
}

// newReader returns the reader of a version. Without a schema it accepts everything.
func newReader(d *definition, v version) (*reader, error) {
	r := &reader{keepsAll: d.keepsAll}
	if v.schema == nil {
		return r, nil
	}
	fail := func(err error) (*reader, error) {
		return nil, fmt.Errorf("read the schema of %s in the CRD %s: %w", v.name, d.name, err)
	}
	text, err := json.Marshal(v.schema)
	if err != nil {
		return fail(err)
	}
	var typed apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(text, &typed); err != nil {
		return fail(err)
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&typed, &internal, nil); err != nil {
		return fail(err)
	}
	if r.structural, err = schema.NewStructural(&internal); err != nil {
		return fail(err)
	}
	if wrong := schema.ValidateStructural(at.NewPath("openAPIV3Schema"), r.structural); len(wrong) > 0 && !d.keepsAll {
		return fail(wrong.ToAggregate())
	}
	open := r.structural.ToKubeOpenAPI()
	eitherType(open)
	r.validator = validate.NewSchemaValidator(open, nil, "", strfmt.Default)
	return r, nil
}

// eitherType converts x-kubernetes-int-or-string to types that validation understands.
func eitherType(s *spec.Schema) {
	if either, _ := s.Extensions.GetBool("x-kubernetes-int-or-string"); either {
		s.Type = spec.StringOrArray{"integer", "string"}
	}
	for name, p := range s.Properties {
		eitherType(&p)
		s.Properties[name] = p
	}
	if s.Items != nil && s.Items.Schema != nil {
		eitherType(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		eitherType(s.AdditionalProperties.Schema)
	}
}

const noSuchField = "the CRD has no such field"

func (r *reader) read(u *unstructured.Unstructured) []InvalidObject {
	if r.structural == nil {
		return nil
	}
	ref := object.RefOf(u)
	content := runtime.DeepCopyJSON(u.Object)
	var broken []InvalidObject
	if !r.keepsAll {
		dropped := pruning.PruneWithOptions(content, r.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
		for _, path := range dropped {
			broken = append(broken, InvalidObject{Object: ref, Field: path, Lost: true, Reason: noSuchField, Message: fmt.Sprintf("%s: %s is dropped when it is next written: %s", ref, path, noSuchField)})
		}
	}
	fill(content, r.structural)
	for _, err := range r.validator.Validate(content).Errors {
		path, says := "", err.Error()
		if v, ok := errors.AsType[*invalid.Validation](err); ok {
			path = strings.Trim(v.Name, ".")
			says = strings.Replace(says, v.Name+" in body", "it", 1)
		}
		broken = append(broken, refused(u, path, says))
	}
	for _, err := range listtype.ValidateListSetsAndMaps(nil, r.structural, content) {
		broken = append(broken, refused(u, strings.Trim(err.Field, "."), err.ErrorBody()))
	}
	for _, path := range bare("", content, r.structural) {
		broken = append(broken, refused(u, path, "it is an embedded object without apiVersion or kind"))
	}
	slices.SortStableFunc(broken, func(a, b InvalidObject) int { return strings.Compare(a.Field+a.Message, b.Field+b.Message) })
	return broken
}

func refused(u *unstructured.Unstructured, path, says string) InvalidObject {
	ref := object.RefOf(u)
	place := ref.String()
	if path != "" {
		place += ": " + path
	}
	return InvalidObject{Object: ref, Field: path, Reason: says, Message: fmt.Sprintf("%s: it does not validate against the CRD: %s", place, says)}
}

// childSchema returns the schema of a field, or nil.
func childSchema(s *schema.Structural, name string) *schema.Structural {
	if s == nil {
		return nil
	}
	if p, ok := s.Properties[name]; ok {
		return &p
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Structural
	}
	return nil
}

// fill drops invalid nulls and applies defaults, from the outside in, since defaults contain
// defaults.
func fill(v any, s *schema.Structural) {
	if s == nil {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		fillNulls(v, s)
		for name := range s.Properties {
			given := s.Properties[name].Default.Object
			if _, present := v[name]; !present && given != nil {
				v[name] = runtime.DeepCopyJSONValue(given)
			}
		}
		for name := range v {
			fill(v[name], childSchema(s, name))
		}
	case []any:
		for i := range v {
			if v[i] == nil && s.Items != nil && !s.Items.Nullable {
				v[i] = runtime.DeepCopyJSONValue(s.Items.Default.Object)
			}
			fill(v[i], s.Items)
		}
	}
}

// fillNulls replaces invalid nulls by the default, or drops them.
func fillNulls(fields map[string]any, s *schema.Structural) {
	for name, value := range fields {
		sub := childSchema(s, name)
		if value != nil || sub == nil || sub.Nullable {
			continue
		}
		if given := sub.Default.Object; given != nil {
			fields[name] = runtime.DeepCopyJSONValue(given)
			continue
		}
		delete(fields, name)
	}
}

// bare returns the places of embedded objects without apiVersion or kind.
func bare(path string, v any, s *schema.Structural) []string {
	if s == nil {
		return nil
	}
	var places []string
	switch v := v.(type) {
	case map[string]any:
		if s.XEmbeddedResource {
			if kind, _ := v["kind"].(string); kind == "" || blank(v["apiVersion"]) {
				places = append(places, path)
			}
		}
		for _, name := range keysOf(v, nil) {
			places = append(places, bare(field.Join(path, name), v[name], childSchema(s, name))...)
		}
	case []any:
		for i := range v {
			places = append(places, bare(field.Item(path, i), v[i], s.Items)...)
		}
	}
	return places
}
