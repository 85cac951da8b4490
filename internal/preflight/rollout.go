package preflight

import (
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// replaced holds a pod set against the pods that the object has now. Of an unchanged template
// they stay, of a changed one they are old.
func (f *evaluation) replaced(c *podSet) {
	wl, ok := f.World.Workload(c.item.Ref)
	if !ok {
		return
	}
	same := !f.FromScratch && (f.unchanged(c.item, wl.Template) || f.pausedOf(wl.Object))
	for _, p := range wl.Pods {
		f.sort(c, p, same)
	}
}

// stays is replaced for a controller that never replaces an existing pod.
func (f *evaluation) stays(c *podSet) {
	wl, ok := f.World.Workload(c.item.Ref)
	if !ok {
		return
	}
	for _, p := range wl.Pods {
		f.sort(c, p, !f.FromScratch)
	}
}

func (f *evaluation) sort(c *podSet, p *corev1.Pod, same bool) {
	switch {
	case f.FromScratch || p.Spec.NodeName == "":
		c.waiting = append(c.waiting, p)
	case same && p.DeletionTimestamp == nil:
		c.kept = append(c.kept, p)
	case !same:
		c.old = append(c.old, p)
	}
}

// pausedOf says that a Deployment in the cluster rolls nothing out.
func (f *evaluation) pausedOf(o runtime.Object) bool {
	d, ok := o.(*appsv1.Deployment)
	return ok && d.Spec.Paused
}

// unchanged says whether the new template equals the present one. What the API server
// admitted has its defaults, and is compared as a whole; of what was only written every
// field must be there.
func (f *evaluation) unchanged(it *Item, live *corev1.PodTemplateSpec) bool {
	if live == nil {
		return false
	}
	spec, _ := f.content(it)["spec"].(map[string]any)
	fields, _ := spec["template"].(map[string]any)
	want := &corev1.PodTemplateSpec{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(fields, want) != nil {
		return false
	}
	if a := f.dryRuns[it.Ref]; a != nil && a.Admitted != nil {
		want.CreationTimestamp = live.CreationTimestamp
		return equality.Semantic.DeepEqual(want, live)
	}
	a, errA := runtime.DefaultUnstructuredConverter.ToUnstructured(want)
	b, errB := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	return errA == nil && errB == nil && isWithin(a, b)
}

// isWithin says whether all of a is in b: fields of maps, and lists item by item.
func isWithin(a, b any) bool {
	switch a := a.(type) {
	case nil:
		return true
	case map[string]any:
		in, _ := b.(map[string]any)
		for k, v := range a {
			if !isWithin(v, in[k]) {
				return false
			}
		}
		return true
	case []any:
		in, _ := b.([]any)
		if len(a) != len(in) {
			return false
		}
		for i := range a {
			if !isWithin(a[i], in[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

// firstOf is how many new pods must run before a rolling update takes an old one away: none
// where some may be unavailable, else as many as it may have too many.
func firstOf(r *appsv1.RollingUpdateDeployment, wanted int) int {
	surge, away := intstr.FromString("25%"), intstr.FromString("25%")
	if r != nil && r.MaxSurge != nil {
		surge = *r.MaxSurge
	}
	if r != nil && r.MaxUnavailable != nil {
		away = *r.MaxUnavailable
	}
	surplus, err := intstr.GetScaledValueFromIntOrPercent(&surge, wanted, true)
	if err != nil {
		return 0
	}
	down, err := intstr.GetScaledValueFromIntOrPercent(&away, wanted, false)
	if err != nil || down > 0 || surplus <= 0 {
		return 0
	}
	return min(surplus, wanted)
}
