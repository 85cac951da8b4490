package regulator

import (
	"context"
	"errors"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/incluster"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Manifests returns the manifests that run the watch of a System in the cluster.
func Manifests(ctx context.Context, in *app.Input, r Request, image string, replicas int32) ([]incluster.Manifest, error) {
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

// reads is what has to be read to see how the apps are.
func (b *Session) reads() ([]incluster.Resource, error) {
	var roots []graph.ID
	for i := range b.State.Apps {
		for _, r := range b.State.Apps[i].Roots {
			if id, ok := b.Graph.Find(r); ok {
				roots = append(roots, id)
			}
		}
	}
	var members []object.Ref
	for _, n := range b.Graph.Stack(roots, b.In.StackOptions()).Members() {
		members = append(members, b.Graph.Ref(n))
	}
	return incluster.Reads(b.Session, b.Namespace, members, watchedEverywhere)
}
