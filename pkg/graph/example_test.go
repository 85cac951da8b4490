package graph_test

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// shopGraph builds the graph of a Deployment, its pod, a Service in front and a
// Secret that the pod mounts.
func shopGraph() *graph.Graph {
	kinds := object.NewKinds([]object.Resource{
		{Version: "v1", Kind: "Pod", Plural: "pods", Namespaced: true},
		{Version: "v1", Kind: "Service", Plural: "services", Namespaced: true},
		{Version: "v1", Kind: "Secret", Plural: "secrets", Namespaced: true},
		{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespaced: true},
		{Group: "apps", Version: "v1", Kind: "ReplicaSet", Plural: "replicasets", Namespaced: true},
	})
	b := graph.NewBuilder(relation.NewSet(relation.BuiltIn()...), kinds)
	inv := inventory.New(nil, b.Extract)
	add := func(group, kind string, body runtime.Object) {
		m := body.(metav1.Object)
		ref := object.Ref{Group: group, Kind: kind, Namespace: m.GetNamespace(), Name: m.GetName()}
		inv.Add(object.Object{Ref: ref, Version: "v1", Meta: m, Body: body})
	}
	meta := func(name, uid string, owners ...metav1.OwnerReference) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + uid), Labels: map[string]string{"app": "web"}, OwnerReferences: owners}
	}
	owner := func(kind string, m metav1.ObjectMeta) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: "apps/v1", Kind: kind, Name: m.Name, UID: m.UID}
	}
	deployment := meta("web", "1")
	set := meta("web-5d9", "2", owner("Deployment", deployment))
	pod := &corev1.Pod{ObjectMeta: meta("web-5d9-x2k", "3", owner("ReplicaSet", set))}
	pod.Spec.Volumes = []corev1.Volume{{Name: "tls", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "web-tls"}}}}
	add("apps", "Deployment", &appsv1.Deployment{ObjectMeta: deployment})
	add("apps", "ReplicaSet", &appsv1.ReplicaSet{ObjectMeta: set})
	add("", "Pod", pod)
	add("", "Service", &corev1.Service{ObjectMeta: meta("web", "4"), Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"}}})
	add("", "Secret", &metav1.PartialObjectMetadata{ObjectMeta: meta("web-tls", "5")})
	return b.Build(inv)
}

// find returns the node of an identifier, as Ref.String formats it.
func find(g *graph.Graph, id string) graph.ID {
	ref, err := object.ParseRef(id)
	if err != nil {
		panic(err)
	}
	node, ok := g.Find(ref)
	if !ok {
		panic(id + " is not there")
	}
	return node
}

func Example_stack() {
	g := shopGraph()
	stack := g.Stack([]graph.ID{find(g, "Deployment.apps/shop/web")}, graph.StackOptions{})
	var show func(b *graph.Branch, depth int)
	show = func(b *graph.Branch, depth int) {
		fmt.Println(strings.TrimRight(strings.Repeat("  ", depth)+g.Ref(b.ID).String()+"  "+b.How.String(), " "))
		for _, child := range b.Children {
			show(child, depth+1)
		}
	}
	for _, root := range stack.Forest() {
		show(root, 0)
	}
	// Output:
	// Deployment.apps/shop/web
	//   ReplicaSet.apps/shop/web-5d9  owns
	//     Pod/shop/web-5d9-x2k  owns
	//       Secret/shop/web-tls  needs
	//       Service/shop/web  served by
	//   ServiceAccount/shop/default  needs
}

func ExampleGraph_Path() {
	g := shopGraph()
	steps, ok := g.Path(find(g, "Service/shop/web"), find(g, "Secret/shop/web-tls"), graph.StackOptions{})
	fmt.Println(ok)
	for _, s := range steps {
		fmt.Println(g.Ref(s.Edge.From), s.Edge.Relation, g.Ref(s.Edge.To), "because", s.Edge.Why())
	}
	// Output:
	// true
	// Service/shop/web serves Pod/shop/web-5d9-x2k because spec.selector = "app=web"
	// Pod/shop/web-5d9-x2k needs Secret/shop/web-tls because spec.volumes[0].secret.secretName = "web-tls"
}

func ExampleGraph_Impact() {
	g := shopGraph()
	impact := g.Impact(find(g, "Secret/shop/web-tls"), graph.ImpactOptions{})
	for _, d := range impact.Direct {
		fmt.Println(g.Ref(d.ID), "needs it:", d.Edge.Why())
	}
	for _, d := range impact.Indirect {
		fmt.Println(g.Ref(d.ID), "suffers from", g.Ref(d.Cause))
	}
	impact = g.Impact(find(g, "Deployment.apps/shop/web"), graph.ImpactOptions{})
	for _, d := range impact.Deleted {
		fmt.Println(g.Ref(d.ID), "goes with the Deployment")
	}
	// Output:
	// Pod/shop/web-5d9-x2k needs it: spec.volumes[0].secret.secretName = "web-tls"
	// Deployment.apps/shop/web suffers from ReplicaSet.apps/shop/web-5d9
	// Pod/shop/web-5d9-x2k goes with the Deployment
	// ReplicaSet.apps/shop/web-5d9 goes with the Deployment
}

// What is forbidden is reported, and never counts as missing.
func ExampleGraph_Gaps() {
	kinds := object.NewKinds([]object.Resource{
		{Version: "v1", Kind: "Pod", Plural: "pods", Namespaced: true},
		{Version: "v1", Kind: "Secret", Plural: "secrets", Namespaced: true},
		{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespaced: true},
	})
	b := graph.NewBuilder(relation.NewSet(relation.BuiltIn()...), kinds)
	inv := inventory.New(nil, b.Extract)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	pod.Spec.Volumes = []corev1.Volume{
		{Name: "tls", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "tls"}}},
		{Name: "conf", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "conf"}}}},
	}
	inv.Add(object.Object{Ref: object.Ref{Kind: "Pod", Namespace: "shop", Name: "web"}, Version: "v1", Meta: pod, Body: pod})
	// All ConfigMaps were read, and there were none; Secrets were forbidden.
	inv.Cover(schema.GroupKind{Kind: "ConfigMap"}, "shop")
	inv.Gap(object.Gap{Resource: "secrets", Namespace: "shop", Reason: "Forbidden", Message: "secrets is forbidden"})

	g := b.Build(inv)
	fmt.Println("ConfigMap:", g.State(find(g, "ConfigMap/shop/conf")))
	fmt.Println("Secret:", g.State(find(g, "Secret/shop/tls")))
	for _, gap := range g.Gaps() {
		fmt.Println(gap.Resource, gap.Reason)
	}
	// Output:
	// ConfigMap: missing
	// Secret: unread
	// secrets Forbidden
}
