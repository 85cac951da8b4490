package relation

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func persistentVolumeCSISecrets(v *corev1.PersistentVolume, _ object.Ref, emit EmitFunc) {
	volumeSpec{&v.Spec, "spec."}.csiSecrets(emit)
}

func persistentVolumeLegacySecret(v *corev1.PersistentVolume, _ object.Ref, emit EmitFunc) {
	volumeSpec{&v.Spec, "spec."}.legacySecret(emit)
}

// attachmentSecrets: an inline CSI volume of a pod has no PersistentVolume; its spec is in the
// attachment.
func attachmentSecrets(a *storagev1.VolumeAttachment, _ object.Ref, emit EmitFunc) {
	if a.Spec.Source.InlineVolumeSpec != nil {
		v := volumeSpec{a.Spec.Source.InlineVolumeSpec, "spec.source.inlineVolumeSpec."}
		v.csiSecrets(emit)
		v.legacySecret(emit)
	}
}

// volumeSpec is the spec of a PersistentVolume with its path.
type volumeSpec struct {
	*corev1.PersistentVolumeSpec
	at string
}

func (v volumeSpec) csiSecrets(emit EmitFunc) {
	if v.CSI == nil {
		return
	}
	for _, use := range [...]struct {
		field string
		ref   *corev1.SecretReference
	}{
		{"csi.controllerPublishSecretRef.name", v.CSI.ControllerPublishSecretRef},
		{"csi.controllerExpandSecretRef.name", v.CSI.ControllerExpandSecretRef},
		{"csi.nodeStageSecretRef.name", v.CSI.NodeStageSecretRef},
		{"csi.nodePublishSecretRef.name", v.CSI.NodePublishSecretRef},
		{"csi.nodeExpandSecretRef.name", v.CSI.NodeExpandSecretRef},
	} {
		v.secret(use.ref, use.field, emit)
	}
}

// legacySecret reads the drivers that were once part of Kubernetes.
func (v volumeSpec) legacySecret(emit EmitFunc) {
	switch s := &v.PersistentVolumeSource; {
	case s.AzureFile != nil:
		r := &corev1.SecretReference{Name: s.AzureFile.SecretName, Namespace: value(s.AzureFile.SecretNamespace)}
		v.secret(r, "azureFile.secretName", emit)
	case s.CephFS != nil:
		v.secret(s.CephFS.SecretRef, "cephfs.secretRef.name", emit)
	case s.Cinder != nil:
		v.secret(s.Cinder.SecretRef, "cinder.secretRef.name", emit)
	case s.FlexVolume != nil:
		v.secret(s.FlexVolume.SecretRef, "flexVolume.secretRef.name", emit)
	case s.ISCSI != nil:
		v.secret(s.ISCSI.SecretRef, "iscsi.secretRef.name", emit)
	case s.RBD != nil:
		v.secret(s.RBD.SecretRef, "rbd.secretRef.name", emit)
	case s.ScaleIO != nil:
		v.secret(s.ScaleIO.SecretRef, "scaleIO.secretRef.name", emit)
	case s.StorageOS != nil && s.StorageOS.SecretRef != nil:
		r := &corev1.SecretReference{Name: s.StorageOS.SecretRef.Name, Namespace: s.StorageOS.SecretRef.Namespace}
		v.secret(r, "storageos.secretRef.name", emit)
	}
}

// secret: without a namespace the drivers use that of the pod, which is that of the claim.
func (v volumeSpec) secret(r *corev1.SecretReference, field string, emit EmitFunc) {
	if r == nil || r.Name == "" {
		return
	}
	namespace := r.Namespace
	if namespace == "" && v.ClaimRef != nil {
		namespace = v.ClaimRef.Namespace
	}
	if namespace != "" {
		emit(to(secret, namespace, r.Name, v.at+field))
	}
}
