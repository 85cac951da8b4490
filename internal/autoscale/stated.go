package autoscale

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// manifest is what a System says about its objects before they exist.
type manifest struct {
	sys   *system.System
	kinds *object.Kinds
}

// Stated are the scalers that a manifest states in full, for apps whose workloads do not exist yet:
// of an app with max, an HPA for each of its Deployments and StatefulSets, or for its target. Where
// usage would have to decide, there is none. What a plan would refuse is refused, as far as the
// objects of the manifest show it.
func Stated(s *system.System, kinds *object.Kinds) ([]*unstructured.Unstructured, []Refusal) {
	m := &manifest{s, kinds}
	var proposals []Proposal
	var refusals []Refusal
	for i := range s.Apps {
		a := s.Apps[i].Autoscaling
		if a == nil || a.Off || a.Max == 0 {
			continue
		}
		for _, o := range s.Apps[i].Resources {
			if !m.isTarget(o, a.Target) {
				continue
			}
			r := Proposal{Target: object.RefOf(o), App: s.Apps[i].Name, Scaler: Horizontal, apiVersion: o.GetAPIVersion(), Min: max(a.Min, 1), Max: a.Max, Stabilization: int(DefaultStabilization.Seconds())}
			r.CPU, r.Memory = targets(*a, s.Autoscaling)
			if refusal := m.refuse(&r, o); refusal != nil {
				refusal.Target, refusal.App = r.Target, r.App
				refusals = append(refusals, *refusal)
				continue
			}
			proposals = append(proposals, r)
		}
	}
	return objectsOf(proposals), refusals
}

// isTarget reports whether an object is the target of an app, or one of all without a target.
func (m *manifest) isTarget(o *unstructured.Unstructured, target system.Root) bool {
	gk := o.GroupVersionKind().GroupKind()
	if target.Name == "" {
		return gk.Group == appsv1.GroupName && (gk.Kind == "Deployment" || gk.Kind == "StatefulSet")
	}
	if target.Name != o.GetName() || target.Namespace != "" && target.Namespace != m.place(o).Namespace {
		return false
	}
	if kind, err := m.kinds.Find(target.Type); err == nil {
		return kind.GroupKind() == gk
	}
	// The cluster does not serve the kind yet.
	name, group, grouped := strings.Cut(target.Type, ".")
	return object.MayBePlural(name, gk.Kind) && (!grouped || strings.EqualFold(group, gk.Group))
}

// place is the reference of an object, in the namespace that it gets.
func (m *manifest) place(o *unstructured.Unstructured) object.Ref {
	ref := object.RefOf(o)
	ref.Namespace = cmp.Or(ref.Namespace, m.sys.Namespace)
	return ref
}

// refuse is why a target must not be scaled, as far as the manifest shows it; nil for no reason.
func (m *manifest) refuse(r *Proposal, o *unstructured.Unstructured) *Refusal {
	gk := r.Target.GroupKind()
	kind, known := m.kinds.Kind(gk)
	owner := metav1.GetControllerOf(o)
	switch {
	case unscalable[gk.Kind] != "":
		return &Refusal{Reason: "Kind", Message: unscalable[gk.Kind], Hint: "write autoscaling: false for the app, or name another target"}
	case owner != nil:
		return &Refusal{Reason: "Operator", Message: fmt.Sprintf("the controller of %s/%s sizes it: a scaler would be reverted", owner.Kind, owner.Name), Hint: fmt.Sprintf("set its replicas in %s/%s, and write autoscaling: false for the app", owner.Kind, owner.Name)}
	case known && gk.Group != appsv1.GroupName && !kind.Scalable:
		return &Refusal{Reason: "Operator", Message: "its kind has no subresource scale", Hint: "set its replicas in its fields, and write autoscaling: false for the app"}
	}
	if replicas, stated, _ := unstructured.NestedInt64(o.Object, "spec", "replicas"); stated && replicas == 0 {
		return &Refusal{Reason: "Zero", Message: "its replicas are 0, and a HorizontalPodAutoscaler does nothing at 0 replicas", Hint: "remove spec.replicas"}
	}
	if scaler := m.scalerOf(m.place(o)); scaler != nil {
		return secondScaler(object.RefOf(scaler), "of the manifest", "keep that one, and write autoscaling: false for the app; or remove it from the manifest")
	}
	if gk.Group != appsv1.GroupName {
		return nil // The pods of a custom resource are unknown.
	}
	var d appsv1.Deployment // A StatefulSet has its pod template in the same place.
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"spec": map[string]any{"template": templateOf(o)}}, &d); err != nil {
		return &Refusal{Reason: "Template", Message: fmt.Sprintf("its pod template cannot be read: %v", err), Hint: "correct the template"}
	}
	pod := &d.Spec.Template.Spec
	if claim := m.pinned(m.place(o), pod); claim != "" && r.Max > 1 {
		return sharedClaim(claim)
	}
	if missing := missingRequests(runningContainers(pod), r); len(missing) > 0 {
		return unrequested(missing)
	}
	return nil
}

func templateOf(o *unstructured.Unstructured) map[string]any {
	template, _, _ := unstructured.NestedMap(o.Object, "spec", "template")
	return template
}

// scalerOf is what the manifest scales a target by; nil for nothing. A VPA that only recommends is
// not one.
func (m *manifest) scalerOf(target object.Ref) *unstructured.Unstructured {
	fields := map[schema.GroupKind]string{horizontalKind: "scaleTargetRef", scaledObjectKind: "scaleTargetRef", verticalKind: "targetRef"}
	for i := range m.sys.Apps {
		for _, o := range m.sys.Apps[i].Resources {
			gk := o.GroupVersionKind().GroupKind()
			to, _, _ := unstructured.NestedMap(o.Object, "spec", fields[gk])
			kind, _ := to["kind"].(string)
			mode, _, _ := unstructured.NestedString(o.Object, "spec", "updatePolicy", "updateMode")
			if fields[gk] == "" || gk == verticalKind && mode == "Off" || m.place(o).Namespace != target.Namespace {
				continue
			}
			if to["name"] == target.Name && cmp.Or(kind, "Deployment") == target.Kind { // KEDA's default
				return o
			}
		}
	}
	return nil
}

// pinned names a claim of the manifest that all pods of a Deployment mount, and that pods on one node
// alone can mount; empty for none.
func (m *manifest) pinned(workload object.Ref, pod *corev1.PodSpec) string {
	for _, v := range pod.Volumes {
		if v.PersistentVolumeClaim == nil || workload.Kind == "StatefulSet" {
			continue
		}
		claim := object.Ref{Kind: "PersistentVolumeClaim", Namespace: workload.Namespace, Name: v.PersistentVolumeClaim.ClaimName}
		for i := range m.sys.Apps {
			for _, o := range m.sys.Apps[i].Resources {
				modes, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "accessModes")
				if m.place(o) == claim && !slices.ContainsFunc(modes, func(mode string) bool { return check.IsSharable(corev1.PersistentVolumeAccessMode(mode)) }) {
					return claim.Name
				}
			}
		}
	}
	return ""
}
