package preflight

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// cluster is what the scheduler would look at: what there is, and what the batch adds to
// it. Its pods are those that stay whatever happens; old ones are added by question.
func (f *foresight) cluster() *schedule.Cluster {
	facts := f.World.Facts
	c := &schedule.Cluster{
		Nodes:         check.All[*corev1.Node](facts, "", "Node"),
		Claims:        check.All[*corev1.PersistentVolumeClaim](facts, "", "PersistentVolumeClaim"),
		Volumes:       f.volumes(),
		Classes:       together[storagev1.StorageClass](f, classKind),
		Drivers:       check.All[*storagev1.CSINode](facts, "storage.k8s.io", "CSINode"),
		Capacities:    check.All[*storagev1.CSIStorageCapacity](facts, "storage.k8s.io", "CSIStorageCapacity"),
		CSIDrivers:    check.All[*storagev1.CSIDriver](facts, "storage.k8s.io", "CSIDriver"),
		Attachments:   check.All[*storagev1.VolumeAttachment](facts, "storage.k8s.io", "VolumeAttachment"),
		DeviceClasses: check.All[*resourcev1.DeviceClass](facts, "resource.k8s.io", "DeviceClass"),
		Priorities:    together[schedulingv1.PriorityClass](f, priorityKind),
		Runtimes:      together[nodev1.RuntimeClass](f, runtimeKind),
		Unread: schedule.Unread{
			Nodes: !f.World.Read(nodeKind, ""), Pods: !f.World.Read(podKind, ""), Claims: !f.claimsRead(), Volumes: !f.World.Read(volumeKind, ""),
			Classes: !f.World.Read(classKind, ""), Priorities: !f.World.Read(priorityKind, ""), Namespaces: !f.World.Read(namespaceKind, ""),
			Storage: !f.storageRead(), Devices: !f.World.Read(schema.GroupKind{Group: "resource.k8s.io", Kind: "DeviceClass"}, ""),
		},
	}
	for _, made := range f.claims {
		c.Claims = append(c.Claims, made.PersistentVolumeClaim)
	}
	for _, ns := range together[corev1.Namespace](f, namespaceKind) {
		labels, _ := f.labelsOf(ns.Name)
		c.Namespaces = append(c.Namespaces, &corev1.Namespace{ObjectMeta: ns.ObjectMeta})
		c.Namespaces[len(c.Namespaces)-1].Labels = labels
	}
	away := map[object.Ref]bool{}
	for _, crew := range f.crews {
		for _, list := range [][]*corev1.Pod{crew.old, crew.waiting} {
			for _, p := range list {
				away[refOf(podKind, p)] = true
			}
		}
	}
	for _, p := range check.All[*corev1.Pod](facts, "", "Pod") {
		if p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed && !away[refOf(podKind, p)] {
			c.Pods = append(c.Pods, p)
		}
	}
	return c
}

// storageRead says that all was read that tells which nodes a volume can be made for.
func (f *foresight) storageRead() bool {
	for _, kind := range []string{"CSINode", "CSIDriver", "CSIStorageCapacity", "VolumeAttachment"} {
		if !f.World.Read(schema.GroupKind{Group: "storage.k8s.io", Kind: kind}, "") {
			return false
		}
	}
	return true
}

// claimsRead says that the claims of every namespace in which a pod of the batch would run
// were read.
func (f *foresight) claimsRead() bool {
	for _, c := range f.crews {
		if ns := c.pod.Namespace; !f.newNamespace(ns) && !f.World.Read(claimKind, ns) {
			return false
		}
	}
	return true
}

// pods are n of those that a crew is missing.
func (c *crew) pods(n int) []schedule.Pod {
	out := make([]schedule.Pod, 0, n)
	for i := range min(n, c.missing()) {
		p := schedule.Pod{Name: c.name(i), Group: c.title, Pod: c.pod}
		if c.differs() {
			p.Pod = c.pod.DeepCopy()
			p.Pod.Name = c.podName(i)
			c.own(p.Pod, i)
			p.Group = p.Name
		}
		out = append(out, p)
	}
	return out
}

// differs says that the pods of the crew are not equal: each has a node or claims of its
// own.
func (c *crew) differs() bool {
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
func (c *crew) own(p *corev1.Pod, i int) {
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
