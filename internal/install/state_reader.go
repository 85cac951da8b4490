package install

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// pageSize is the page size of a list.
const pageSize = 500

// clusterReader implements Reader on a cluster.
type clusterReader struct {
	objects  dynamic.Interface
	metadata metadata.Interface
	versions discovery.ServerVersionInterface
}

// NewReader returns a Reader of the cluster of a config.
func NewReader(config *rest.Config) (Reader, error) {
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	meta, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	versions, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	return &clusterReader{objects: objects, metadata: meta, versions: versions}, nil
}

// Version returns the version of the API server.
func (c *clusterReader) Version(context.Context) (string, error) {
	v, err := c.versions.ServerVersion()
	if err != nil {
		return "", err
	}
	return v.GitVersion, nil
}

// Get reads one object.
func (c *clusterReader) Get(ctx context.Context, r object.Resource, namespace, name string) (*unstructured.Unstructured, error) {
	return c.objects.Resource(resource(r)).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
}

// List reads page by page.
func (c *clusterReader) List(ctx context.Context, r object.Resource, namespace, selector string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	err := pages(selector, func(o metav1.ListOptions) (string, error) {
		page, err := c.objects.Resource(resource(r)).Namespace(namespace).List(ctx, o)
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			out = append(out, &page.Items[i])
		}
		return page.GetContinue(), nil
	})
	return out, err
}

// ListMetadata reads page by page; the objects have the kind of the resource.
func (c *clusterReader) ListMetadata(ctx context.Context, r object.Resource, namespace, selector string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	err := pages(selector, func(o metav1.ListOptions) (string, error) {
		page, err := c.metadata.Resource(resource(r)).Namespace(namespace).List(ctx, o)
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&page.Items[i])
			if err != nil {
				return "", err
			}
			u := &unstructured.Unstructured{Object: fields}
			u.SetAPIVersion(r.APIVersion())
			u.SetKind(r.Kind)
			out = append(out, u)
		}
		return page.GetContinue(), nil
	})
	return out, err
}

func pages(selector string, read func(metav1.ListOptions) (string, error)) error {
	o := metav1.ListOptions{LabelSelector: selector, Limit: pageSize}
	for {
		next, err := read(o)
		if err != nil || next == "" {
			return err
		}
		o.Continue = next
	}
}

func resource(r object.Resource) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Plural}
}
