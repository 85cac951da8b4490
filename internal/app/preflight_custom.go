package app

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/manual"
	"github.com/kubectl-sysop/kubectl-sysop/internal/preflight"
)

// CheckedBySchema holds a custom resource against the schema of a definition of the same
// batch, as the server will once that is there. Rules in CEL are not evaluated here: where
// some speak of the object it is not decided.
func CheckedBySchema(crd, custom *unstructured.Unstructured) preflight.Admission {
	var said preflight.Admission
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	var served []string
	for _, v := range versions {
		v, _ := v.(map[string]any)
		name, _ := v["name"].(string)
		if v["served"] != true {
			continue
		}
		served = append(served, name)
		if name != custom.GroupVersionKind().Version {
			continue
		}
		schema, _, _ := unstructured.NestedMap(v, "schema", "openAPIV3Schema")
		if schema == nil {
			said.Unknown = "its CRD, which is in the batch, has no schema for this version"
			return said
		}
		return bySchema(schema, custom)
	}
	slices.Sort(served)
	said.Reason = "NotServed"
	said.Message = fmt.Sprintf("its CRD, which is in the batch, serves %s, and not %s", strings.Join(served, ", "), custom.GroupVersionKind().Version)
	return said
}

func bySchema(schema map[string]any, custom *unstructured.Unstructured) preflight.Admission {
	var said preflight.Admission
	if problems := manual.Check(schema, custom.Object); len(problems) > 0 {
		said.Reason, said.Message = "Invalid", "by the schema of its CRD, which is in the batch: "+strings.Join(problems, "; ")
		return said
	}
	if rules := manual.Unchecked(schema, custom.Object); len(rules) > 0 {
		said.Unknown = fmt.Sprintf("it fits the schema of its CRD, which is in the batch; CEL rules cannot be evaluated before the CRD exists: %s", strings.Join(rules, "; "))
		return said
	}
	said.Admitted = custom
	return said
}
