package preflight

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	volumehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// sharedVolumes finds claims of which only the pods of one node can have the volume, and
// that several pods mount: the scheduler does not check that, and the kubelet waits.
func (f *evaluation) sharedVolumes() {
	for _, c := range f.podSets {
		if c.lost || c.later || len(c.nodes) == 0 && c.wanted < 2 && c.first == 0 {
			continue
		}
		for i := range c.pod.Spec.Volumes {
			v := c.pod.Spec.Volumes[i].PersistentVolumeClaim
			if v == nil || slices.ContainsFunc(c.templates, func(t corev1.PersistentVolumeClaim) bool { return t.Name == c.pod.Spec.Volumes[i].Name }) {
				continue
			}
			if ref := (object.Ref{Kind: "PersistentVolumeClaim", Namespace: c.pod.Namespace, Name: v.ClaimName}); f.oneNode(ref) {
				f.add(Finding{
					Topic: Storage, Verdict: verdictUnknown, Object: c.item.Ref, Field: fmt.Sprintf("%s.volumes[%d].persistentVolumeClaim", c.spec(), i), Value: v.ClaimName, Reason: "SharedVolume",
					Message: fmt.Sprintf("several pods mount %s, which is ReadWriteOnce: those on another node than the first would wait for its volume", near(ref, c.pod.Namespace)),
					Remedy:  "use a claim that is ReadWriteMany, a StatefulSet with claims of their own, or the strategy Recreate for a single pod",
				})
			}
		}
	}
}

// oneNode says that the volume of a claim is for one node at a time, and that it could be
// asked for on several: one that is bound to a local volume cannot.
func (f *evaluation) oneNode(ref object.Ref) bool {
	p, ok := check.Of[*corev1.PersistentVolumeClaim](f.World.Facts, ref)
	for _, c := range f.claims {
		if !ok && c.ref() == ref {
			p, ok = c.PersistentVolumeClaim, true
		}
	}
	if !ok || len(p.Spec.AccessModes) == 0 || slices.ContainsFunc(p.Spec.AccessModes, func(m corev1.PersistentVolumeAccessMode) bool { return m != corev1.ReadWriteOnce }) {
		return false
	}
	for _, v := range f.volumes() {
		if v.Name == p.Spec.VolumeName && v.Spec.NodeAffinity != nil {
			return v.Spec.CSI != nil
		}
	}
	class := f.class(volumehelpers.GetPersistentVolumeClaimClass(p))
	return class == nil || class.Provisioner != noProvisioner
}
