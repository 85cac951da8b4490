package relation

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// volumeRules reads the volumes of every pod spec.
func volumeRules() []Rule {
	carriers := carriers()
	return carried([]Rule{
		{Name: "pod-volume-configmap", From: carriers, Relation: Needs, Via: Spec, To: "ConfigMap", Field: "spec.volumes[].configMap.name", template: onVolumes(volumeConfigMap)},
		{Name: "pod-volume-secret", From: carriers, Relation: Needs, Via: Spec, To: "Secret", Field: "spec.volumes[].secret.secretName", template: onVolumes(volumeSecret)},
		{Name: "pod-projected-configmap", From: carriers, Relation: Needs, Via: Spec, To: "ConfigMap", Field: "spec.volumes[].projected.sources[].configMap.name", template: onVolumes(projectedConfigMap)},
		{Name: "pod-projected-secret", From: carriers, Relation: Needs, Via: Spec, To: "Secret", Field: "spec.volumes[].projected.sources[].secret.name", template: onVolumes(projectedSecret)},
		{Name: "pod-trust-bundle", From: carriers, Relation: Needs, Via: Spec, To: "ClusterTrustBundle", Field: "spec.volumes[].projected.sources[].clusterTrustBundle.name", template: onVolumes(projectedTrustBundle)},
		{Name: "pod-trust-signer", From: carriers, Relation: Needs, Via: Label, To: "ClusterTrustBundle", Field: "spec.volumes[].projected.sources[].clusterTrustBundle.signerName", template: onVolumes(projectedTrustSigner)},
		{Name: "pod-volume-claim", From: carriers, Relation: Needs, Via: Spec, To: "PersistentVolumeClaim", Field: "spec.volumes[].persistentVolumeClaim.claimName", template: onVolumes(volumeClaim)},
		{Name: "pod-ephemeral-claim", From: from(pod), Relation: Needs, Via: Spec, To: "PersistentVolumeClaim", Field: "spec.volumes[].ephemeral.volumeClaimTemplate", Links: on(ephemeralClaims)},
		{Name: "pod-csi-driver", From: carriers, Relation: Needs, Via: Spec, To: "CSIDriver", Field: "spec.volumes[].csi.driver", template: onVolumes(volumeDriver)},
		{Name: "pod-csi-secret", From: carriers, Relation: Needs, Via: Spec, To: "Secret", Field: "spec.volumes[].csi.nodePublishSecretRef.name", template: onVolumes(volumeCSISecret)},
		{Name: "pod-secret-provider", From: carriers, Relation: Needs, Via: Spec, To: "SecretProviderClass", Field: "spec.volumes[].csi.volumeAttributes[secretProviderClass]", template: onVolumes(volumeSecretProvider)},
		{Name: "pod-legacy-volume-secret", From: carriers, Relation: Needs, Via: Spec, To: "Secret", Field: "spec.volumes[].*.secretRef.name", template: onVolumes(volumeLegacySecret)},
	})
}

// volume is one volume of a template.
type volume struct {
	*corev1.Volume
	template
	i int
}

// onVolumes returns the function of a rule that reads a volume.
func onVolumes(read func(volume, EmitFunc)) func(template, EmitFunc) {
	return func(t template, emit EmitFunc) {
		for i := range t.spec.Volumes {
			read(volume{&t.spec.Volumes[i], t, i}, emit)
		}
	}
}

// to returns a link to the object that a field of the volume names.
func (v volume) to(k schema.GroupKind, namespace, name, field string, optional *bool) Link {
	l := to(k, namespace, name, v.in+"volumes["+strconv.Itoa(v.i)+"]."+field)
	l.Optional = value(optional)
	return l
}

func volumeConfigMap(v volume, emit EmitFunc) {
	if r := v.ConfigMap; r != nil && r.Name != "" {
		emit(v.to(configMap, v.namespace, r.Name, "configMap.name", r.Optional))
	}
}

func volumeSecret(v volume, emit EmitFunc) {
	if r := v.Secret; r != nil && r.SecretName != "" {
		emit(v.to(secret, v.namespace, r.SecretName, "secret.secretName", r.Optional))
	}
}

// eachSource visits the sources of a projected volume.
func (v volume) eachSource(visit func(j int, s *corev1.VolumeProjection)) {
	if v.Projected == nil {
		return
	}
	for j := range v.Projected.Sources {
		visit(j, &v.Projected.Sources[j])
	}
}

func projectedConfigMap(v volume, emit EmitFunc) {
	v.eachSource(func(j int, s *corev1.VolumeProjection) {
		if r := s.ConfigMap; r != nil && r.Name != "" {
			emit(v.to(configMap, v.namespace, r.Name, at("projected.sources[", j, "].configMap.name"), r.Optional))
		}
	})
}

func projectedSecret(v volume, emit EmitFunc) {
	v.eachSource(func(j int, s *corev1.VolumeProjection) {
		if r := s.Secret; r != nil && r.Name != "" {
			emit(v.to(secret, v.namespace, r.Name, at("projected.sources[", j, "].secret.name"), r.Optional))
		}
	})
}

func projectedTrustBundle(v volume, emit EmitFunc) {
	v.eachSource(func(j int, s *corev1.VolumeProjection) {
		if r := s.ClusterTrustBundle; r != nil && value(r.Name) != "" {
			emit(v.to(clusterTrustBundle, "", *r.Name, at("projected.sources[", j, "].clusterTrustBundle.name"), r.Optional))
		}
	})
}

// projectedTrustSigner: bundles may also be selected by signer, which is the prefix of their names,
// and by labels; an absent selector matches none.
func projectedTrustSigner(v volume, emit EmitFunc) {
	v.eachSource(func(j int, s *corev1.VolumeProjection) {
		r := s.ClusterTrustBundle
		if r == nil || value(r.SignerName) == "" || r.LabelSelector == nil {
			return
		}
		l := v.to(clusterTrustBundle, "", "", at("projected.sources[", j, "].clusterTrustBundle.signerName"), r.Optional)
		l.Target.Selector, l.Value = FromLabelSelector(r.LabelSelector), *r.SignerName
		l.Target.Selector.Name = &NamePattern{Prefix: strings.ReplaceAll(*r.SignerName, "/", ":") + ":", Any: true}
		emit(l)
	})
}

func volumeClaim(v volume, emit EmitFunc) {
	if r := v.PersistentVolumeClaim; r != nil && r.ClaimName != "" {
		emit(v.to(claim, v.namespace, r.ClaimName, "persistentVolumeClaim.claimName", nil))
	}
}

// ephemeralClaims: the claim is created for the pod and named after it, so only the pod implies its
// name. The claim has an owner reference to the pod.
func ephemeralClaims(p *corev1.Pod, self object.Ref, emit EmitFunc) {
	for i := range p.Spec.Volumes {
		if v := &p.Spec.Volumes[i]; v.Ephemeral != nil {
			emit(to(claim, self.Namespace, self.Name+"-"+v.Name, at("spec.volumes[", i, "].ephemeral.volumeClaimTemplate")))
		}
	}
}

// volumeDriver: unlike for a PersistentVolume, the kubelet refuses an inline volume whose driver
// has no CSIDriver.
func volumeDriver(v volume, emit EmitFunc) {
	if v.CSI != nil && v.CSI.Driver != "" {
		emit(v.to(csiDriver, "", v.CSI.Driver, "csi.driver", nil))
	}
}

func volumeCSISecret(v volume, emit EmitFunc) {
	if v.CSI != nil && v.CSI.NodePublishSecretRef != nil && v.CSI.NodePublishSecretRef.Name != "" {
		emit(v.to(secret, v.namespace, v.CSI.NodePublishSecretRef.Name, "csi.nodePublishSecretRef.name", nil))
	}
}

const providerClassKey = "secretProviderClass"

// volumeSecretProvider: attributes are specific to the driver; only this driver refers to an object
// by one.
func volumeSecretProvider(v volume, emit EmitFunc) {
	if v.CSI == nil || v.CSI.Driver != "secrets-store.csi.k8s.io" {
		return
	}
	if name := v.CSI.VolumeAttributes[providerClassKey]; name != "" {
		emit(v.to(secretProviderClass, v.namespace, name, "csi.volumeAttributes["+providerClassKey+"]", nil))
	}
}

// volumeLegacySecret reads the drivers that were once part of Kubernetes. Many of their volumes are
// still in use.
func volumeLegacySecret(v volume, emit EmitFunc) {
	r, field := (*corev1.LocalObjectReference)(nil), ""
	switch s := &v.VolumeSource; {
	case s.AzureFile != nil:
		if s.AzureFile.SecretName != "" {
			emit(v.to(secret, v.namespace, s.AzureFile.SecretName, "azureFile.secretName", nil))
		}
		return
	case s.CephFS != nil:
		r, field = s.CephFS.SecretRef, "cephfs.secretRef.name"
	case s.Cinder != nil:
		r, field = s.Cinder.SecretRef, "cinder.secretRef.name"
	case s.FlexVolume != nil:
		r, field = s.FlexVolume.SecretRef, "flexVolume.secretRef.name"
	case s.ISCSI != nil:
		r, field = s.ISCSI.SecretRef, "iscsi.secretRef.name"
	case s.RBD != nil:
		r, field = s.RBD.SecretRef, "rbd.secretRef.name"
	case s.ScaleIO != nil:
		r, field = s.ScaleIO.SecretRef, "scaleIO.secretRef.name"
	case s.StorageOS != nil:
		r, field = s.StorageOS.SecretRef, "storageos.secretRef.name"
	}
	if r != nil && r.Name != "" {
		emit(v.to(secret, v.namespace, r.Name, field, nil))
	}
}
