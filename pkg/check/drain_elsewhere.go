package check

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// Elsewhere foresees whether what takes the place of the evicted pods would find other
// nodes, all of it together, with the node cordoned. Pods that nobody makes anew, and those
// of Jobs, which count an evicted pod as failed, are not asked for. It is taken that a new
// pod is as the old one was.
func (w *World) Elsewhere(d *Drain) schedule.Answer {
	gone := map[object.Ref]bool{}
	var ask []schedule.Pod
	for _, x := range d.Evicted {
		gone[x.Pod] = true
		p, ok := Of[*corev1.Pod](w.Facts, x.Pod)
		if !ok || x.Lost || p.Spec.RestartPolicy == corev1.RestartPolicyNever {
			continue
		}
		ask = append(ask, elsewherePod(p))
	}
	return w.elsewhereCluster(d.Node.Name, gone).Place(ask)
}

// elsewherePod is a pod as it would be made anew.
func elsewherePod(p *corev1.Pod) schedule.Pod {
	anew := p.DeepCopy()
	anew.Spec.NodeName, anew.Status, anew.DeletionTimestamp = "", corev1.PodStatus{}, nil
	out := schedule.Pod{Name: crewPodRef(p).String(), Group: crewPodRef(p).String(), Pod: anew}
	owner := metav1.GetControllerOfNoCopy(p)
	if owner == nil || owner.Kind != "ReplicaSet" {
		return out // Each has a name, and may have claims, of its own.
	}
	for i := range p.Spec.Volumes {
		if p.Spec.Volumes[i].Ephemeral != nil {
			return out
		}
	}
	out.Group = p.Namespace + "/" + string(owner.UID)
	return out
}

// elsewhereCluster is what there is without the evicted pods, and with the node cordoned.
func (w *World) elsewhereCluster(node string, gone map[object.Ref]bool) *schedule.Cluster {
	unread := func(group, kind string) bool { return !w.Read(schema.GroupKind{Group: group, Kind: kind}, "") }
	c := &schedule.Cluster{
		Claims:        All[*corev1.PersistentVolumeClaim](w.Facts, "", "PersistentVolumeClaim"),
		Volumes:       All[*corev1.PersistentVolume](w.Facts, "", "PersistentVolume"),
		Classes:       All[*storagev1.StorageClass](w.Facts, "storage.k8s.io", "StorageClass"),
		Drivers:       All[*storagev1.CSINode](w.Facts, "storage.k8s.io", "CSINode"),
		Capacities:    All[*storagev1.CSIStorageCapacity](w.Facts, "storage.k8s.io", "CSIStorageCapacity"),
		CSIDrivers:    All[*storagev1.CSIDriver](w.Facts, "storage.k8s.io", "CSIDriver"),
		Attachments:   All[*storagev1.VolumeAttachment](w.Facts, "storage.k8s.io", "VolumeAttachment"),
		DeviceClasses: All[*resourcev1.DeviceClass](w.Facts, "resource.k8s.io", "DeviceClass"),
		Priorities:    All[*schedulingv1.PriorityClass](w.Facts, "scheduling.k8s.io", "PriorityClass"),
		Runtimes:      All[*nodev1.RuntimeClass](w.Facts, "node.k8s.io", "RuntimeClass"),
		Namespaces:    All[*corev1.Namespace](w.Facts, "", "Namespace"),
		Unread: schedule.Unread{
			Nodes: unread("", "Node"), Pods: unread("", "Pod"), Claims: unread("", "PersistentVolumeClaim"), Volumes: unread("", "PersistentVolume"),
			Classes: unread("storage.k8s.io", "StorageClass"), Priorities: unread("scheduling.k8s.io", "PriorityClass"), Namespaces: unread("", "Namespace"),
			Storage: unread("storage.k8s.io", "CSINode") || unread("storage.k8s.io", "CSIDriver") || unread("storage.k8s.io", "CSIStorageCapacity") || unread("storage.k8s.io", "VolumeAttachment"),
			Devices: unread("resource.k8s.io", "DeviceClass"),
		},
	}
	for _, n := range All[*corev1.Node](w.Facts, "", "Node") {
		if n.Name == node {
			n = n.DeepCopy()
			n.Spec.Unschedulable = true
		}
		c.Nodes = append(c.Nodes, n)
	}
	for _, p := range All[*corev1.Pod](w.Facts, "", "Pod") {
		if !gone[crewPodRef(p)] && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			c.Pods = append(c.Pods, p)
		}
	}
	return c
}
