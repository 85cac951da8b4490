package declare

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// contentOf returns the fields of an object: of a custom resource as they were
// read, of a built-in kind made from its type, and of one that was read as
// metadata the part of that which names and describes.
func contentOf(o object.Object, metadataOnly bool) map[string]any {
	if fields := o.Fields(); fields != nil {
		return fields
	}
	if !metadataOnly {
		if fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o.Body); err == nil {
			return fields
		}
	}
	meta := map[string]any{"name": o.Name, "uid": string(o.Meta.GetUID())}
	if o.Namespace != "" {
		meta["namespace"] = o.Namespace
	}
	for key, from := range map[string]map[string]string{"labels": o.Meta.GetLabels(), "annotations": o.Meta.GetAnnotations()} {
		to := make(map[string]any, len(from))
		for k, v := range from {
			to[k] = v
		}
		meta[key] = to
	}
	return map[string]any{"metadata": meta}
}
