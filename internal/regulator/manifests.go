package regulator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Manifests returns the manifests that run the watch of a System in the cluster.
func Manifests(ctx context.Context, in *app.Input, r Request, image string, replicas int32) ([]Manifest, error) {
	b, err := Open(ctx, in, r)
	if err != nil {
		return nil, err
	}
	if err := b.View.Observe(ctx); err != nil {
		return nil, err
	}
	if b.Namespace == "" {
		return nil, hint.With(errors.New("the namespace of the System is unknown"), "name it with -n")
	}
	b.Session.ReportGaps(b.Graph)
	reads, err := b.reads()
	if err != nil {
		return nil, err
	}
	return DeploymentManifests(WatchDeployment{
		System: b.System, World: b.State, Kinds: b.Session.Kinds, Namespace: b.Namespace,
		Reads: reads, Image: image, Version: in.Version, Replicas: replicas,
	}), nil
}

// watchedEverywhere is what is read in every namespace that an app has something in, since it may come
// at any time.
var watchedEverywhere = []object.Ref{
	{Kind: "Pod"},
	{Kind: "Service"},
	{Kind: "PersistentVolumeClaim"},
	{Group: "apps", Kind: "Deployment"},
	{Group: "apps", Kind: "ReplicaSet"},
	{Group: "apps", Kind: "StatefulSet"},
	{Group: "apps", Kind: "DaemonSet"},
	{Group: "batch", Kind: "CronJob"},
	{Group: "batch", Kind: "Job"},
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"},
}

// reads is what has to be read to see how the apps are: the kinds of their stacks, where
// they are, and the definitions of custom kinds. A role names resources: that of a kind which
// nothing tells is an error.
func (b *Session) reads() ([]WatchedResource, error) {
	var roots []graph.ID
	for i := range b.State.Apps {
		for _, r := range b.State.Apps[i].Roots {
			if id, ok := b.Graph.Find(r); ok {
				roots = append(roots, id)
			}
		}
	}
	out := []WatchedResource{{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}}
	nameless := ""
	add := func(r object.Ref) {
		kind, ok := b.Session.Kinds.Kind(r.GroupKind())
		if ok && kind.Plural == "" {
			nameless = kind.String()
		}
		if ok && kind.Listable {
			out = append(out, WatchedResource{Group: kind.Group, Resource: kind.Plural, Namespace: r.Namespace})
		}
	}
	namespaces := []string{b.Namespace}
	for _, n := range b.Graph.Stack(roots, b.In.StackOptions()).Members() {
		r := b.Graph.Ref(n)
		add(r)
		if r.Namespace != "" {
			namespaces = append(namespaces, r.Namespace)
		}
	}
	slices.Sort(namespaces)
	for _, ns := range slices.Compact(namespaces) {
		for _, r := range watchedEverywhere {
			r.Namespace = ns
			add(r)
		}
	}
	slices.SortFunc(out, func(a, b WatchedResource) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource))
	})
	if nameless != "" {
		return nil, hint.With(fmt.Errorf("the name of the resource of %s is unknown: %s has no CRD of it", nameless, b.In.From), "read the cluster, or add the CustomResourceDefinition to the file")
	}
	return slices.Compact(out), nil
}
