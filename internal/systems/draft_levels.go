package systems

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// scaledObjectKind is what KEDA scales by.
var scaledObjectKind = schema.GroupKind{Group: "keda.sh", Kind: "ScaledObject"}

// foundScaler is an autoscaler that exists, as a manifest states it.
type foundScaler struct {
	ref, target object.Ref
	settings    system.AppAutoscaling
	// unstated is what of it a manifest cannot state; empty if it can.
	unstated string
	// note is what the manifest leaves out.
	note string
}

func (s *foundScaler) name() string { return s.ref.Kind + "/" + s.ref.Name }

// keepScaler keeps autoscalers, without those that KEDA creates for its own objects.
func (d *draft) keepScaler(o object.Object) func(*inventory.Inventory, inventory.ID) {
	var found foundScaler
	switch scaler, typed := o.Body.(*autoscalingv2.HorizontalPodAutoscaler); {
	case typed && !isOfKEDA(o.Meta.GetOwnerReferences()):
		found = ofHPA(scaler)
	case o.GroupKind() == scaledObjectKind && o.Fields() != nil:
		found = ofScaledObject(o.Fields())
	default:
		return nil
	}
	found.ref, found.target.Namespace = o.Ref, o.Namespace
	d.mu.Lock()
	defer d.mu.Unlock()
	d.scalers = append(d.scalers, found)
	return nil
}

func ofHPA(h *autoscalingv2.HorizontalPodAutoscaler) foundScaler {
	to := h.Spec.ScaleTargetRef
	s := foundScaler{target: object.Ref{Group: schema.FromAPIVersionAndKind(to.APIVersion, to.Kind).Group, Kind: to.Kind, Name: to.Name}}
	s.settings.Min, s.settings.Max = 1, int(h.Spec.MaxReplicas)
	if h.Spec.MinReplicas != nil {
		s.settings.Min = int(*h.Spec.MinReplicas)
	}
	for _, m := range h.Spec.Metrics {
		if m.Resource == nil || m.Resource.Target.AverageUtilization == nil || m.Resource.Name != corev1.ResourceCPU && m.Resource.Name != corev1.ResourceMemory {
			s.unstated = "it scales by a metric of the type " + string(m.Type)
			if m.Resource != nil {
				s.unstated = "it scales by an amount of " + string(m.Resource.Name)
			}
			continue
		}
		s.byUtilization(string(m.Resource.Name), int(*m.Resource.Target.AverageUtilization))
	}
	if len(h.Spec.Metrics) == 0 {
		s.settings.CPU = 80 // the default of Kubernetes
	}
	if h.Spec.Behavior != nil {
		s.note = "its behavior"
	}
	return s.bounded()
}

func ofScaledObject(fields map[string]any) foundScaler {
	to, _, _ := unstructured.NestedMap(fields, "spec", "scaleTargetRef")
	text := func(name string) string { v, _ := to[name].(string); return v }
	kind := cmp.Or(text("kind"), "Deployment")
	s := foundScaler{target: object.Ref{Group: schema.FromAPIVersionAndKind(cmp.Or(text("apiVersion"), "apps/v1"), kind).Group, Kind: kind, Name: text("name")}}
	least, _, _ := unstructured.NestedInt64(fields, "spec", "minReplicaCount")
	most, stated, _ := unstructured.NestedInt64(fields, "spec", "maxReplicaCount")
	if !stated {
		most = 100 // the default of KEDA
	}
	s.settings.Min, s.settings.Max = int(least), int(most)
	triggers, _, _ := unstructured.NestedSlice(fields, "spec", "triggers")
	for _, item := range triggers {
		trigger, _ := item.(map[string]any)
		kind, _, _ := unstructured.NestedString(trigger, "type")
		value, _, _ := unstructured.NestedString(trigger, "metadata", "value")
		container, _, _ := unstructured.NestedString(trigger, "metadata", "containerName")
		metric, _, _ := unstructured.NestedString(trigger, "metricType")
		percent, err := strconv.Atoi(value)
		if kind != "cpu" && kind != "memory" || err != nil || container != "" || metric != "" && metric != "Utilization" {
			s.unstated = "it scales by the trigger " + cmp.Or(kind, "?")
			continue
		}
		s.byUtilization(kind, percent)
	}
	if _, found, _ := unstructured.NestedMap(fields, "spec", "advanced"); found {
		s.note = "its advanced settings"
	}
	return s.bounded()
}

func (s *foundScaler) byUtilization(resource string, percent int) {
	if resource == "memory" {
		s.settings.Memory = percent
		return
	}
	s.settings.CPU = percent
}

// bounded says which bounds and targets a manifest cannot state.
func (s foundScaler) bounded() foundScaler {
	switch {
	case s.unstated != "":
	case s.settings.Min < 1:
		s.unstated = "it scales to 0"
	case s.settings.Max < s.settings.Min:
		s.unstated = "its maximum is below its minimum"
	case s.settings.CPU == 0:
		s.unstated = "it does not scale by CPU"
	}
	return s
}

// scale states the autoscalers of an app, if a manifest can. Otherwise the System leaves the app to them.
func (d *draft) scale(a *system.DraftApp, roots []object.Ref) {
	var all []foundScaler
	for _, s := range d.scalers {
		if slices.Contains(roots, s.target) {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return
	}
	slices.SortFunc(all, func(x, y foundScaler) int { return object.Compare(x.ref, y.ref) })
	workloads := 0
	for _, r := range roots {
		if r.Group == "apps" && (r.Kind == "Deployment" || r.Kind == "StatefulSet") {
			workloads++
		}
	}
	settings, unstated := all[0].settings, all[0].unstated
	same := !slices.ContainsFunc(all, func(s foundScaler) bool { return s.settings != settings || s.unstated != "" })
	if len(all) > 1 && unstated == "" && (!same || workloads != len(all)) {
		unstated = "a manifest states one scaler an app"
	}
	if len(all) == 1 && workloads > 1 {
		settings.Target = d.rootOf(all[0].target, d.namespace())
	}
	for i := range all {
		s := &all[i]
		switch {
		case unstated != "":
			a.Scaled = append(a.Scaled, fmt.Sprintf("%s scales it, and stays: %s, which a manifest cannot state.", s.name(), cmp.Or(s.unstated, unstated)))
		case s.note != "":
			a.Scaled = append(a.Scaled, fmt.Sprintf("%s scales it so, without %s, and stays. Once it is deleted, autoscale apply -f FILE creates one.", s.name(), s.note))
		default:
			a.Scaled = append(a.Scaled, s.name()+" scales it so, and stays. Once it is deleted, autoscale apply -f FILE creates one.")
		}
	}
	if unstated != "" {
		settings = system.AppAutoscaling{Off: true}
	}
	a.Autoscaling = &settings
}

// shareTargets makes the utilization that all scaled apps have in common that of the System.
func shareTargets(d *system.Draft) {
	var scaled []*system.AppAutoscaling
	for i := range d.Apps {
		if a := d.Apps[i].Autoscaling; a != nil && !a.Off {
			scaled = append(scaled, a)
		}
	}
	if len(scaled) < 2 || slices.ContainsFunc(scaled, func(a *system.AppAutoscaling) bool { return a.CPU != scaled[0].CPU || a.Memory != scaled[0].Memory }) {
		return
	}
	d.Autoscaling = system.Autoscaling{CPU: scaled[0].CPU, Memory: scaled[0].Memory}
	for _, a := range scaled {
		a.CPU, a.Memory = 0, 0
	}
}

// monitored adds how the apps are monitored, where the cluster has monitors or rules of alerts.
func (d *draft) monitored(ctx context.Context, draft *system.Draft, sys *system.System) {
	found := false
	for id := range graph.ID(d.graph.Len()) {
		found = found || d.graph.State(id) == graph.Present && monitors(d.graph.Ref(id))
	}
	if !found || d.Monitoring == nil {
		return
	}
	m, err := d.Monitoring(ctx, d.Another(sys.Namespace), sys)
	if err != nil {
		draft.Monitoring.Found = []string{"What monitors its apps could not be read: " + err.Error()}
		return
	}
	draft.Monitoring = *m
}

// isOfKEDA says whether owners are a ScaledObject.
func isOfKEDA(owners []metav1.OwnerReference) bool {
	return slices.ContainsFunc(owners, func(o metav1.OwnerReference) bool {
		return schema.FromAPIVersionAndKind(o.APIVersion, o.Kind).GroupKind() == scaledObjectKind
	})
}

// monitors says whether an object is a monitor, or has rules of alerts.
func monitors(ref object.Ref) bool {
	return check.CollectsMetrics(ref.Kind) && strings.Contains(ref.Group, ".") || slices.Contains(check.AlertKinds, ref.GroupKind())
}
