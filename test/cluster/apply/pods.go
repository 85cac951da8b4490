package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// labelPods gives the pods of StatefulSets, which have the names that they had
// in the old cluster, the labels that they had there: an operator that does not
// run here set some, and Services select by them. Labels that a pod has stay as
// they are, and those that tell where the old pod ran are left out.
//
// It waits until the pods are there, for as long as patience lasts for all of
// them together; that one does not come is no error, since it may be meant not to.
func (a *applier) labelPods(ctx context.Context, objects []*unstructured.Unstructured) error {
	if !a.makers.Controllers || !a.makers.Pods {
		return nil
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, o := range objects {
		if !ofStatefulSet(o) || !slices.ContainsFunc(a.result.Skipped, func(s Skip) bool { return s.Ref == refOf(o) }) {
			continue
		}
		pods := a.client.Resource(core("pods")).Namespace(o.GetNamespace())
		var made *unstructured.Unstructured
		err := await(waiting, func(ctx context.Context) (err error) {
			made, err = pods.Get(ctx, o.GetName(), metav1.GetOptions{})
			return err
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue
		}
		add := &unstructured.Unstructured{Object: map[string]any{}}
		add.SetName(o.GetName())
		add.SetLabels(lacking(made.GetLabels(), o.GetLabels()))
		if _, err := merge(ctx, pods, add); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("label %s: %w", refOf(o), err)
		}
	}
	return nil
}

func ofStatefulSet(o *unstructured.Unstructured) bool {
	if o.GetKind() != "Pod" || o.GetAPIVersion() != "v1" {
		return false
	}
	owner := metav1.GetControllerOf(o)
	return owner != nil && owner.Kind == "StatefulSet" && strings.HasPrefix(owner.APIVersion, "apps/")
}

// lacking returns the labels of the old pod that the new one needs.
func lacking(now, old map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range old {
		if _, ok := now[k]; !ok && !strings.HasPrefix(k, "topology.kubernetes.io/") {
			out[k] = v
		}
	}
	return out
}
