package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Precondition is what an object must match to be deleted; empty fields are ignored.
type Precondition struct{ UID, ResourceVersion string }

// Objects reads and writes the objects of a cluster. Errors are those of
// k8s.io/apimachinery/pkg/api/errors; a kind that is not served is NotFound.
type Objects interface {
	Get(ctx context.Context, ref object.Ref) (*unstructured.Unstructured, error)
	// List lists the objects of a namespace; an empty namespace means all.
	List(ctx context.Context, kind schema.GroupKind, namespace string) ([]unstructured.Unstructured, error)
	Create(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error)
	// Apply applies server-side, as FieldManager.
	Apply(ctx context.Context, o *unstructured.Unstructured, force bool) (*unstructured.Unstructured, error)
	// Replace updates the whole object if its resourceVersion is still current.
	Replace(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error)
	// Delete deletes in the foreground: dependents of the object are deleted first.
	Delete(ctx context.Context, ref object.Ref, p Precondition) error
}

// Discovery reports what a cluster serves.
type Discovery interface {
	// Refresh drops the discovery cache.
	Refresh()
	// Serves reports whether a version of a kind is served.
	Serves(ctx context.Context, kind schema.GroupVersionKind) (bool, error)
	// Contents returns all objects of a namespace except Events.
	Contents(ctx context.Context, namespace string) ([]unstructured.Unstructured, error)
}

// ClusterObjects implements Objects and Discovery on an API server.
type ClusterObjects struct {
	client    dynamic.Interface
	discovery discovery.CachedDiscoveryInterface
	mu        sync.Mutex // of the mapper, which fills lazily
	mapper    meta.ResettableRESTMapper
}

// NewObjects returns the objects of the API server of a config.
func NewObjects(config *rest.Config) (*ClusterObjects, error) {
	c := journal.Quiet(config)
	client, err := dynamic.NewForConfig(c)
	if err != nil {
		return nil, fmt.Errorf("reach the API server: %w", err)
	}
	d, err := discovery.NewDiscoveryClientForConfig(c)
	if err != nil {
		return nil, fmt.Errorf("reach the API server: %w", err)
	}
	cached := memory.NewMemCacheClient(d)
	return &ClusterObjects{client: client, discovery: cached, mapper: restmapper.NewDeferredDiscoveryRESTMapper(cached)}, nil
}

// Get reads an object.
func (c *ClusterObjects) Get(ctx context.Context, ref object.Ref) (*unstructured.Unstructured, error) {
	resource, err := c.resourceFor(ref.GroupKind(), "", ref.Namespace, ref.Name)
	if err != nil {
		return nil, err
	}
	return resource.Get(ctx, ref.Name, metav1.GetOptions{})
}

// List lists the objects of a kind.
func (c *ClusterObjects) List(ctx context.Context, kind schema.GroupKind, namespace string) ([]unstructured.Unstructured, error) {
	resource, err := c.resourceFor(kind, "", namespace, "")
	if err != nil {
		return nil, err
	}
	return listAll(ctx, resource)
}

// Create creates an object.
func (c *ClusterObjects) Create(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	resource, err := c.ofObject(o)
	if err != nil {
		return nil, err
	}
	return resource.Create(ctx, o, metav1.CreateOptions{FieldManager: FieldManager})
}

// Apply applies an object server-side.
func (c *ClusterObjects) Apply(ctx context.Context, o *unstructured.Unstructured, force bool) (*unstructured.Unstructured, error) {
	resource, err := c.ofObject(o)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(o.Object)
	if err != nil {
		return nil, err
	}
	return resource.Patch(ctx, o.GetName(), types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: FieldManager, Force: &force})
}

// Replace updates a whole object.
func (c *ClusterObjects) Replace(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	resource, err := c.ofObject(o)
	if err != nil {
		return nil, err
	}
	return resource.Update(ctx, o, metav1.UpdateOptions{FieldManager: FieldManager})
}

// Delete deletes an object in the foreground.
func (c *ClusterObjects) Delete(ctx context.Context, ref object.Ref, p Precondition) error {
	resource, err := c.resourceFor(ref.GroupKind(), "", ref.Namespace, ref.Name)
	if err != nil {
		return err
	}
	foreground := metav1.DeletePropagationForeground
	o := metav1.DeleteOptions{PropagationPolicy: &foreground, Preconditions: &metav1.Preconditions{}}
	if p.UID != "" {
		uid := types.UID(p.UID)
		o.Preconditions.UID = &uid
	}
	if p.ResourceVersion != "" {
		o.Preconditions.ResourceVersion = &p.ResourceVersion
	}
	return resource.Delete(ctx, ref.Name, o)
}

// Refresh drops the discovery cache.
func (c *ClusterObjects) Refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.discovery.Invalidate()
	c.mapper.Reset()
}

// Serves reports whether a version of a kind is served.
func (c *ClusterObjects) Serves(_ context.Context, kind schema.GroupVersionKind) (bool, error) {
	list, err := c.discovery.ServerResourcesForGroupVersion(kind.GroupVersion().String())
	if apierrors.IsNotFound(err) || errors.Is(err, memory.ErrCacheNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, r := range list.APIResources {
		if r.Kind == kind.Kind && !strings.Contains(r.Name, "/") {
			return true, nil
		}
	}
	return false, nil
}

// Contents returns all objects of a namespace except Events. An API that does not answer is an
// error: unread is not the same as empty.
func (c *ClusterObjects) Contents(ctx context.Context, namespace string) ([]unstructured.Unstructured, error) {
	lists, err := c.discovery.ServerPreferredNamespacedResources()
	if err != nil {
		return nil, fmt.Errorf("list what namespaces can hold: %w", err)
	}
	var out []unstructured.Unstructured
	for _, l := range lists {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			return nil, err
		}
		if gv.Group == "metrics.k8s.io" {
			continue // events belong to pods, which are listed themselves
		}
		for _, r := range l.APIResources {
			if r.Kind == "Event" || !slices.Contains(r.Verbs, "list") || !slices.Contains(r.Verbs, "delete") {
				continue
			}
			resource := c.client.Resource(gv.WithResource(r.Name)).Namespace(namespace)
			items, err := listAll(ctx, resource)
			if err != nil && !apierrors.IsNotFound(err) {
				return nil, fmt.Errorf("list %s in %s: %w", r.Name, namespace, err)
			}
			out = append(out, items...)
		}
	}
	return out, nil
}

func listAll(ctx context.Context, resource dynamic.ResourceInterface) ([]unstructured.Unstructured, error) {
	var out []unstructured.Unstructured
	o := metav1.ListOptions{Limit: 500}
	for {
		page, err := resource.List(ctx, o)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Items...)
		if o.Continue = page.GetContinue(); o.Continue == "" {
			return out, nil
		}
	}
}

func (c *ClusterObjects) ofObject(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	gvk := o.GroupVersionKind()
	return c.resourceFor(gvk.GroupKind(), gvk.Version, o.GetNamespace(), o.GetName())
}

// resourceFor returns the client of a kind. An unknown kind may be new: discovery is refreshed once
// for it.
func (c *ClusterObjects) resourceFor(kind schema.GroupKind, version, namespace, name string) (dynamic.ResourceInterface, error) {
	var versions []string
	if version != "" {
		versions = []string{version}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m, err := c.mapper.RESTMapping(kind, versions...)
	if meta.IsNoMatchError(err) {
		c.discovery.Invalidate()
		c.mapper.Reset()
		m, err = c.mapper.RESTMapping(kind, versions...)
	}
	if meta.IsNoMatchError(err) {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, name)
	}
	if err != nil {
		return nil, err
	}
	r := c.client.Resource(m.Resource)
	if m.Scope.Name() == meta.RESTScopeNameRoot || namespace == "" {
		return r, nil
	}
	return r.Namespace(namespace), nil
}
