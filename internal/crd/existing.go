package crd

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// InvalidObject is what a definition does not take of an object that is there.
type InvalidObject struct {
	Object object.Ref `json:"object"`
	// Field is the path in the object (spec.rules[2].host); empty for the whole of it.
	Field string `json:"field,omitempty"`
	// Lost says that the field is dropped when the object is next written; else the object
	// cannot be written at all.
	Lost    bool   `json:"lost,omitempty"`
	Message string `json:"message"`
}

// ValidateExisting holds objects against the schema of their version in a definition, with
// the API server's own libraries and in its order: fields that the schema does not know are
// dropped, each of them reported; defaults are filled in; the rest is validated. The objects
// are not changed. What is broken is in the order of the objects, within each by field.
//
// Rules in CEL (x-kubernetes-validations) are not evaluated: Undecided says where there are
// some. An error is of the definition, or of an object that is not of it.
func ValidateExisting(definition *unstructured.Unstructured, objects []*unstructured.Unstructured) ([]InvalidObject, error) {
	d, err := readDefinition(definition)
	if err != nil {
		return nil, err
	}
	readers := map[string]*reader{}
	var broken []InvalidObject
	for _, u := range objects {
		gvk := u.GroupVersionKind()
		if gvk.Group != d.spec["group"] || gvk.Kind != d.names["kind"] {
			return nil, fmt.Errorf("validate %s %s against the CRD %s: it is not one of its objects", gvk.GroupKind(), u.GetName(), d.name)
		}
		v, there := d.version(gvk.Version)
		if !there {
			broken = append(broken, InvalidObject{Object: refOf(u), Message: fmt.Sprintf("%s is in version %s, which the CRD does not have", refOf(u), gvk.Version)})
			continue
		}
		r := readers[v.name]
		if r == nil {
			if r, err = newReader(d, v); err != nil {
				return nil, err
			}
			readers[v.name] = r
		}
		broken = append(broken, r.read(u)...)
	}
	return broken, nil
}

func refOf(u *unstructured.Unstructured) object.Ref {
	gvk := u.GroupVersionKind()
	return object.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}
}

// UnevaluatedRules says which rules in CEL speak of the objects in a definition, a line for each
// version and place; ValidateExisting does not evaluate them.
func UnevaluatedRules(definition *unstructured.Unstructured, objects []*unstructured.Unstructured) ([]string, error) {
	d, err := readDefinition(definition)
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	for _, u := range objects {
		count[u.GroupVersionKind().Version]++
	}
	var open []string
	for _, v := range d.versions {
		if n := count[v.name]; n > 0 {
			for _, at := range rulesBelow("", v.schema) {
				open = append(open, fmt.Sprintf("%s: CEL rules were not evaluated for %d objects", orWhole(at, v.name), n))
			}
		}
	}
	return open, nil
}

func orWhole(at, version string) string {
	if at == "" {
		return version
	}
	return at + " in " + version
}

// rulesBelow returns the places of rules in CEL.
func rulesBelow(at string, schema map[string]any) []string {
	var places []string
	if !blank(schema["x-kubernetes-validations"]) {
		places = append(places, at)
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range keysOf(properties, nil) {
		below, _ := properties[name].(map[string]any)
		places = append(places, rulesBelow(field.Join(at, name), below)...)
	}
	if below, ok := schema["additionalProperties"].(map[string]any); ok {
		places = append(places, rulesBelow(anyKey(at), below)...)
	}
	if below, ok := schema["items"].(map[string]any); ok {
		places = append(places, rulesBelow(at+"[]", below)...)
	}
	return places
}
