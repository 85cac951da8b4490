package autoscale

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// hpa is the HPA of a proposal.
func (r *Proposal) hpa() *unstructured.Unstructured {
	var metrics []any
	r.utilizations(func(name string, percent int) {
		metrics = append(metrics, map[string]any{
			"type": "Resource", "resource": map[string]any{"name": name, "target": map[string]any{"type": "Utilization", "averageUtilization": int64(percent)}},
		})
	})
	return r.scaler("autoscaling/v2", Horizontal, map[string]any{
		"scaleTargetRef": r.reference(), "minReplicas": int64(r.Min), "maxReplicas": int64(r.Max), "metrics": metrics, "behavior": r.behavior(),
	})
}

// utilizations visits the target utilizations of a proposal.
func (r *Proposal) utilizations(visit func(name string, percent int)) {
	if r.CPU > 0 {
		visit("cpu", r.CPU)
	}
	if r.Memory > 0 {
		visit("memory", r.Memory)
	}
}

// behavior doubles the pods, or adds four, in a minute, and removes at most half of them in a minute,
// when usage was lower for the whole stabilization window.
func (r *Proposal) behavior() map[string]any {
	policy := func(kind string, value int64) map[string]any {
		return map[string]any{"type": kind, "value": value, "periodSeconds": int64(60)}
	}
	return map[string]any{
		"scaleUp":   map[string]any{"stabilizationWindowSeconds": int64(0), "selectPolicy": "Max", "policies": []any{policy("Percent", 100), policy("Pods", 4)}},
		"scaleDown": map[string]any{"stabilizationWindowSeconds": int64(r.Stabilization), "selectPolicy": "Max", "policies": []any{policy("Percent", 50)}},
	}
}

// scaledObject is the ScaledObject of a proposal: KEDA makes an HPA with the same bounds and behavior,
// of which the trigger that wants the most pods decides.
func (r *Proposal) scaledObject() *unstructured.Unstructured {
	target := r.reference()
	var triggers []any
	for _, t := range r.Triggers {
		metadata := map[string]any{}
		for k, v := range t.Metadata {
			metadata[k] = v
		}
		triggers = append(triggers, map[string]any{"type": t.Type, "metadata": metadata})
		if t.container != "" {
			target["envSourceContainerName"] = t.container
		}
	}
	r.utilizations(func(name string, percent int) {
		triggers = append(triggers, map[string]any{"type": name, "metricType": "Utilization", "metadata": map[string]any{"value": strconv.Itoa(percent)}})
	})
	return r.scaler("keda.sh/v1alpha1", Queue, map[string]any{
		"scaleTargetRef": target, "minReplicaCount": int64(r.Min), "maxReplicaCount": int64(r.Max), "triggers": triggers,
		"advanced": map[string]any{"horizontalPodAutoscalerConfig": map[string]any{"behavior": r.behavior()}},
	})
}

// vertical is a VPA that recommends, and evicts nothing.
func (r *Proposal) vertical() *unstructured.Unstructured {
	return r.scaler("autoscaling.k8s.io/v1", Vertical, map[string]any{"targetRef": r.reference(), "updatePolicy": map[string]any{"updateMode": "Off"}})
}

func (r *Proposal) reference() map[string]any {
	return map[string]any{"apiVersion": r.apiVersion, "kind": r.Target.Kind, "name": r.Target.Name}
}

func (r *Proposal) scaler(apiVersion, kind string, spec map[string]any) *unstructured.Unstructured {
	meta := map[string]any{"name": r.Target.Name}
	if r.Target.Namespace != "" {
		meta["namespace"] = r.Target.Namespace
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": meta, "spec": spec}}
}

// objectsOf are the scalers of proposals, in order. A scaler has the name of its target, and its kind
// as well where another target has that name.
func objectsOf(proposals []Proposal) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	taken := map[object.Ref]bool{}
	for i := range proposals {
		r := &proposals[i]
		var scaler *unstructured.Unstructured
		switch r.Scaler {
		case Horizontal:
			scaler = r.hpa()
		case Queue:
			scaler = r.scaledObject()
		case Vertical:
			scaler = r.vertical()
		default:
			continue
		}
		if taken[object.RefOf(scaler)] {
			scaler.SetName(r.Target.Name + "-" + strings.ToLower(r.Target.Kind))
		}
		taken[object.RefOf(scaler)] = true
		out = append(out, scaler)
	}
	return out
}
