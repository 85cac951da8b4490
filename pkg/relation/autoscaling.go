package relation

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// autoscalingRules reads what scales a workload.
func autoscalingRules() []Rule {
	return []Rule{
		{Name: "autoscaler-target", From: from(autoscaler), Relation: Serves, Via: Spec, To: "(scaled)", Field: "spec.scaleTargetRef", Links: autoscalerTarget},
		{Name: "autoscaler-metric", From: from(autoscaler), Relation: Needs, Via: Spec, To: "(described)", Field: "spec.metrics[].object.describedObject", Links: on(autoscalerMetrics)},
	}
}

// autoscalerTarget reads both served versions: old clients and old snapshots use v1.
func autoscalerTarget(o object.Object, emit EmitFunc) {
	var apiVersion, name, kindName string
	switch b := o.Body.(type) {
	case *autoscalingv2.HorizontalPodAutoscaler:
		r := &b.Spec.ScaleTargetRef
		apiVersion, kindName, name = r.APIVersion, r.Kind, r.Name
	case *autoscalingv1.HorizontalPodAutoscaler:
		r := &b.Spec.ScaleTargetRef
		apiVersion, kindName, name = r.APIVersion, r.Kind, r.Name
	}
	named(emit, scalable(apiVersion, kindName), o.Namespace, name, "spec.scaleTargetRef.name")
}

// scalable returns the kind of a scale target. Deployments and ReplicaSets were once served in
// extensions, and references still use that group.
func scalable(apiVersion, name string) schema.GroupKind {
	k := kind(groupOf(apiVersion), name)
	if k.Group == "extensions" || (k.Group == "" && name != replicationController.Kind) {
		for _, known := range [...]schema.GroupKind{deployment, replicaSet, statefulSet} {
			if name == known.Kind {
				return known
			}
		}
	}
	return k
}

// autoscalerMetrics: the autoscaler needs the object that it measures; it does not serve it.
func autoscalerMetrics(h *autoscalingv2.HorizontalPodAutoscaler, self object.Ref, emit EmitFunc) {
	for i := range h.Spec.Metrics {
		if m := h.Spec.Metrics[i].Object; m != nil {
			r := m.DescribedObject
			named(emit, kind(groupOf(r.APIVersion), r.Kind), self.Namespace, r.Name, at("spec.metrics[", i, "].object.describedObject.name"))
		}
	}
}
