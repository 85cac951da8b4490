package main

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// Encodings.
const (
	mixed    = "mixed"
	whole    = "json"
	metaOnly = "metadata"
	fields   = "fields"
)

// lister lists one page.
type lister func(context.Context, schema.GroupVersionResource, metav1.ListOptions) (runtime.Object, error)

func (f floor) lister(cfg *rest.Config) (lister, error) {
	switch f.encoding {
	case whole:
		client, err := dynamic.NewForConfig(cfg)
		if err != nil {
			return nil, fmt.Errorf("make a client: %w", err)
		}
		return func(ctx context.Context, gvr schema.GroupVersionResource, o metav1.ListOptions) (runtime.Object, error) {
			return client.Resource(gvr).Namespace(f.namespace).List(ctx, o)
		}, nil
	case metaOnly:
		return f.metadata(cfg)
	case mixed:
		return f.mixed(cfg)
	case fields:
		return f.fields(cfg)
	}
	return nil, fmt.Errorf("unknown encoding %q: want %s, %s, %s or %s", f.encoding, mixed, metaOnly, fields, whole)
}

// metadata requests PartialObjectMetadata in protobuf.
func (f floor) metadata(cfg *rest.Config) (lister, error) {
	client, err := metadata.NewForConfig(metadata.ConfigFor(cfg))
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	return func(ctx context.Context, gvr schema.GroupVersionResource, o metav1.ListOptions) (runtime.Object, error) {
		return client.Resource(gvr).Namespace(f.namespace).List(ctx, o)
	}, nil
}

// mixed requests pods and workloads whole.
func (f floor) mixed(cfg *rest.Config) (lister, error) {
	others, err := f.metadata(cfg)
	if err != nil {
		return nil, err
	}
	typed, err := f.typed(cfg)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, gvr schema.GroupVersionResource, o metav1.ListOptions) (runtime.Object, error) {
		if list, ok := typed[gvr]; ok {
			return list(ctx, o)
		}
		return others(ctx, gvr, o)
	}, nil
}

// fields takes built-in kinds whole, in protobuf, but Secrets and ConfigMaps, and custom
// resources in JSON.
func (f floor) fields(cfg *rest.Config) (lister, error) {
	others, err := f.metadata(cfg)
	if err != nil {
		return nil, err
	}
	custom, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	clients := map[schema.GroupVersion]*rest.RESTClient{}
	for _, gv := range scheme.Scheme.PrioritizedVersionsAllGroups() {
		c := rest.CopyConfig(cfg)
		c.ContentType, c.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
		c.GroupVersion, c.NegotiatedSerializer, c.APIPath = &gv, scheme.Codecs.WithoutConversion(), "/apis"
		if gv.Group == "" {
			c.APIPath = "/api"
		}
		if clients[gv], err = rest.RESTClientFor(c); err != nil {
			return nil, fmt.Errorf("make a client: %w", err)
		}
	}
	return func(ctx context.Context, gvr schema.GroupVersionResource, o metav1.ListOptions) (runtime.Object, error) {
		client := clients[gvr.GroupVersion()]
		switch {
		case client == nil:
			return custom.Resource(gvr).Namespace(f.namespace).List(ctx, o)
		case gvr.Group == "" && (gvr.Resource == "secrets" || gvr.Resource == "configmaps"):
			return others(ctx, gvr, o)
		}
		return client.Get().NamespaceIfScoped(f.namespace, f.namespace != "").Resource(gvr.Resource).
			VersionedParams(&o, scheme.ParameterCodec).Do(ctx).Get()
	}, nil
}

type typedLister func(context.Context, metav1.ListOptions) (runtime.Object, error)

func (f floor) typed(cfg *rest.Config) (map[schema.GroupVersionResource]typedLister, error) {
	protobuf := *cfg
	protobuf.ContentType = runtime.ContentTypeProtobuf
	protobuf.AcceptContentTypes = runtime.ContentTypeProtobuf
	client, err := kubernetes.NewForConfig(&protobuf)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	apps, batch := client.AppsV1(), client.BatchV1()
	return map[schema.GroupVersionResource]typedLister{
		{Version: "v1", Resource: "pods"}:                        as(client.CoreV1().Pods(f.namespace).List),
		{Version: "v1", Resource: "replicationcontrollers"}:      as(client.CoreV1().ReplicationControllers(f.namespace).List),
		{Group: "apps", Version: "v1", Resource: "deployments"}:  as(apps.Deployments(f.namespace).List),
		{Group: "apps", Version: "v1", Resource: "replicasets"}:  as(apps.ReplicaSets(f.namespace).List),
		{Group: "apps", Version: "v1", Resource: "statefulsets"}: as(apps.StatefulSets(f.namespace).List),
		{Group: "apps", Version: "v1", Resource: "daemonsets"}:   as(apps.DaemonSets(f.namespace).List),
		{Group: "batch", Version: "v1", Resource: "jobs"}:        as(batch.Jobs(f.namespace).List),
		{Group: "batch", Version: "v1", Resource: "cronjobs"}:    as(batch.CronJobs(f.namespace).List),
	}, nil
}

// as gives every typed List the same type.
func as[L runtime.Object](list func(context.Context, metav1.ListOptions) (L, error)) typedLister {
	return func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return list(ctx, o) }
}
