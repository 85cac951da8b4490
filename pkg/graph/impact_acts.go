package graph

import "k8s.io/apimachinery/pkg/runtime/schema"

// acts says what the deletion of an object leaves unchanged, for kinds that act only at certain
// times.
var acts = map[schema.GroupKind]string{
	{Kind: "LimitRange"}:    "applies when pods and claims are created: existing ones stay unchanged, and new ones do not get its defaults and limits",
	{Kind: "ResourceQuota"}: "applies when objects are created or grown: existing ones stay unchanged, and new ones are no longer counted against it",

	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}:             "is looked up when a pod is created: existing pods keep their priority, and new ones that name it are refused",
	{Group: "node.k8s.io", Kind: "RuntimeClass"}:                    "is looked up when a pod is created or started: running pods continue, and new ones that name it are refused",
	{Group: "storage.k8s.io", Kind: "StorageClass"}:                 "is looked up when a volume is created or grown: bound volumes stay, and new claims that name it wait",
	{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}:        "is looked up when a volume is created or changed: volumes keep their attributes",
	{Group: "storage.k8s.io", Kind: "CSIDriver"}:                    "is looked up when a volume is attached or mounted: what is mounted stays mounted",
	{Group: "snapshot.storage.k8s.io", Kind: "VolumeSnapshotClass"}: "is looked up when a snapshot is created or deleted: existing snapshots stay",
	{Group: "networking.k8s.io", Kind: "IngressClass"}:              "is looked up when a controller processes an Ingress: what it serves continues until its next sync",
	{Group: "resource.k8s.io", Kind: "DeviceClass"}:                 "is looked up when devices are allocated: what is allocated stays",

	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}:   checks,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:     changes,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}:        checks,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicyBinding"}: checks,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicy"}:          changes,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicyBinding"}:   changes,

	{Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema"}:                 queues,
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "PriorityLevelConfiguration"}: queues,
}

const (
	checks  = "applies when objects are created or changed: existing ones stay unchanged, and new ones are no longer checked by it"
	changes = "applies when objects are created or changed: existing ones stay unchanged, and new ones are no longer changed by it"
	queues  = "classifies requests to the API server: they are queued differently, and running workloads do not change"
)

// Acts returns, for an object that acts only when something is created, scaled up or scheduled,
// when that is and what its deletion leaves unchanged; "" for others.
func (g *Graph) Acts(id ID) string { return acts[g.Ref(id).GroupKind()] }
