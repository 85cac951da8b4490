package cli

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// installCluster reads what an installation is planned from.
type installCluster struct {
	*systemCluster
	discovery discovery.DiscoveryInterface
}

func (c *common) installCluster(ctx context.Context) (*installCluster, error) {
	s, err := c.systems(ctx)
	if err != nil {
		return nil, err
	}
	d, err := discovery.NewDiscoveryClientForConfig(s.config)
	if err != nil {
		return nil, err
	}
	return &installCluster{systemCluster: s, discovery: d}, nil
}

// Version is that of Kubernetes: v1.33.2.
func (c *installCluster) Version(context.Context) (string, error) {
	v, err := c.discovery.ServerVersion()
	if err != nil {
		return "", err
	}
	return v.GitVersion, nil
}

func (c *installCluster) whole(r object.Resource, namespace string) dynamic.ResourceInterface {
	of := c.objects.Resource(schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Plural})
	if r.Namespaced && namespace != "" {
		return of.Namespace(namespace)
	}
	return of
}

// Get reads an object whole.
func (c *installCluster) Get(ctx context.Context, r object.Resource, namespace, name string) (*unstructured.Unstructured, error) {
	return c.whole(r, namespace).Get(ctx, name, metav1.GetOptions{})
}

// pageSize is how many objects one answer has.
const pageSize = 500

// List reads objects whole.
func (c *installCluster) List(ctx context.Context, r object.Resource, namespace, selector string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	o := metav1.ListOptions{LabelSelector: selector, Limit: pageSize}
	for {
		page, err := c.whole(r, namespace).List(ctx, o)
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			out = append(out, &page.Items[i])
		}
		if o.Continue = page.GetContinue(); o.Continue == "" {
			return out, nil
		}
	}
}

// ListMetadata reads the metadata of objects alone.
func (c *installCluster) ListMetadata(ctx context.Context, r object.Resource, namespace, selector string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	o := metav1.ListOptions{LabelSelector: selector, Limit: pageSize}
	for {
		page, err := c.at(r, namespace).List(ctx, o)
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			item := &page.Items[i]
			item.SetGroupVersionKind(schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind})
			fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(item)
			if err != nil {
				return nil, err
			}
			out = append(out, &unstructured.Unstructured{Object: fields})
		}
		if o.Continue = page.Continue; o.Continue == "" {
			return out, nil
		}
	}
}
