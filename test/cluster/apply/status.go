package apply

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"
)

// writeStatus writes the status of the input, unless a running controller does. The status of a
// custom resource is always written: an operator that runs overwrites it.
func (a *applier) writeStatus(ctx context.Context, resource dynamic.ResourceInterface, in, made *unstructured.Unstructured) error {
	status, ok, err := unstructured.NestedMap(in.Object, "status")
	if err != nil || !ok || len(status) == 0 || !a.ours(in) {
		return err
	}
	observe(status, in.GetGeneration(), made.GetGeneration())
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		o, err := resource.Get(ctx, made.GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		o.Object["status"] = status
		_, err = resource.UpdateStatus(ctx, o, metav1.UpdateOptions{})
		return err
	})
	if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
		return nil // it has no status of its own: the status came with the object
	}
	if err != nil {
		return fmt.Errorf("write status: %w", err)
	}
	return nil
}

// ours reports whether no controller writes the status.
func (a *applier) ours(o *unstructured.Unstructured) bool {
	gk := o.GroupVersionKind().GroupKind()
	switch gk.String() {
	case "CustomResourceDefinition.apiextensions.k8s.io", "Namespace", "APIService.apiregistration.k8s.io":
		return false // the API server and the namespace's life go by it
	case "Ingress.networking.k8s.io", "Service":
		return true // an ingress controller, or a cloud, would write the address
	case "Pod", "Node", "PersistentVolume", "PersistentVolumeClaim":
		return !a.makers.Pods
	}
	return !builtIn(gk.Group) || !a.makers.Controllers
}

// observe shifts every observedGeneration, of the status and of its conditions, so that it is as
// far behind the new generation as it was behind the old one.
func observe(status map[string]any, before, now int64) {
	if before == 0 {
		return // the input does not say how far behind it was
	}
	shift := func(m map[string]any) {
		if seen, ok, _ := unstructured.NestedInt64(m, "observedGeneration"); ok {
			m["observedGeneration"] = max(0, now-max(0, before-seen))
		}
	}
	shift(status)
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok {
			shift(m)
		}
	}
}
