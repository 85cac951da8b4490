package regulate

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
)

// cluster is the Client of an API server.
type cluster struct{ client dynamic.Interface }

// NewClient returns a Client for the API server of a config. It does not throttle requests: a
// Runner limits concurrency, and the API server has priority and fairness.
func NewClient(config *rest.Config) (Client, error) {
	client, err := journal.Connect(config, "the API server")
	if err != nil {
		return nil, err
	}
	return &cluster{client: client}, nil
}

func (c *cluster) resourceFor(t Target) dynamic.ResourceInterface {
	gv, err := schema.ParseGroupVersion(t.APIVersion)
	if err != nil {
		gv = schema.GroupVersion{Version: t.APIVersion}
	}
	r := c.client.Resource(gv.WithResource(t.Resource))
	if t.Namespace == "" {
		return r
	}
	return r.Namespace(t.Namespace)
}

func (t Target) through() []string {
	if t.Subresource == "" {
		return nil
	}
	return []string{t.Subresource}
}

func (c *cluster) Get(ctx context.Context, t Target) (*unstructured.Unstructured, error) {
	return c.resourceFor(t).Get(ctx, t.Name, metav1.GetOptions{}, t.through()...)
}

func (c *cluster) Patch(ctx context.Context, t Target, pt types.PatchType, body []byte, w WriteOptions) (*unstructured.Unstructured, error) {
	return c.resourceFor(t).Patch(ctx, t.Name, pt, body, metav1.PatchOptions{FieldManager: w.manager(), DryRun: w.dry()}, t.through()...)
}

func (c *cluster) Create(ctx context.Context, t Target, o *unstructured.Unstructured, w WriteOptions) (*unstructured.Unstructured, error) {
	return c.resourceFor(t).Create(ctx, o, metav1.CreateOptions{FieldManager: w.manager(), DryRun: w.dry()}, t.through()...)
}

// Delete deletes the target with its dependents. An object of that name with another UID is a
// conflict.
func (c *cluster) Delete(ctx context.Context, t Target, w WriteOptions) error {
	background := metav1.DeletePropagationBackground
	o := metav1.DeleteOptions{PropagationPolicy: &background, DryRun: w.dry()}
	if t.UID != "" {
		uid := types.UID(t.UID)
		o.Preconditions = &metav1.Preconditions{UID: &uid}
	}
	return c.resourceFor(t).Delete(ctx, t.Name, o, t.through()...)
}

func (w WriteOptions) manager() string {
	if w.Manager == "" {
		return FieldManager
	}
	return w.Manager
}

func (w WriteOptions) dry() []string {
	if w.DryRun {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// String returns a target as people write it: Deployment.apps shop/web.
func (t Target) String() string { return t.eventObject().String() }

func (t Target) eventObject() *journal.EventObject {
	return &journal.EventObject{APIVersion: t.APIVersion, Kind: t.Kind, Namespace: t.Namespace, Name: t.Name, UID: t.UID}
}

func permanent(format string, args ...any) error {
	return &journal.PermanentError{Err: fmt.Errorf(format, args...)}
}

// isPermanent reports that a retry cannot succeed: the API server rejected the request.
func isPermanent(err error) bool {
	if errors.As(err, new(*journal.PermanentError)) {
		return true
	}
	return err != nil && !journal.IsTransient(err) && !apierrors.IsConflict(err) && !apierrors.IsUnauthorized(err)
}

// retry repeats attempts until one succeeds, one fails permanently, or the API server has not
// answered for as long as a restart takes.
func retry(ctx context.Context, attempt func(context.Context) error) error {
	return journal.Retry(ctx, journal.DefaultLimit, func(ctx context.Context) error {
		err := attempt(ctx)
		if !isPermanent(err) && (apierrors.IsConflict(err) || apierrors.IsUnauthorized(err)) {
			return journal.Retryable(err)
		}
		return err
	})
}

// The polling intervals grow while an object is awaited.
const (
	firstLook       = 200 * time.Millisecond
	maxPollInterval = 5 * time.Second
)

// poll reads an object until look is done or the time is over. It needs no permission to watch,
// and survives a restart of the API server.
func (x *run) poll(ctx context.Context, t Target, timeout time.Duration, look func(*unstructured.Unstructured) (done bool, err error)) (done bool, err error) {
	began, every := time.Now(), firstLook
	for {
		var o *unstructured.Unstructured
		err := retry(ctx, func(ctx context.Context) (err error) {
			o, err = x.Client.Get(ctx, t)
			return err
		})
		if err != nil {
			return false, err
		}
		if done, err := look(o); done || err != nil {
			return done, err
		}
		if time.Since(began) > timeout {
			return false, nil
		}
		if !pause(ctx, every) {
			return false, ctx.Err()
		}
		every = min(every*3/2, maxPollInterval)
	}
}

// pause waits; it returns false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
