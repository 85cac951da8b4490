package apply

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// await retries until there is no error, up to patience.
func await(ctx context.Context, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-tick.C:
		}
	}
}

func (a *applier) awaitEstablished(ctx context.Context, names []string) error {
	definitions := a.client.Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	})
	for _, name := range names {
		err := await(ctx, func(ctx context.Context) error {
			o, err := definitions.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return fmt.Errorf("read definition %s: %w", name, err)
			}
			if !Condition(o, "Established") {
				return fmt.Errorf("definition %s is not established", name)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// awaitNamespace creates a missing namespace. With controllers, it waits for the service account
// that pods require.
func (a *applier) awaitNamespace(ctx context.Context, name string) error {
	if a.namespaces[name] {
		return nil
	}
	ns := &unstructured.Unstructured{}
	ns.SetAPIVersion("v1")
	ns.SetKind("Namespace")
	ns.SetName(name)
	_, err := a.client.Resource(core("namespaces")).Create(ctx, ns, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make namespace %s: %w", name, err)
	}
	if a.makers.Controllers {
		err := await(ctx, func(ctx context.Context) error {
			_, err := a.client.Resource(core("serviceaccounts")).Namespace(name).Get(ctx, "default", metav1.GetOptions{})
			return err
		})
		if err != nil {
			return fmt.Errorf("wait for the service account of namespace %s: %w", name, err)
		}
	}
	a.namespaces[name] = true
	return nil
}
