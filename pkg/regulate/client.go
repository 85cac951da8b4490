package regulate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// cluster is the Client of an API server.
type cluster struct{ client dynamic.Interface }

// NewClient returns a Client for the API server of a config. It does not hold requests back:
// a Runner bounds how many are on the way, and the API server has its own fairness.
func NewClient(config *rest.Config) (Client, error) {
	c := rest.CopyConfig(config)
	c.QPS, c.WarningHandler = -1, rest.NoWarnings{}
	client, err := dynamic.NewForConfig(c)
	if err != nil {
		return nil, fmt.Errorf("reach the API server: %w", err)
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

// Delete deletes what the target names, with what it owns; another object of that name,
// where the target has a UID, is a conflict.
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
func (t Target) String() string {
	gv, err := schema.ParseGroupVersion(t.APIVersion)
	if err != nil || t.Kind == "" {
		return strings.TrimSpace(t.Kind + " " + t.Name)
	}
	name := t.Name
	if t.Namespace != "" {
		name = t.Namespace + "/" + name
	}
	return gv.WithKind(t.Kind).GroupKind().String() + "/" + name
}

// permanentError is one that the same request would meet again.
type permanentError struct{ err error }

func (e permanentError) Error() string { return e.err.Error() }
func (e permanentError) Unwrap() error { return e.err }

func permanent(format string, args ...any) error {
	return permanentError{fmt.Errorf(format, args...)}
}

// isPermanent says that trying again is of no use: the API server understood, and said no.
func isPermanent(err error) bool {
	if errors.As(err, new(permanentError)) {
		return true
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false // the connection broke
	}
	code := int(status.Status().Code)
	switch {
	case apierrors.IsConflict(err), apierrors.IsTooManyRequests(err), apierrors.IsServerTimeout(err), apierrors.IsTimeout(err):
		return false
	case code == http.StatusTooManyRequests, code >= 500, code == 0, code == http.StatusUnauthorized:
		return false
	}
	return true
}

// How long an API server that does not answer, or says that it cannot now, is asked again.
const (
	retryTimeout = 30 * time.Second
	firstBackoff = 100 * time.Millisecond
	maxBackoff   = 2 * time.Second
	maxStale     = 8 // conflicts on one object in a row
)

// retrier paces the tries of one thing.
type retrier struct {
	since   time.Time
	backoff time.Duration
	stale   int
}

// wait waits until err may be over: false says that the patience is at its end, or ctx is.
func (p *retrier) wait(ctx context.Context, err error) bool {
	if ctx.Err() != nil || isPermanent(err) {
		return false
	}
	if apierrors.IsConflict(err) {
		p.stale++
		if p.stale <= maxStale {
			return true
		}
	}
	if p.since.IsZero() {
		p.since, p.backoff = time.Now(), firstBackoff
	}
	wait := p.backoff
	p.backoff = min(2*p.backoff, maxBackoff)
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		wait = max(wait, time.Duration(seconds)*time.Second)
	}
	if time.Since(p.since)+wait > retryTimeout {
		return false
	}
	return pause(ctx, wait)
}

// pause waits; false says that ctx ended first.
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
