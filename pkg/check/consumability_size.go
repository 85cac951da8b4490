package check

import (
	"encoding/json"
	"strconv"
)

// applyLimit is the size in bytes that all annotations of an object may have together (of
// k8s.io/apimachinery/pkg/api/validation). kubectl apply keeps the whole object in one.
const applyLimit = 256 * 1024

// crdSize wants a definition that plain kubectl apply takes.
func crdSize(d *Definition, r *Result) {
	crd := d.CRD.DeepCopy()
	crd.ManagedFields, crd.Annotations = nil, nil
	crd.Status.Conditions, crd.Status.StoredVersions = nil, nil
	data, err := json.Marshal(crd)
	if err != nil {
		r.Unknown(d.Ref, "its size is not known: "+err.Error())
		return
	}
	if len(data) <= applyLimit {
		r.Fine(d.Ref)
		return
	}
	r.Found(Finding{
		Object: d.Ref, Field: "spec", Value: strconv.Itoa(len(data)/1024) + " KiB",
		Message: "the definition is too big for the annotation in which kubectl apply keeps it: without --server-side it is refused",
	})
}
