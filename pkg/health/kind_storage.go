package health

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

func storageKinds() []kindRule {
	return []kindRule{
		typed("", "v1", "PersistentVolumeClaim", claimHealth),
		typed("", "v1", "PersistentVolume", volumeHealth),
		typed("storage.k8s.io", "v1", "VolumeAttachment", attachmentHealth),
	}
}

func claimHealth(s *subject, c *corev1.PersistentVolumeClaim) Health {
	switch c.Status.Phase {
	case corev1.ClaimPending, "":
		return pendingClaim(s, c)
	case corev1.ClaimLost:
		return newHealth(Degraded, time.Time{}, "ClaimLost", "its volume %s is lost, and the data with it", c.Spec.VolumeName)
	case corev1.ClaimBound:
	default:
		return newHealth(Unknown, time.Time{}, NotUnderstood, "its phase %s is unknown", c.Status.Phase)
	}
	if reported := c.Status.HealthStatus; reported != nil && len(reported.HealthConditions) > 0 {
		first := reported.HealthConditions[0]
		return newHealth(Degraded, time.Time{}, or(first.Reason, string(first.Status)), "its volume is %s: %s", strings.ToLower(string(first.Status)), first.Message)
	}
	if h, changing := changingClaim(c); changing {
		return h
	}
	return newHealth(Healthy, time.Time{}, "Bound", "it is bound to %s", c.Spec.VolumeName)
}

// pendingClaim evaluates a claim without a volume. Waiting for the first pod is no error, and
// nothing in a claim shows whether a provisioner is at work.
func pendingClaim(s *subject, c *corev1.PersistentVolumeClaim) Health {
	_, asked := c.Annotations["volume.kubernetes.io/storage-provisioner"]
	if !asked {
		_, asked = c.Annotations["volume.beta.kubernetes.io/storage-provisioner"]
	}
	class := ""
	if c.Spec.StorageClassName != nil {
		class = *c.Spec.StorageClassName
	}
	if class == "" {
		class = c.Annotations[corev1.BetaStorageClassAnnotation]
	}
	switch {
	case c.Spec.VolumeName != "":
		return newHealth(Progressing, s.createdAt(), "ClaimPending", "it waits to be bound to %s", c.Spec.VolumeName)
	case class == "" && !asked:
		// The server has set the default class if there is one. So no provisioner makes a volume
		// for it, and an existing one would have been bound at once.
		return newHealth(s.progressingUntil(s.createdAt(), decisionGrace), s.createdAt(), "NoStorageClass", "it names no storage class, and no existing volume fits it")
	case asked:
		return newHealth(Progressing, s.createdAt(), "Provisioning", "a volume was requested, and does not exist yet")
	}
	return newHealth(Progressing, s.createdAt(), "ClaimPending", "it waits for a volume of class %s, or for the first pod that uses it", class)
}

// changingClaim evaluates a bound claim that is being resized or modified.
func changingClaim(c *corev1.PersistentVolumeClaim) (Health, bool) {
	state := func(kind corev1.PersistentVolumeClaimConditionType) stated {
		return find(c.Status.Conditions, kind, saidOfClaim)
	}
	for _, kind := range []corev1.PersistentVolumeClaimConditionType{
		corev1.PersistentVolumeClaimControllerResizeError, corev1.PersistentVolumeClaimNodeResizeError, corev1.PersistentVolumeClaimVolumeModifyVolumeError,
	} {
		if failed := state(kind); failed.yes() {
			return Health{Status: Degraded, Reason: string(kind), Message: or(failed.message, "its volume cannot be changed as requested"), Since: failed.since}, true
		}
	}
	var doing []string
	for resource, status := range c.Status.AllocatedResourceStatuses {
		doing = append(doing, string(status)+" of "+string(resource))
	}
	slices.Sort(doing)
	for _, word := range doing {
		if strings.Contains(word, "Infeasible ") || strings.Contains(word, "Failed ") {
			return newHealth(Degraded, time.Time{}, strings.Fields(word)[0], "%s", word), true
		}
	}
	if m := c.Status.ModifyVolumeStatus; m != nil {
		if m.Status == corev1.PersistentVolumeClaimModifyVolumeInfeasible {
			return newHealth(Degraded, time.Time{}, "ModifyVolumeInfeasible", "its volume cannot be changed to class %s", m.TargetVolumeAttributesClassName), true
		}
		return newHealth(Progressing, time.Time{}, "ModifyingVolume", "its volume is to be changed to class %s", m.TargetVolumeAttributesClassName), true
	}
	for _, kind := range []corev1.PersistentVolumeClaimConditionType{
		corev1.PersistentVolumeClaimResizing, corev1.PersistentVolumeClaimFileSystemResizePending, corev1.PersistentVolumeClaimVolumeModifyingVolume,
	} {
		if going := state(kind); going.yes() {
			return Health{Status: Progressing, Reason: string(kind), Message: or(going.message, "its volume is being changed"), Since: going.since}, true
		}
	}
	if len(doing) > 0 {
		return newHealth(Progressing, time.Time{}, strings.Fields(doing[0])[0], "%s", doing[0]), true
	}
	return Health{}, false
}

func volumeHealth(s *subject, v *corev1.PersistentVolume) Health {
	since := time.Time{}
	if t := v.Status.LastPhaseTransitionTime; t != nil {
		since = t.Time
	}
	switch v.Status.Phase {
	case corev1.VolumeBound:
		claim := "a claim"
		if ref := v.Spec.ClaimRef; ref != nil {
			claim = ref.Namespace + "/" + ref.Name
		}
		return newHealth(Healthy, since, "Bound", "it is bound to %s", claim)
	case corev1.VolumeAvailable:
		return newHealth(Healthy, since, "Available", "no claim uses it yet")
	case corev1.VolumeReleased:
		return newHealth(Healthy, since, "Released", "its claim was deleted; its reclaim policy is %s", or(string(v.Spec.PersistentVolumeReclaimPolicy), "Retain"))
	case corev1.VolumeFailed:
		return newHealth(Degraded, since, or(v.Status.Reason, "VolumeFailed"), "%s", or(v.Status.Message, "it could not be reclaimed"))
	case corev1.VolumePending, "":
		return newHealth(Progressing, s.createdAt(), "VolumePending", "it is not available yet")
	}
	return newHealth(Unknown, since, NotUnderstood, "its phase %s is unknown", v.Status.Phase)
}

func attachmentHealth(s *subject, a *storagev1.VolumeAttachment) Health {
	switch {
	case a.Status.AttachError != nil && !a.Status.Attached:
		return newHealth(Degraded, a.Status.AttachError.Time.Time, "AttachError", "%s", or(a.Status.AttachError.Message, "it cannot be attached"))
	case a.Status.DetachError != nil:
		return newHealth(Degraded, a.Status.DetachError.Time.Time, "DetachError", "%s", or(a.Status.DetachError.Message, "it cannot be detached"))
	case a.Status.Attached:
		return newHealth(Healthy, time.Time{}, "Attached", "it is attached to %s", a.Spec.NodeName)
	}
	return newHealth(Progressing, s.createdAt(), "Attaching", "it is being attached to %s", a.Spec.NodeName)
}
