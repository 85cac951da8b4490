package preflight

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// cluster is what the scheduler would read: what exists, and what the batch adds. Its pods
// are those that stay whatever happens; old ones are added by question.
func (f *evaluation) cluster() *schedule.Cluster {
	away := map[object.Ref]bool{}
	for _, set := range f.podSets {
		for _, list := range [][]*corev1.Pod{set.old, set.waiting} {
			for _, p := range list {
				away[refOf(check.PodKind, p)] = true
			}
		}
	}
	c := f.World.Schedulable(away)
	c.Volumes = f.volumes()
	c.Classes = together[storagev1.StorageClass](f, classKind)
	c.Priorities = together[schedulingv1.PriorityClass](f, priorityKind)
	c.Runtimes = together[nodev1.RuntimeClass](f, runtimeKind)
	c.Unread.Claims = !f.claimsRead()
	for _, created := range f.claims {
		c.Claims = append(c.Claims, created.PersistentVolumeClaim)
	}
	c.Namespaces = nil
	for _, ns := range together[corev1.Namespace](f, namespaceKind) {
		labels, _ := f.labelsOf(ns.Name)
		c.Namespaces = append(c.Namespaces, &corev1.Namespace{ObjectMeta: ns.ObjectMeta})
		c.Namespaces[len(c.Namespaces)-1].Labels = labels
	}
	return c
}

// claimsRead says that the claims of every namespace in which a pod of the batch would run
// were read.
func (f *evaluation) claimsRead() bool {
	for _, c := range f.podSets {
		if ns := c.pod.Namespace; !f.newNamespace(ns) && !f.World.Read(claimKind, ns) {
			return false
		}
	}
	return true
}

// pods are n of those that a pod set is missing.
func (c *podSet) pods(n int) []schedule.Pod {
	out := make([]schedule.Pod, 0, n)
	for i := range min(n, c.missing()) {
		p := schedule.Pod{Name: c.name(i), Pod: c.pod}
		if c.differs() {
			p.Pod = c.pod.DeepCopy()
			p.Pod.Name = c.podName(i)
			c.own(p.Pod, i)
		}
		out = append(out, p)
	}
	return out
}

// differs says that the pods of the pod set are not equal: each has a node or claims of its
// own.
func (c *podSet) differs() bool {
	if len(c.nodes) > 0 || len(c.templates) > 0 {
		return true
	}
	for i := range c.pod.Spec.Volumes {
		if c.pod.Spec.Volumes[i].Ephemeral != nil {
			return true
		}
	}
	return false
}

// own gives the i-th pod what it alone has.
func (c *podSet) own(p *corev1.Pod, i int) {
	if len(c.nodes) > 0 {
		bind(p, c.nodes[i])
	}
	for n := range c.templates {
		name := c.templates[n].Name
		from := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name + "-" + p.Name}}
		found := false
		for k := range p.Spec.Volumes {
			if p.Spec.Volumes[k].Name == name {
				p.Spec.Volumes[k].VolumeSource, found = from, true
			}
		}
		if !found {
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: from})
		}
	}
}
