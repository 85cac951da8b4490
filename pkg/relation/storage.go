package relation

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// storageRules reads claims, volumes and their classes. A bound claim names its volume and needs
// it, not the other way. VolumeAttachments cover the attached volumes of a Node.
func storageRules() []Rule {
	return []Rule{
		{Name: "claim-volume", From: from(claim), Relation: Needs, Via: Spec, To: "PersistentVolume", Field: "spec.volumeName", Links: on(claimVolume)},
		{Name: "claim-class", From: from(claim), Relation: Needs, Via: Spec, To: "StorageClass", Field: "spec.storageClassName", Links: on(claimClass)},
		{Name: "claim-attributes-class", From: from(claim), Relation: Needs, Via: Spec, To: "VolumeAttributesClass", Field: "spec.volumeAttributesClassName", Links: on(claimAttributesClass)},
		{Name: "claim-data-source", From: from(claim), Relation: Needs, Via: Spec, To: "(source)", Field: "spec.dataSourceRef", Links: on(claimDataSource)},
		{Name: "claim-selector", From: from(claim), Relation: Needs, Via: Label, To: "PersistentVolume", Field: "spec.selector", Peer: true, Links: on(claimSelector)},
		{Name: "claim-node", From: from(claim), Relation: Needs, Via: Annotation, To: "Node", Field: annotation(selectedNodeKey), Links: on(claimNode)},
		{Name: "claim-provisioner", From: from(claim), Relation: Needs, Via: Annotation, To: "CSIDriver", Field: annotation(provisionerKey), Metadata: true, Links: claimProvisioner},

		{Name: VolumeReclaimed, From: from(persistentVolume), Relation: Owns, Via: Spec, To: "PersistentVolumeClaim", Backward: true, Field: "spec.persistentVolumeReclaimPolicy", Evidence: true, Links: on(volumeReclaimed)},
		{Name: "volume-claim", From: from(persistentVolume), Relation: Needs, Via: Spec, To: "PersistentVolumeClaim", Backward: true, Field: "spec.claimRef", Links: on(volumeReservation)},
		{Name: "volume-class", From: from(persistentVolume), Relation: Needs, Via: Spec, To: "StorageClass", Field: "spec.storageClassName", Links: on(volumeClass)},
		{Name: "volume-attributes-class", From: from(persistentVolume), Relation: Needs, Via: Spec, To: "VolumeAttributesClass", Field: "spec.volumeAttributesClassName", Links: on(volumeAttributesClass)},
		{Name: "volume-driver", From: from(persistentVolume), Relation: Needs, Via: Spec, To: "CSIDriver", Field: "spec.csi.driver", Links: on(persistentVolumeDriver)},
		{Name: "volume-node", From: from(persistentVolume), Relation: Needs, Via: Spec, To: "Node", Field: "spec.nodeAffinity.required", Links: on(volumeNode)},
		{Name: "volume-csi-secret", From: from(persistentVolume), Relation: Needs, Via: Spec, To: "Secret", Field: "spec.csi.*SecretRef", Links: on(persistentVolumeCSISecrets)},
		{Name: "volume-legacy-secret", From: from(persistentVolume), Relation: Needs, Via: Spec, To: "Secret", Field: "spec.*.secretRef", Links: on(persistentVolumeLegacySecret)},

		{Name: "storageclass-driver", From: from(storageClass), Relation: Needs, Via: Spec, To: "CSIDriver", Field: "provisioner", Links: on(storageClassDriver)},
		{Name: "storageclass-secret", From: from(storageClass), Relation: Needs, Via: Spec, To: "Secret", Field: "parameters[csi.storage.k8s.io/*-secret-name]", Links: on(storageClassSecrets)},
		{Name: "attributes-class-driver", From: from(attributesClass), Relation: Needs, Via: Spec, To: "CSIDriver", Field: "driverName", Links: on(attributesClassDriver)},
		{Name: "csi-node-driver", From: from(csiNode), Relation: Needs, Via: Spec, To: "CSIDriver", Field: "spec.drivers[].name", Links: on(csiNodeDrivers)},
		{Name: "storage-capacity-class", From: from(storageCapacity), Relation: Needs, Via: Spec, To: "StorageClass", Field: "storageClassName", Links: on(storageCapacityClass)},

		{Name: "storage-capacity-node", From: from(storageCapacity), Relation: Serves, Via: Label, To: "Node", Field: "nodeTopology", Peer: true, Links: on(storageCapacityNodes)},

		{Name: "attachment-volume", From: from(attachment), Relation: Serves, Via: Spec, To: "PersistentVolume", Field: "spec.source.persistentVolumeName", CrossNamespace: true, Links: on(attachmentVolume)},
		{Name: "attachment-node", From: from(attachment), Relation: Needs, Via: Spec, To: "Node", Field: "spec.nodeName", Links: on(attachmentNode)},
		{Name: "attachment-secret", From: from(attachment), Relation: Needs, Via: Spec, To: "Secret", Field: "spec.source.inlineVolumeSpec", Links: on(attachmentSecrets)},
		{Name: "attachment-driver", From: from(attachment), Relation: Needs, Via: Spec, To: "CSIDriver", Field: "spec.attacher", Links: on(attachmentDriver)},
	}
}

func claimVolume(c *corev1.PersistentVolumeClaim, _ object.Ref, emit EmitFunc) {
	named(emit, persistentVolume, "", c.Spec.VolumeName, "spec.volumeName")
}

// claimClass: an empty name means no class. An absent one means the default class, which the server
// sets as soon as there is one. For a bound claim the class is a label, often without an object.
func claimClass(c *corev1.PersistentVolumeClaim, _ object.Ref, emit EmitFunc) {
	if name := value(c.Spec.StorageClassName); name != "" {
		l := to(storageClass, "", name, "spec.storageClassName")
		l.Settled = c.Spec.VolumeName != ""
		l.Target.IfPresent = l.Settled
		emit(l)
	}
}

// claimAttributesClass: during a change the requested class, the current one and the one being
// applied may differ.
func claimAttributesClass(c *corev1.PersistentVolumeClaim, _ object.Ref, emit EmitFunc) {
	wanted, current, target := value(c.Spec.VolumeAttributesClassName), value(c.Status.CurrentVolumeAttributesClassName), ""
	if c.Status.ModifyVolumeStatus != nil {
		target = c.Status.ModifyVolumeStatus.TargetVolumeAttributesClassName
	}
	named(emit, attributesClass, "", wanted, "spec.volumeAttributesClassName")
	if current != wanted {
		named(emit, attributesClass, "", current, "status.currentVolumeAttributesClassName")
	}
	if target != wanted && target != current {
		named(emit, attributesClass, "", target, "status.modifyVolumeStatus.targetVolumeAttributesClassName")
	}
}

// claimDataSource: the server copies dataSource to dataSourceRef, which may name another namespace,
// where a ReferenceGrant must allow that. A filled volume no longer needs its source, which may be
// deleted.
func claimDataSource(c *corev1.PersistentVolumeClaim, self object.Ref, emit EmitFunc) {
	var l Link
	if r := c.Spec.DataSourceRef; r != nil {
		l = to(kind(value(r.APIGroup), r.Kind), cmp.Or(value(r.Namespace), self.Namespace), r.Name, "spec.dataSourceRef.name")
	} else if r := c.Spec.DataSource; r != nil {
		l = to(kind(value(r.APIGroup), r.Kind), self.Namespace, r.Name, "spec.dataSource.name")
	}
	if l.Target.Name != "" && l.Target.Kind.Kind != "" {
		l.Target.Granted, l.Target.IfPresent = true, c.Spec.VolumeName != ""
		emit(l)
	}
}

// VolumeReclaimed is the evidence rule by which a volume is deleted with its claim.
const VolumeReclaimed = "volume-reclaimed"

// volumeReclaimed: with the policy Delete, the volume and its data are deleted with the claim that
// it is bound to. A provisioner deletes what it created, and the controller manager deletes host
// paths below /tmp; for a volume that a person created the deletion is inferred.
func volumeReclaimed(v *corev1.PersistentVolume, _ object.Ref, emit EmitFunc) {
	r := v.Spec.ClaimRef
	if r == nil || r.Name == "" || v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		return
	}
	l := to(claim, r.Namespace, r.Name, "spec.persistentVolumeReclaimPolicy")
	l.Target.UID, l.Value, l.Backward = r.UID, string(v.Spec.PersistentVolumeReclaimPolicy), true
	l.Inferred = v.Annotations[provisionedKey] == "" && (v.Spec.HostPath == nil || !strings.HasPrefix(v.Spec.HostPath.Path, "/tmp/"))
	emit(l)
}

const provisionedKey = "pv.kubernetes.io/provisioned-by"

// volumeReservation: a volume may be reserved for a claim that is not bound, or does not exist,
// yet. A bound volume is named by its claim. A released one keeps the name of a deleted claim: a
// new claim of that name does not get it.
func volumeReservation(v *corev1.PersistentVolume, _ object.Ref, emit EmitFunc) {
	r := v.Spec.ClaimRef
	switch {
	case r == nil || r.Namespace == "" || r.Name == "":
	case v.Status.Phase == corev1.VolumeBound, v.Status.Phase == corev1.VolumeReleased, v.Status.Phase == corev1.VolumeFailed:
	default:
		l := to(claim, r.Namespace, r.Name, "spec.claimRef.name")
		l.Target.UID, l.Backward = r.UID, true
		emit(l)
	}
}

// volumeClass: for a volume the class is a label, as for its claim.
func volumeClass(v *corev1.PersistentVolume, _ object.Ref, emit EmitFunc) {
	present(emit, storageClass, "", v.Spec.StorageClassName, "spec.storageClassName")
}

func volumeAttributesClass(v *corev1.PersistentVolume, _ object.Ref, emit EmitFunc) {
	named(emit, attributesClass, "", value(v.Spec.VolumeAttributesClassName), "spec.volumeAttributesClassName")
}

func volumeNode(v *corev1.PersistentVolume, _ object.Ref, emit EmitFunc) {
	if v.Spec.NodeAffinity != nil {
		namedNodes(v.Spec.NodeAffinity.Required, "spec.nodeAffinity.required", emit)
	}
}

// These links are ifPresent: a driver works without a CSIDriver, and a provisioner need not be a
// CSI driver.

func persistentVolumeDriver(v *corev1.PersistentVolume, _ object.Ref, emit EmitFunc) {
	if v.Spec.CSI != nil {
		present(emit, csiDriver, "", v.Spec.CSI.Driver, "spec.csi.driver")
	}
}

func storageClassDriver(c *storagev1.StorageClass, _ object.Ref, emit EmitFunc) {
	present(emit, csiDriver, "", c.Provisioner, "provisioner")
}

func attributesClassDriver(c *storagev1.VolumeAttributesClass, _ object.Ref, emit EmitFunc) {
	present(emit, csiDriver, "", c.DriverName, "driverName")
}

func attachmentDriver(a *storagev1.VolumeAttachment, _ object.Ref, emit EmitFunc) {
	present(emit, csiDriver, "", a.Spec.Attacher, "spec.attacher")
}

// claimSelector: all volumes that match are candidates until one is bound. An empty selector names
// none.
func claimSelector(c *corev1.PersistentVolumeClaim, _ object.Ref, emit EmitFunc) {
	if s := c.Spec.Selector; s != nil && c.Spec.VolumeName == "" && !everything(s) {
		sel := FromLabelSelector(s)
		emit(Link{Target: Target{Kind: persistentVolume, Selector: sel}, Field: "spec.selector", Value: sel.String(), Optional: true})
	}
}

const selectedNodeKey = "volume.kubernetes.io/selected-node"

// claimNode: the node that was selected for the first consumer matters until the volume exists. If
// that node is deleted before, it is the reason why there is no volume.
func claimNode(c *corev1.PersistentVolumeClaim, _ object.Ref, emit EmitFunc) {
	if c.Spec.VolumeName == "" {
		named(emit, node, "", c.Annotations[selectedNodeKey], annotation(selectedNodeKey))
	}
}

const provisionerKey = "volume.kubernetes.io/storage-provisioner"

func claimProvisioner(o object.Object, emit EmitFunc) {
	present(emit, csiDriver, "", o.Meta.GetAnnotations()[provisionerKey], annotation(provisionerKey))
}

// csiNodeDrivers: the Node of a CSINode is its owner, so it needs no rule.
func csiNodeDrivers(n *storagev1.CSINode, _ object.Ref, emit EmitFunc) {
	for i := range n.Spec.Drivers {
		present(emit, csiDriver, "", n.Spec.Drivers[i].Name, at("spec.drivers[", i, "].name"))
	}
}

func storageCapacityClass(c *storagev1.CSIStorageCapacity, _ object.Ref, emit EmitFunc) {
	named(emit, storageClass, "", c.StorageClassName, "storageClassName")
}

// storageCapacityNodes: an empty topology covers every node, an absent one none.
func storageCapacityNodes(c *storagev1.CSIStorageCapacity, _ object.Ref, emit EmitFunc) {
	if s := c.NodeTopology; s != nil && !everything(s) {
		sel := FromLabelSelector(s)
		emit(Link{Target: Target{Kind: node, Selector: sel}, Field: "nodeTopology", Value: sel.String()})
	}
}

func attachmentVolume(a *storagev1.VolumeAttachment, _ object.Ref, emit EmitFunc) {
	named(emit, persistentVolume, "", value(a.Spec.Source.PersistentVolumeName), "spec.source.persistentVolumeName")
}

func attachmentNode(a *storagev1.VolumeAttachment, _ object.Ref, emit EmitFunc) {
	named(emit, node, "", a.Spec.NodeName, "spec.nodeName")
}

// storageClassSecrets: a name or namespace with a variable differs for each claim. The volume has
// the resolved name once it exists.
func storageClassSecrets(c *storagev1.StorageClass, _ object.Ref, emit EmitFunc) {
	if len(c.Parameters) == 0 {
		return
	}
	for _, use := range [...]string{"provisioner", "controller-publish", "controller-expand", "node-stage", "node-publish", "node-expand"} {
		key := "csi.storage.k8s.io/" + use + "-secret-name"
		name, namespace := c.Parameters[key], c.Parameters["csi.storage.k8s.io/"+use+"-secret-namespace"]
		if namespace != "" && !strings.Contains(name, "${") && !strings.Contains(namespace, "${") {
			named(emit, secret, namespace, name, "parameters["+key+"]")
		}
	}
}
