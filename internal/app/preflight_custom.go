package app

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/manual"
	"github.com/kubectl-sysop/kubectl-sysop/internal/preflight"
)

// checkedBySchema validates a custom resource against the schema of a definition of the same batch,
// as the server will once the definition exists. It does not evaluate CEL rules: where some apply
// to the object, the result is unknown.
func checkedBySchema(crd, custom *unstructured.Unstructured) preflight.Admission {
	var result preflight.Admission
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
			result.Unknown = "its CRD, which is in the batch, has no schema for this version"
			return result
		}
		return bySchema(schema, custom)
	}
	slices.Sort(served)
	result.Reason = "NotServed"
	result.Message = fmt.Sprintf("its CRD, which is in the batch, serves %s, and not %s", strings.Join(served, ", "), custom.GroupVersionKind().Version)
	return result
}

func bySchema(schema map[string]any, custom *unstructured.Unstructured) preflight.Admission {
	var result preflight.Admission
	if problems := manual.Check(schema, custom.Object); len(problems) > 0 {
		result.Reason, result.Message = "Invalid", "by the schema of its CRD, which is in the batch: "+strings.Join(problems, "; ")
		return result
	}
	if rules := manual.Unchecked(schema, custom.Object); len(rules) > 0 {
		result.Unknown = fmt.Sprintf("it fits the schema of its CRD, which is in the batch; CEL rules cannot be evaluated before the CRD exists: %s", strings.Join(rules, "; "))
		return result
	}
	result.Admitted = custom
	return result
}
