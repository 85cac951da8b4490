package preflight

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// copies makes podSets of workloads, for an object that would have such as another has. Of
// its own ones, names and claims are the existing ones.
func (f *evaluation) copies(it *Item, donor object.Ref, list []*check.Workload) []*podSet {
	var out []*podSet
	for _, w := range list {
		specs := w.Specs()
		if len(specs) == 0 || w.Ref.Kind == "CronJob" {
			continue
		}
		template := templateOf(w, specs[0])
		var claims []corev1.PersistentVolumeClaim
		base := w.Ref.Name
		if donor == it.Ref {
			if s, ok := w.Object.(*appsv1.StatefulSet); ok {
				claims = s.Spec.VolumeClaimTemplates
			}
		} else {
			claims = f.detach(w, &template.Spec)
			rename(template, donor.Name, it.Ref.Name)
			base = it.Ref.Name + "-" + base
			if i := slices.IndexFunc(out, func(c *podSet) bool { return w.Template == nil && c.bare && alike(&c.pod.Spec, &template.Spec) }); i >= 0 {
				out[i].wanted++
				continue
			}
		}
		c := f.newPodSet(it, template, int(w.Replicas))
		c.base, c.templates, c.bare = base, claims, w.Template == nil
		c.title = fmt.Sprintf("%s (%s)", plain(it.Ref), w.Ref.Name)
		switch o := w.Object.(type) {
		case *batchv1.Job:
			c.ends = true
		case *appsv1.DaemonSet:
			f.onNodes(c)
		case *corev1.Pod:
			c.ends = ending(&o.Spec)
		}
		if donor == it.Ref {
			c.waiting = w.Pods
		}
		out = append(out, c)
	}
	if len(out) == 1 {
		out[0].title = plain(it.Ref)
	}
	return out
}

// templateOf is the template of pods as they run, with what was put into them on their way.
func templateOf(w *check.Workload, spec *corev1.PodSpec) *corev1.PodTemplateSpec {
	t := &corev1.PodTemplateSpec{Spec: *spec}
	if w.Template != nil {
		t.Labels, t.Annotations = w.Template.Labels, w.Template.Annotations
	} else {
		t.Labels, t.Annotations = w.Pods[0].Labels, w.Pods[0].Annotations
	}
	t = t.DeepCopy()
	t.Spec.NodeName, t.Spec.Hostname = "", ""
	return t
}

// detach takes the claims out of the spec of a pod that runs. They are returned as templates,
// where each pod has claims of its own.
func (f *evaluation) detach(w *check.Workload, s *corev1.PodSpec) []corev1.PersistentVolumeClaim {
	var claims []corev1.PersistentVolumeClaim
	s.Volumes = slices.DeleteFunc(s.Volumes, func(v corev1.Volume) bool {
		if v.PersistentVolumeClaim == nil {
			return false
		}
		ref := object.Ref{Kind: "PersistentVolumeClaim", Namespace: w.Ref.Namespace, Name: v.PersistentVolumeClaim.ClaimName}
		have, ok := check.Of[*corev1.PersistentVolumeClaim](f.World.Facts, ref)
		if ok && (w.Ref.Kind == "StatefulSet" || w.Ref.Kind == "Pod") {
			spec := have.Spec.DeepCopy()
			spec.VolumeName, spec.DataSource, spec.DataSourceRef = "", nil, nil
			claims = append(claims, corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: v.Name}, Spec: *spec})
		}
		return true
	})
	return claims
}

// rename puts the name of an instance in place of another's, in labels and in what selects
// by them: else the pods of the two would be taken for one another's.
func rename(t *corev1.PodTemplateSpec, from, to string) {
	for k, v := range t.Labels {
		t.Labels[k] = renamed(v, from, to)
	}
	selector := func(s *metav1.LabelSelector) {
		if s == nil {
			return
		}
		for k, v := range s.MatchLabels {
			s.MatchLabels[k] = renamed(v, from, to)
		}
		for i := range s.MatchExpressions {
			for j, v := range s.MatchExpressions[i].Values {
				s.MatchExpressions[i].Values[j] = renamed(v, from, to)
			}
		}
	}
	for i := range t.Spec.TopologySpreadConstraints {
		selector(t.Spec.TopologySpreadConstraints[i].LabelSelector)
	}
	a := t.Spec.Affinity
	if a == nil {
		return
	}
	if a.PodAffinity != nil {
		for i := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			selector(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i].LabelSelector)
		}
	}
	if a.PodAntiAffinity != nil {
		for i := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			selector(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i].LabelSelector)
		}
	}
}

func renamed(value, from, to string) string {
	if from == "" || !isWordOf(from, value) {
		return value
	}
	return strings.Replace(value, from, to, 1)
}

// alike says whether two pods that no controller made are of one make, as far as room for
// them goes.
func alike(a, b *corev1.PodSpec) bool {
	if len(a.Containers) != len(b.Containers) || len(a.InitContainers) != len(b.InitContainers) {
		return false
	}
	for _, lists := range [][2][]corev1.Container{{a.Containers, b.Containers}, {a.InitContainers, b.InitContainers}} {
		for i := range lists[0] {
			x, y := &lists[0][i], &lists[1][i]
			if x.Name != y.Name || !equality.Semantic.DeepEqual(x.Resources, y.Resources) || !equality.Semantic.DeepEqual(x.Ports, y.Ports) {
				return false
			}
		}
	}
	return equality.Semantic.DeepEqual(a.NodeSelector, b.NodeSelector) && equality.Semantic.DeepEqual(a.Affinity, b.Affinity) &&
		equality.Semantic.DeepEqual(a.TopologySpreadConstraints, b.TopologySpreadConstraints) && a.HostNetwork == b.HostNetwork
}
