package relation

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func persistentVolumeCSISecrets(v *corev1.PersistentVolume, _ object.Ref, emit Emit) {
	if v.Spec.CSI == nil {
		return
	}
	for _, use := range [...]struct {
		field string
		ref   *corev1.SecretReference
	}{
		{"spec.csi.controllerPublishSecretRef.name", v.Spec.CSI.ControllerPublishSecretRef},
		{"spec.csi.controllerExpandSecretRef.name", v.Spec.CSI.ControllerExpandSecretRef},
		{"spec.csi.nodeStageSecretRef.name", v.Spec.CSI.NodeStageSecretRef},
		{"spec.csi.nodePublishSecretRef.name", v.Spec.CSI.NodePublishSecretRef},
		{"spec.csi.nodeExpandSecretRef.name", v.Spec.CSI.NodeExpandSecretRef},
	} {
		volumeSecretRef(v, use.ref, use.field, emit)
	}
}

// persistentVolumeLegacySecret: the drivers that once were part of Kubernetes.
func persistentVolumeLegacySecret(v *corev1.PersistentVolume, _ object.Ref, emit Emit) {
	switch s := &v.Spec.PersistentVolumeSource; {
	case s.AzureFile != nil:
		r := &corev1.SecretReference{Name: s.AzureFile.SecretName, Namespace: value(s.AzureFile.SecretNamespace)}
		volumeSecretRef(v, r, "spec.azureFile.secretName", emit)
	case s.CephFS != nil:
		volumeSecretRef(v, s.CephFS.SecretRef, "spec.cephfs.secretRef.name", emit)
	case s.Cinder != nil:
		volumeSecretRef(v, s.Cinder.SecretRef, "spec.cinder.secretRef.name", emit)
	case s.FlexVolume != nil:
		volumeSecretRef(v, s.FlexVolume.SecretRef, "spec.flexVolume.secretRef.name", emit)
	case s.ISCSI != nil:
		volumeSecretRef(v, s.ISCSI.SecretRef, "spec.iscsi.secretRef.name", emit)
	case s.RBD != nil:
		volumeSecretRef(v, s.RBD.SecretRef, "spec.rbd.secretRef.name", emit)
	case s.ScaleIO != nil:
		volumeSecretRef(v, s.ScaleIO.SecretRef, "spec.scaleIO.secretRef.name", emit)
	case s.StorageOS != nil && s.StorageOS.SecretRef != nil:
		r := &corev1.SecretReference{Name: s.StorageOS.SecretRef.Name, Namespace: s.StorageOS.SecretRef.Namespace}
		volumeSecretRef(v, r, "spec.storageos.secretRef.name", emit)
	}
}

// volumeSecretRef: where a reference gives no namespace, the drivers look in
// that of the pod, which is that of the claim.
func volumeSecretRef(v *corev1.PersistentVolume, r *corev1.SecretReference, field string, emit Emit) {
	if r == nil {
		return
	}
	namespace := r.Namespace
	if namespace == "" && v.Spec.ClaimRef != nil {
		namespace = v.Spec.ClaimRef.Namespace
	}
	if namespace != "" {
		named(emit, secret, namespace, r.Name, field)
	}
}
