package definition

import (
	"encoding/json"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// applyLimit is the size in bytes that all annotations of an object may have together (of
// k8s.io/apimachinery/pkg/api/validation). kubectl apply keeps the whole object in one.
const applyLimit = 256 * 1024

// crdSize wants a definition that plain kubectl apply takes.
func crdSize(d *check.Definition, r *check.Result) {
	// What the server adds is not what was applied.
	crd := *d.CRD
	crd.ManagedFields, crd.Annotations, crd.Status = nil, nil, apiextensionsv1.CustomResourceDefinitionStatus{}
	data, err := json.Marshal(&crd)
	if err != nil {
		r.AddUnknown(d.Ref, "its size is unknown: "+err.Error())
		return
	}
	if len(data) <= applyLimit {
		r.Pass(d.Ref)
		return
	}
	r.AddFinding(check.Finding{
		Object: d.Ref, Field: "spec", Value: strconv.Itoa(len(data)/1024) + " KiB",
		Message: "the CRD is too large for the annotation in which kubectl apply stores it: without --server-side it is refused",
	})
}
