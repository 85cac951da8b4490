package schedule

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// disksOf lists the volumes of a pod that name a disk which two pods of a node may not both
// use.
func disksOf(pod *corev1.Pod) []*corev1.Volume {
	var out []*corev1.Volume
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.GCEPersistentDisk != nil || v.AWSElasticBlockStore != nil || v.RBD != nil || v.ISCSI != nil {
			out = append(out, v)
		}
	}
	return out
}

func disksClash(a, b []*corev1.Volume) bool {
	for _, x := range a {
		if slices.ContainsFunc(b, func(y *corev1.Volume) bool { return sameDisk(x, y) }) {
			return true
		}
	}
	return false
}

// sameDisk follows isVolumeConflict of the plugin volumerestrictions: readers share.
func sameDisk(a, b *corev1.Volume) bool {
	switch {
	case a.GCEPersistentDisk != nil && b.GCEPersistentDisk != nil:
		x, y := a.GCEPersistentDisk, b.GCEPersistentDisk
		return x.PDName == y.PDName && (!x.ReadOnly || !y.ReadOnly)
	case a.AWSElasticBlockStore != nil && b.AWSElasticBlockStore != nil:
		return a.AWSElasticBlockStore.VolumeID == b.AWSElasticBlockStore.VolumeID
	case a.ISCSI != nil && b.ISCSI != nil:
		return a.ISCSI.IQN == b.ISCSI.IQN && (!a.ISCSI.ReadOnly || !b.ISCSI.ReadOnly)
	case a.RBD != nil && b.RBD != nil:
		x, y := a.RBD, b.RBD
		shared := slices.ContainsFunc(x.CephMonitors, func(m string) bool { return slices.Contains(y.CephMonitors, m) })
		return shared && x.RBDPool == y.RBDPool && x.RBDImage == y.RBDImage && (!x.ReadOnly || !y.ReadOnly)
	}
	return false
}
