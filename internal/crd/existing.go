package crd

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// InvalidObject is an existing object that a definition does not accept.
type InvalidObject struct {
	Object object.Ref `json:"object"`
	// Field is the path in the object (spec.rules[2].host); empty for the whole object.
	Field string `json:"field,omitempty"`
	// Lost is set if the field is dropped by the next write of the object; otherwise the object
	// cannot be written at all.
	Lost    bool   `json:"lost,omitempty"`
	Message string `json:"message"`
	// Reason is the end of Message: what is wrong with the field.
	Reason string `json:"-"`
}

// ValidateExisting validates objects against the schema of their version in a definition, with the
// API server's own libraries and in its order: it drops undeclared fields and reports each, applies
// defaults, and validates the rest. It does not change the objects. The result is in the order of
// the objects, within each by field.
//
// It does not evaluate CEL rules (x-kubernetes-validations). The error
// is for the definition, or for an object of another kind.
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
		v, served := d.version(gvk.Version)
		if !served {
			reason := fmt.Sprintf("is in version %s, which the CRD does not have", gvk.Version)
			broken = append(broken, InvalidObject{Object: object.RefOf(u), Message: object.RefOf(u).String() + " " + reason, Reason: "it " + reason})
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

func orWhole(at, version string) string {
	if at == "" {
		return version
	}
	return at + " in " + version
}
