package relation_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// A pod has links to what it needs. Links does not check that it exists: an optional Secret and a
// required one are links alike, one of them marked.
func ExampleSet_Links() {
	yes := true
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	pod.Spec.Containers = []corev1.Container{{
		Name: "web",
		EnvFrom: []corev1.EnvFromSource{
			{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "db"}}},
			{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "extra"}, Optional: &yes}},
		},
	}}
	rules := relation.BuiltIn()
	o := object.Object{Ref: object.Ref{Kind: "Pod", Namespace: "shop", Name: "web"}, Version: "v1", Meta: pod, Body: pod}
	relation.NewSet(rules...).Links(o, func(rule int, l relation.Link) {
		if rules[rule].Name == "pod-envfrom-secret" {
			fmt.Println(rules[rule].Relation, l.Target.Kind, l.Target.Name, "optional:", l.Optional, "because of", l.Field)
		}
	})
	// Output:
	// needs Secret db optional: false because of spec.containers[0].envFrom[0].secretRef.name
	// needs Secret extra optional: true because of spec.containers[0].envFrom[1].secretRef.name
}
