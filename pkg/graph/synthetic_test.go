package graph_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// A synthetic cluster: applications of ten objects, fifty in each namespace, and a node for every
// hundred pods.
const (
	perApp       = 10
	podsPerApp   = 4
	appsPerSpace = 50
)

type cluster struct {
	random  *rand.Rand
	builder *graph.Builder
	inv     *inventory.Inventory
}

func newCluster() *cluster {
	c := &cluster{random: rand.New(rand.NewPCG(1, 2))}
	c.builder = graph.NewBuilder(relation.NewSet(relation.BuiltIn()...), builtInKinds())
	c.inv = inventory.New(nil, c.builder.Extract)
	return c
}

// fill adds n objects, and retains none.
func (c *cluster) fill(n int) *cluster {
	apps := n / perApp
	nodes := max(1, apps*podsPerApp/100)
	for i := range nodes {
		c.add("", "v1", "Node", &corev1.Node{ObjectMeta: c.meta("", fmt.Sprintf("ip-10-%d-%d-17.eu-central-1.compute.internal", i/256, i%256), nil)})
	}
	for i := range apps {
		c.app(fmt.Sprintf("team-%d", i/appsPerSpace), fmt.Sprintf("checkout-service-%d", i), nodes)
	}
	return c
}

func (c *cluster) app(ns, name string, nodes int) {
	selector := map[string]string{"app.kubernetes.io/name": name, "app.kubernetes.io/instance": name}
	labels := map[string]string{"app.kubernetes.io/name": name, "app.kubernetes.io/instance": name, "team": ns}
	template := corev1.PodSpec{
		ServiceAccountName: name,
		Containers: []corev1.Container{{
			Name: "main", Image: "registry.example.com/" + name,
			EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name + "-config"}}}},
		}},
		Volumes: []corev1.Volume{{Name: "tls", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name + "-tls"}}}},
	}
	for _, kind := range []string{"ServiceAccount", "ConfigMap", "Secret"} {
		suffix := map[string]string{"ServiceAccount": "", "ConfigMap": "-config", "Secret": "-tls"}[kind]
		c.add("", "v1", kind, &v1.PartialObjectMetadata{ObjectMeta: c.meta(ns, name+suffix, labels)})
	}
	c.add("", "v1", "Service", &corev1.Service{ObjectMeta: c.meta(ns, name, labels), Spec: corev1.ServiceSpec{Selector: selector}})
	d := &appsv1.Deployment{ObjectMeta: c.meta(ns, name, labels)}
	d.Spec.Selector, d.Spec.Template.Spec = &v1.LabelSelector{MatchLabels: selector}, template
	c.add("apps", "v1", "Deployment", d)
	hash := fmt.Sprintf("%x", c.random.Uint32())
	labels["pod-template-hash"] = hash
	r := &appsv1.ReplicaSet{ObjectMeta: c.meta(ns, name+"-"+hash, labels, owner("apps/v1", "Deployment", d.ObjectMeta))}
	r.Spec.Selector, r.Spec.Template.Spec = d.Spec.Selector, template
	c.add("apps", "v1", "ReplicaSet", r)
	for range podsPerApp {
		p := &corev1.Pod{ObjectMeta: c.meta(ns, fmt.Sprintf("%s-%05x", r.Name, c.random.Uint32()&0xfffff), labels, owner("apps/v1", "ReplicaSet", r.ObjectMeta)), Spec: template}
		i := c.random.IntN(nodes)
		p.Spec.NodeName = fmt.Sprintf("ip-10-%d-%d-17.eu-central-1.compute.internal", i/256, i%256)
		c.add("", "v1", "Pod", p)
	}
}

func owner(version, kind string, m v1.ObjectMeta) v1.OwnerReference {
	return v1.OwnerReference{APIVersion: version, Kind: kind, Name: m.Name, UID: m.UID, Controller: new(true)}
}

func (c *cluster) meta(ns, name string, labels map[string]string, owners ...v1.OwnerReference) v1.ObjectMeta {
	a, b := c.random.Uint64(), c.random.Uint64()
	uid := fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>52, b&0xffffffffffff)
	return v1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID(uid), Labels: labels, OwnerReferences: owners}
}

func (c *cluster) add(group, version, kind string, body kruntime.Object) {
	m := body.(v1.Object)
	c.inv.Add(object.Object{
		Ref:     object.Ref{Group: group, Kind: kind, Namespace: m.GetNamespace(), Name: m.GetName()},
		Version: version, Meta: m, Body: body,
	})
}

func (c *cluster) build() *graph.Graph { return c.builder.Build(c.inv) }

// heap returns the size of the live heap.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
