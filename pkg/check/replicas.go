package check

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ReplicaGroup is pods that replicate one program: those of one workload, or those of several
// similar ones that one custom resource owns. Operators of databases make their pods
// themselves, or a StatefulSet for each replica or rack: one such pod is not a workload of one
// replica.
type ReplicaGroup struct {
	// Ref is the workload, or the owner of several.
	Ref       object.Ref
	Workloads []*Workload
	// Replicas is the desired number of all of them together.
	Replicas int32
	// Pods are the existing ones, in order.
	Pods []*corev1.Pod
}

// IsLongRunning reports whether the pods run until they are deleted.
func (c *ReplicaGroup) IsLongRunning() bool { return c.Workloads[0].IsLongRunning() }

// Spec returns a spec of its pods: of a running one, or else that of the template.
func (c *ReplicaGroup) Spec() *corev1.PodSpec {
	for _, wl := range c.Workloads {
		if specs := wl.Specs(); len(specs) > 0 {
			return specs[0]
		}
	}
	return nil
}

// Labels returns the labels of its pods, as Spec does.
func (c *ReplicaGroup) Labels() map[string]string {
	if len(c.Pods) > 0 {
		return c.Pods[0].Labels
	}
	if t := c.Workloads[0].Template; t != nil {
		return t.Labels
	}
	return nil
}

// ReplicaGroups returns the groups of the workloads, in order, each once.
func (w *ClusterState) ReplicaGroups(workloads []*Workload) []*ReplicaGroup {
	var out []*ReplicaGroup
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
func (w *ClusterState) replicaGroupOf(wl *Workload) *ReplicaGroup {
	c := &ReplicaGroup{Ref: wl.Ref, Workloads: []*Workload{wl}}
	if owner, ok := w.Owner(wl.Ref); ok && owner.GroupKind() != (schema.GroupKind{Kind: "Node"}) {
		if alike := w.similarWorkloads(wl, owner); len(alike) > 1 {
			c.Ref, c.Workloads = owner, alike
		}
	}
	for _, x := range c.Workloads {
		c.Replicas += x.Replicas
		c.Pods = append(c.Pods, x.Pods...)
	}
	slices.SortFunc(c.Pods, func(a, b *corev1.Pod) int { return object.Compare(PodRef(a), PodRef(b)) })
	return c
}

// similarWorkloads returns the workloads that an owner made, of the same kind and with the
// same containers as one, including that one.
func (w *ClusterState) similarWorkloads(wl *Workload, owner object.Ref) []*Workload {
	id, ok := w.Graph.Find(owner)
	if !ok {
		return nil
	}
	var refs []object.Ref
	for _, owned := range w.Graph.Owned(id) {
		if r := w.Graph.Ref(owned); r.GroupKind() == wl.Ref.GroupKind() {
			refs = append(refs, r)
		}
	}
	same := groupKey(wl)
	return slices.DeleteFunc(w.WorkloadsOf(refs), func(x *Workload) bool {
		return groupKey(x) != same || x.IsLongRunning() != wl.IsLongRunning()
	})
}

// GroupOwners returns the owners of the workloads of a group, at any height, each once.
func (w *ClusterState) GroupOwners(c *ReplicaGroup) []object.Ref {
	var out []object.Ref
	for _, wl := range c.Workloads {
		for _, owner := range w.Owners(wl.Ref) {
			if !slices.Contains(out, owner) {
				out = append(out, owner)
			}
		}
	}
	return out
}

// groupKey is equal for workloads whose containers have the same names, and images that differ
// only in their tag.
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

// Replicated reports whether a replica group wants several pods, on nodes that the scheduler
// chooses.
func (c *ReplicaGroup) Replicated() bool {
	kind := c.Workloads[0].Ref.Kind
	return c.IsLongRunning() && c.Replicas > 1 && kind != "DaemonSet"
}
