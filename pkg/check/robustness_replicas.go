package check

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

var (
	robustPodKind     = schema.GroupKind{Kind: "Pod"}
	robustServiceKind = schema.GroupKind{Kind: "Service"}
	robustBudgetKind  = schema.GroupKind{Group: "policy", Kind: "PodDisruptionBudget"}
	robustCronJobKind = schema.GroupKind{Group: "batch", Kind: "CronJob"}
)

func podRef(p *corev1.Pod) object.Ref {
	return object.Ref{Kind: "Pod", Namespace: p.Namespace, Name: p.Name}
}

// replicaGroup is pods that stand in for each other: those of one workload, or those of several
// that are alike and that one custom resource owns. Operators of databases make their
// pods themselves, or a StatefulSet for each replica or rack: one pod of these is not a
// workload of one replica.
type replicaGroup struct {
	// Ref is the workload, or the owner of several.
	Ref       object.Ref
	Workloads []*Workload
	// Replicas are those that are wanted, of all of them together.
	Replicas int32
	// Pods are those that there are, in order.
	Pods []*corev1.Pod
}

// Lasting says that the pods are to run until somebody ends them.
func (c *replicaGroup) Lasting() bool { return c.Workloads[0].IsLongRunning() }

// spec returns a spec of its pods: of one that runs, or else that of the template.
func (c *replicaGroup) spec() *corev1.PodSpec {
	for _, wl := range c.Workloads {
		if specs := wl.Specs(); len(specs) > 0 {
			return specs[0]
		}
	}
	return nil
}

// labels returns the labels of its pods, as spec does.
func (c *replicaGroup) labels() map[string]string {
	if len(c.Pods) > 0 {
		return c.Pods[0].Labels
	}
	if t := c.Workloads[0].Template; t != nil {
		return t.Labels
	}
	return nil
}

// placed returns the pods that are on a node and are not about to go.
func (c *replicaGroup) placed() []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(c.Pods), func(p *corev1.Pod) bool { return p.Spec.NodeName == "" || p.DeletionTimestamp != nil })
}

// ManagedWorkloads returns the workloads of the stack without static pods, which a kubelet
// runs from a file.
func (s *Stack) ManagedWorkloads() []*Workload {
	return slices.DeleteFunc(s.Workloads(), func(wl *Workload) bool {
		return wl.Template == nil && len(wl.Pods) > 0 && isMirrorPod(&wl.Pods[0].ObjectMeta)
	})
}

// isMirrorPod says that a pod stands for one that a kubelet runs from a file.
func isMirrorPod(p *metav1.ObjectMeta) bool {
	_, mirror := p.Annotations[corev1.MirrorPodAnnotationKey]
	return mirror || slices.ContainsFunc(p.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "Node" && o.APIVersion == "v1" })
}

// replicaGroups returns the groups that the workloads are of, in order, each once.
func (w *ClusterState) replicaGroups(workloads []*Workload) []*replicaGroup {
	var out []*replicaGroup
	seen := map[object.Ref]bool{}
	for _, wl := range workloads {
		if seen[wl.Ref] {
			continue
		}
		c := w.replicaGroupOf(wl)
		for _, x := range c.Workloads {
			seen[x.Ref] = true
		}
		out = append(out, c)
	}
	return out
}

// replicaGroupOf returns the replica group of a workload.
func (w *ClusterState) replicaGroupOf(wl *Workload) *replicaGroup {
	c := &replicaGroup{Ref: wl.Ref, Workloads: []*Workload{wl}}
	if owner, ok := w.owner(wl.Ref); ok && owner.GroupKind() != (schema.GroupKind{Kind: "Node"}) {
		if alike := w.similarWorkloads(wl, owner); len(alike) > 1 {
			c.Ref, c.Workloads = owner, alike
		}
	}
	for _, x := range c.Workloads {
		c.Replicas += x.Replicas
		c.Pods = append(c.Pods, x.Pods...)
	}
	slices.SortFunc(c.Pods, func(a, b *corev1.Pod) int { return object.Compare(podRef(a), podRef(b)) })
	return c
}

// similarWorkloads returns the workloads that an owner made beside one, of the same kind and with the
// same containers, that one among them.
func (w *ClusterState) similarWorkloads(wl *Workload, owner object.Ref) []*Workload {
	id, ok := w.Graph.Find(owner)
	if !ok {
		return nil
	}
	var refs []object.Ref
	for _, below := range w.Graph.Owned(id) {
		if r := w.Graph.Ref(below); r.GroupKind() == wl.Ref.GroupKind() {
			refs = append(refs, r)
		}
	}
	same := groupKey(wl)
	return slices.DeleteFunc(w.workloadsOf(refs), func(x *Workload) bool {
		return groupKey(x) != same || x.IsLongRunning() != wl.IsLongRunning()
	})
}

// groupOwners returns what owns the workloads of a group, at any height, each once.
func (w *ClusterState) groupOwners(c *replicaGroup) []object.Ref {
	var out []object.Ref
	for _, wl := range c.Workloads {
		for _, owner := range w.owners(wl.Ref) {
			if !slices.Contains(out, owner) {
				out = append(out, owner)
			}
		}
	}
	return out
}

// groupKey is equal for workloads whose containers have the same names, and images that
// differ in no more than their tag.
func groupKey(wl *Workload) string {
	specs := wl.Specs()
	if len(specs) == 0 {
		return ""
	}
	var out []string
	for i := range specs[0].Containers {
		c := &specs[0].Containers[i]
		image := ParseImage(c.Image)
		out = append(out, c.Name+"="+image.Registry+"/"+image.Repository)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// specPath is where the spec of the pods is in a workload.
func (wl *Workload) specPath() string {
	switch {
	case wl.Template == nil:
		return "spec"
	case wl.Ref.Kind == "CronJob":
		return "spec.jobTemplate.spec.template.spec"
	}
	return "spec.template.spec"
}

// groupContainer is a container of a workload's pods.
type groupContainer struct {
	*corev1.Container
	// Spec is the one that it is in.
	Spec *corev1.PodSpec
	// On is the object that says it: the workload, or a pod, where the workload's template
	// lacks it. Path is where.
	On   object.Ref
	Path string
	// Init says that it ends before the others start.
	Init bool
	// Injected says that the workload's template lacks it.
	Injected bool
}

// groupContainers returns the containers of a workload's pods as they run (or of the template,
// where there are none), in order. One that pods have in different forms comes once in
// each.
func (wl *Workload) groupContainers() []groupContainer {
	var out []groupContainer
	for _, spec := range wl.Specs() {
		add := func(list []corev1.Container, field string, init bool) {
			for i := range list {
				c := groupContainer{Container: &list[i], Spec: spec, On: wl.Ref, Path: fmt.Sprintf("%s.%s[%s]", wl.specPath(), field, list[i].Name)}
				c.Init = init && (list[i].RestartPolicy == nil || *list[i].RestartPolicy != corev1.ContainerRestartPolicyAlways)
				if wl.Template != nil && !hasContainer(&wl.Template.Spec, list[i].Name) {
					c.Injected, c.Path = true, fmt.Sprintf("spec.%s[%s]", field, list[i].Name)
					c.On = wl.templateRef(spec)
				}
				out = append(out, c)
			}
		}
		add(spec.InitContainers, "initContainers", true)
		add(spec.Containers, "containers", false)
	}
	return out
}

// templateRef returns the pod that a spec is of.
func (wl *Workload) templateRef(spec *corev1.PodSpec) object.Ref {
	for _, p := range wl.Pods {
		if &p.Spec == spec {
			return podRef(p)
		}
	}
	return wl.Ref
}

func hasContainer(spec *corev1.PodSpec, name string) bool {
	is := func(c corev1.Container) bool { return c.Name == name }
	return slices.ContainsFunc(spec.Containers, is) || slices.ContainsFunc(spec.InitContainers, is)
}
