// Package apply re-creates objects of one cluster in another: what a dump or a
// fixture has, with everything that only the old cluster could know replaced.
//
// Words: an input object's old UID is the metadata.uid that it comes with. An
// owner reference whose UID is the old UID of another input object is a tie:
// the owner is created first, and the reference gets the owner's new UID. A
// maker is a controller that runs in the new cluster; what makers make
// themselves is skipped.
package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// patience limits the wait of one object for its requirements: its kind, its namespace's service
// account, its definition.
var patience = timeout.Scaled(30 * time.Second)

// poll is the interval of the wait.
const poll = 50 * time.Millisecond

// Makers tells which controllers run in the cluster.
type Makers struct {
	Controllers  bool // the built-in ones: ReplicaSets, Pods, EndpointSlices, Jobs of CronJobs ...
	Scheduler    bool // binds pods to nodes
	Pods         bool // simulated pods: their status is not written
	Certificates bool // cert-manager: Certificates of Ingresses, CertificateRequests, Secrets
}

// Ref names an object.
type Ref struct {
	schema.GroupVersionKind
	types.NamespacedName
}

// String returns kind.group/namespace/name, without empty parts.
func (r Ref) String() string {
	s := r.GroupKind().String() + "/"
	if r.Namespace != "" {
		s += r.Namespace + "/"
	}
	return s + r.Name
}

func refOf(o *unstructured.Unstructured) Ref {
	return Ref{o.GroupVersionKind(), types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}}
}

// Result has the result for each input object.
type Result struct {
	Created []Ref
	// Existing existed before. Only labels and annotations were merged.
	Existing []Ref
	Skipped  []Skip
}

// Skip is an object that was not created, and why.
type Skip struct {
	Ref
	Reason string
}

// Objects creates the objects: definitions first, and when those are
// established namespaces, then what is cluster-wide, then the rest, and every
// owner before what it owns. Namespaces that are not in the input are made.
// Status is written where no maker writes it. Pods of StatefulSets that come to
// be get the labels that they have in the input. The input is not changed.
//
// An error ends it; the Result tells what was done until then. Webhook
// configurations come last, and take effect: the objects they send requests
// to do not run here.
func Objects(ctx context.Context, cfg *rest.Config, m Makers, objects []*unstructured.Unstructured) (Result, error) {
	a, err := newApplier(cfg, m, objects)
	if err != nil {
		return Result{}, err
	}
	wanted, skipped := split(m, objects)
	a.result.Skipped = skipped
	ordered, err := order(wanted)
	if err != nil {
		return a.result, err
	}
	var pending []string // definitions that may not be established
	for _, o := range ordered {
		if isDefinition(o) {
			pending = append(pending, o.GetName())
		} else {
			if err := a.awaitEstablished(ctx, pending); err != nil {
				return a.result, err
			}
			pending = nil
		}
		if err := a.create(ctx, o); err != nil {
			return a.result, err
		}
	}
	if err := a.awaitEstablished(ctx, pending); err != nil {
		return a.result, err
	}
	return a.result, a.labelPods(ctx, objects)
}

type applier struct {
	makers     Makers
	client     dynamic.Interface
	mapper     *restmapper.DeferredDiscoveryRESTMapper
	nodes      map[string]bool         // that exist or will
	uids       map[types.UID]types.UID // new by old
	namespaces map[string]bool         // that are known to be usable
	result     Result
}

func newApplier(cfg *rest.Config, m Makers, objects []*unstructured.Unstructured) (*applier, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1
	cfg.WarningHandler = rest.NoWarnings{} // fixtures are old; that is their point
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	disco, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	a := &applier{
		makers: m, client: client,
		mapper:     restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco)),
		uids:       map[types.UID]types.UID{},
		namespaces: map[string]bool{},
	}
	if a.nodes, err = a.findNodes(objects); err != nil {
		return nil, err
	}
	return a, nil
}

func (a *applier) findNodes(objects []*unstructured.Unstructured) (map[string]bool, error) {
	nodes := map[string]bool{}
	for _, o := range objects {
		if o.GroupVersionKind().GroupKind() == (schema.GroupKind{Kind: "Node"}) {
			nodes[o.GetName()] = true
		}
	}
	l, err := a.client.Resource(core("nodes")).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	for i := range l.Items {
		nodes[l.Items[i].GetName()] = true
	}
	return nodes, nil
}

// create creates one object, or merges its labels and annotations into the one
// that is there.
func (a *applier) create(ctx context.Context, in *unstructured.Unstructured) error {
	ref := refOf(in)
	mapping, err := a.mapping(ctx, in)
	if err != nil {
		return fmt.Errorf("create %s: %w", ref, err)
	}
	resource := dynamic.ResourceInterface(a.client.Resource(mapping.Resource))
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		ns := in.GetNamespace()
		if ns == "" {
			ns = metav1.NamespaceDefault
		}
		if err := a.awaitNamespace(ctx, ns); err != nil {
			return fmt.Errorf("create %s: %w", ref, err)
		}
		resource = a.client.Resource(mapping.Resource).Namespace(ns)
	}
	o := a.prepare(in)
	made, err := resource.Create(ctx, o, metav1.CreateOptions{})
	switch {
	case apierrors.IsAlreadyExists(err):
		made, err = merge(ctx, resource, o)
		a.result.Existing = append(a.result.Existing, ref)
	case err == nil:
		a.result.Created = append(a.result.Created, ref)
		err = a.writeStatus(ctx, resource, in, made)
	}
	if err != nil {
		return fmt.Errorf("create %s: %w", ref, err)
	}
	if old := in.GetUID(); old != "" {
		a.uids[old] = made.GetUID()
	}
	return nil
}

// merge adds labels and annotations and leaves the rest as it is.
func merge(ctx context.Context, resource dynamic.ResourceInterface, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	metadata := map[string]any{}
	for _, field := range []string{"labels", "annotations"} {
		if v, ok, _ := unstructured.NestedMap(o.Object, "metadata", field); ok && len(v) > 0 {
			metadata[field] = v
		}
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return nil, err
	}
	return resource.Patch(ctx, o.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
}

// mapping finds how the kind is served. A definition that was just established
// takes a moment to appear.
func (a *applier) mapping(ctx context.Context, o *unstructured.Unstructured) (m *meta.RESTMapping, err error) {
	gvk := o.GroupVersionKind()
	m, err = a.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err == nil || builtIn(gvk.Group) {
		return m, err
	}
	err = await(ctx, func(context.Context) error {
		a.mapper.Reset()
		m, err = a.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		return err
	})
	return m, err
}

// builtIn reports whether the group is Kubernetes' own: such a kind is served from the start or
// never.
func builtIn(group string) bool {
	return !strings.Contains(group, ".") || slices.Contains([]string{
		"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io",
		"authorization.k8s.io", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
		"flowcontrol.apiserver.k8s.io", "internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io",
		"rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io",
	}, group)
}

func core(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: resource}
}
