package autoscale

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// horizontal is the HPA of a proposal: it doubles the pods, or adds four, in a minute, and removes
// at most half of them in a minute, when usage was lower for the whole stabilization window.
func (r *Proposal) horizontal() *unstructured.Unstructured {
	var metrics []any
	for _, m := range []struct {
		name    string
		percent int
	}{{"cpu", r.CPU}, {"memory", r.Memory}} {
		if m.percent > 0 {
			metrics = append(metrics, map[string]any{
				"type": "Resource", "resource": map[string]any{"name": m.name, "target": map[string]any{"type": "Utilization", "averageUtilization": int64(m.percent)}},
			})
		}
	}
	policy := func(kind string, value int64) map[string]any {
		return map[string]any{"type": kind, "value": value, "periodSeconds": int64(60)}
	}
	return r.scaler("autoscaling/v2", Horizontal, map[string]any{
		"scaleTargetRef": r.reference(), "minReplicas": int64(r.Min), "maxReplicas": int64(r.Max), "metrics": metrics,
		"behavior": map[string]any{
			"scaleUp":   map[string]any{"stabilizationWindowSeconds": int64(0), "selectPolicy": "Max", "policies": []any{policy("Percent", 100), policy("Pods", 4)}},
			"scaleDown": map[string]any{"stabilizationWindowSeconds": int64(r.Stabilization), "selectPolicy": "Max", "policies": []any{policy("Percent", 50)}},
		},
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
			scaler = r.horizontal()
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
