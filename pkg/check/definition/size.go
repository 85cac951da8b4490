package definition

import (
	"encoding/json"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// applyLimit is the maximum size in bytes of all annotations of an object
// (k8s.io/apimachinery/pkg/api/validation). kubectl apply stores the whole object in one.
const applyLimit = 256 * 1024

// crdSize checks that plain kubectl apply accepts the definition.
func crdSize(d *check.Definition, r *check.Result) {
	// Fields that the server adds were not applied.
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
