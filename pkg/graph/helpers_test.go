package graph_test

import (
	"strings"
	"sync"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// builtInKinds are a few built-in kinds, and custom ones of the group test.
var builtInKinds = sync.OnceValue(func() *object.Kinds {
	var all []object.Resource
	add := func(namespaced bool, names ...string) {
		for _, n := range names {
			kind, group, _ := strings.Cut(n, ".")
			all = append(all, object.Resource{
				Group: group, Version: "v1", Kind: kind, Plural: strings.ToLower(kind) + "s", Singular: strings.ToLower(kind),
				Namespaced: namespaced, Listable: true, Custom: group == "test",
			})
		}
	}
	add(true, "Pod", "Service", "Secret", "ConfigMap", "ServiceAccount", "PersistentVolumeClaim", "Event", "Event.events.k8s.io",
		"Deployment.apps", "ReplicaSet.apps", "StatefulSet.apps", "Deployment.extensions", "Ingress.networking.k8s.io", "Job.batch",
		"Thing.test", "Other.test", "Unlisted", "Thing.other", "Unlisted.other")
	add(false, "Node", "Namespace", "PersistentVolume", "ClusterRole.rbac.authorization.k8s.io", "Global.test")
	return object.NewKinds(all)
})
