// Package schedule says whether pods find nodes: by the filters of kube-scheduler's default
// profile, on the nodes as they are.
//
// Pods fit if one greedy placement finds a node for each: those of the highest priority
// first, then the biggest ones. The scheduler may take them in another order and choose other
// nodes, so that it may still leave one of them pending. Pods do not fit only where that is
// certain: no node passes the filters even without the other pods of the batch, or a count
// shows it (of a resource, of nodes or domains that take one pod each). All else is unknown,
// with the reason; other orders and nodes are not tried.
package schedule

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Verdict is the result for pods.
type Verdict uint8

// The verdicts, the worst first.
const (
	DoesNotFit Verdict = iota + 1
	Unknown
	Fits
)

func (v Verdict) String() string {
	return [...]string{"", "impossible", "unknown", "fits"}[v]
}

// MarshalText writes the word in documents.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Cluster is what the scheduler reads.
type Cluster struct {
	Nodes []*corev1.Node
	// Pods are those of the whole cluster that have not ended. Those on a node take room
	// there; pending ones compete with the pods to place.
	Pods []*corev1.Pod
	// Claims are those that there are, and those that are to be made with the pods.
	Claims     []*corev1.PersistentVolumeClaim
	Volumes    []*corev1.PersistentVolume
	Classes    []*storagev1.StorageClass
	Drivers    []*storagev1.CSINode
	Capacities []*storagev1.CSIStorageCapacity
	// CSIDrivers say for which drivers the scheduler uses Capacities.
	CSIDrivers []*storagev1.CSIDriver
	// Attachments count against what a node can attach.
	Attachments []*storagev1.VolumeAttachment
	Priorities  []*schedulingv1.PriorityClass
	Runtimes    []*nodev1.RuntimeClass
	// Namespaces are for affinity terms that select namespaces by label.
	Namespaces []*corev1.Namespace
	// DeviceClasses can provide extended resources that no node has.
	DeviceClasses []*resourcev1.DeviceClass
	// Unread says what of this could not be read: nothing that depends on it is claimed.
	Unread Unread
}

// Unread says what could not be read.
type Unread struct {
	Nodes, Pods, Claims, Volumes, Classes, Priorities, Namespaces bool
	// Storage is CSI nodes, CSI drivers, capacities and attachments; Devices is device
	// classes.
	Storage, Devices bool
}

// Pod is one that is to be placed.
type Pod struct {
	// Name is how people know it: Deployment/shop/web, pod 2 of 3.
	Name string
	// Pod has namespace, labels and spec; defaults of the API server may be missing.
	Pod *corev1.Pod
}

// Placed says where a pod would fit.
type Placed struct {
	Pod  string `json:"pod"`
	Node string `json:"node"`
}

// Reason is why pods do not fit.
type Reason struct {
	// Pods are the names of those that it is about.
	Pods []string `json:"pods"`
	// Reason is one word: InsufficientCPU, Taint, NodeSelector, Port, ...
	Reason string `json:"reason"`
	// Message is the reason in one sentence without a full stop, with its figures.
	Message string `json:"message"`
	// Nodes say why each node, or each kind of node, is out.
	Nodes []NodeReason `json:"nodes,omitempty"`
}

// NodeReason is why nodes do not take a pod.
type NodeReason struct {
	// Nodes are their names, in order.
	Nodes   []string `json:"nodes"`
	Reason  string   `json:"reason"`
	Message string   `json:"message"`
}

// Result is the result for pods together.
type Result struct {
	Verdict Verdict `json:"verdict"`
	// Placement has a node for each pod; also where the verdict is Unknown, if all were
	// placed.
	Placement []Placed `json:"placement"`
	// Proofs are why the pods do not fit.
	Proofs []Reason `json:"reasons"`
	// Unknown says what could not be found out, each a sentence without a full stop.
	Unknown []string `json:"unknown"`
}
