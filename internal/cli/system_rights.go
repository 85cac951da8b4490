package cli

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// right is something that the user may be allowed to do.
type right struct {
	verb, group, resource, namespace, name string
}

func (r right) String() string {
	text := r.verb + " " + schema.GroupResource{Group: r.group, Resource: r.resource}.String()
	if r.name != "" {
		text += "/" + r.name
	}
	return text + inNamespace(r.namespace)
}

var selfReviews = schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}

// may asks the API server whether the user is allowed something.
func (c *systemCluster) may(ctx context.Context, r right) (bool, error) {
	attributes := map[string]any{"verb": r.verb, "group": r.group, "resource": r.resource, "namespace": r.namespace, "name": r.name}
	review := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
		"spec": map[string]any{"resourceAttributes": attributes},
	}}
	got, err := c.objects.Resource(selfReviews).Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("ask whether you may %s: %w", r, err)
	}
	allowed, _, _ := unstructured.NestedBool(got.Object, "status", "allowed")
	return allowed, nil
}

// demand returns an error that names every right that is missing. What is allowed for all of
// a namespace is not asked for each object of it.
func (c *systemCluster) demand(ctx context.Context, rights []right) error {
	wide := map[right]bool{}
	for _, r := range rights {
		r.name = ""
		if _, asked := wide[r]; asked {
			continue
		}
		var err error
		if wide[r], err = c.may(ctx, r); err != nil {
			return err
		}
	}
	var missing []string
	errs := each(rights, func(r right) error {
		name := r.name
		if r.name = ""; wide[r] {
			return nil
		}
		r.name = name
		ok, err := false, error(nil)
		if name != "" {
			ok, err = c.may(ctx, r)
		}
		if err == nil && !ok {
			err = fmt.Errorf("you may not %s", r)
		}
		return err
	})
	if len(errs) == 0 {
		return nil
	}
	for _, err := range errs {
		if text := err.Error(); !slices.Contains(missing, text) {
			missing = append(missing, text)
		}
	}
	return withHint(&linesError{missing}, "nothing was written; ask for these rights, and run it again")
}
