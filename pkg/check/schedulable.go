package check

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// Schedulable returns the input of the scheduler, as far as it is known here, without excluded
// pods and those that have ended. The caller may replace nodes, and append to the other lists.
func (w *ClusterState) Schedulable(excluded map[object.Ref]bool) *schedule.Cluster {
	unread := func(group, kind string) bool { return !w.Read(schema.GroupKind{Group: group, Kind: kind}, "") }
	c := &schedule.Cluster{
		Nodes:         slices.Clone(All[*corev1.Node](w.Facts, "", "Node")),
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
	for _, p := range All[*corev1.Pod](w.Facts, "", "Pod") {
		if !excluded[PodRef(p)] && !HasEnded(p) {
			c.Pods = append(c.Pods, p)
		}
	}
	return c
}
