// Package schedule foresees whether pods find nodes: by the rules of the scheduler's
// filters, on the nodes as they are.
//
// There are three verdicts. Impossible comes with a proof: whatever the scheduler does,
// not all of the pods can run on these nodes. Fits comes with a placement, and means that
// all of them find a node whatever order and whichever of the nodes that pass its filters
// the scheduler chooses. All else is Undecided, and says what could not be judged. It is
// never said that pods will be scheduled: the cluster may have changed by then.
package schedule

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Verdict is what can be said of pods.
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

// Cluster is what the scheduler looks at.
type Cluster struct {
	Nodes []*corev1.Node
	// Pods are those of the whole cluster that have not ended. Those on a node take room
	// there; those that wait for one compete with the pods that are asked about.
	Pods []*corev1.Pod
	// Claims are those that there are, and those that are to be made with the pods.
	Claims     []*corev1.PersistentVolumeClaim
	Volumes    []*corev1.PersistentVolume
	Classes    []*storagev1.StorageClass
	Drivers    []*storagev1.CSINode
	Capacities []*storagev1.CSIStorageCapacity
	// CSIDrivers say which drivers let the scheduler look at Capacities.
	CSIDrivers []*storagev1.CSIDriver
	// Attachments count against what a node can attach.
	Attachments []*storagev1.VolumeAttachment
	Priorities  []*schedulingv1.PriorityClass
	Runtimes    []*nodev1.RuntimeClass
	// Namespaces are for affinity terms that select namespaces by label.
	Namespaces []*corev1.Namespace
	// DeviceClasses can stand for extended resources that no node has.
	DeviceClasses []*resourcev1.DeviceClass
	// Unread says what of this could not be read, in words for people (pods in other
	// namespaces): then nothing that depends on it is claimed.
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
	// Group is equal for pods that are equal but for their name: the replicas of a
	// workload.
	Group string
	// Pod has namespace, labels and spec, as the API server would keep it.
	Pod *corev1.Pod
}

// Placed says where a pod would fit.
type Placed struct {
	Pod  string `json:"pod"`
	Node string `json:"node"`
}

// Reason is why something cannot be.
type Reason struct {
	// Pods are the names of those that it is about.
	Pods []string `json:"pods"`
	// Reason is one word: InsufficientCPU, Taint, NodeSelector, Port, ...
	Reason string `json:"reason"`
	// Message is the proof in one sentence without a full stop, with its figures.
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

// Result is what can be said of pods together.
type Result struct {
	Verdict Verdict
	// Placement is one way in which all find a node; also where the verdict is Undecided,
	// if there is one.
	Placement []Placed
	// Proofs are why it is impossible.
	Proofs []Reason
	// Unknown says what could not be judged, each a sentence without a full stop.
	Unknown []string
}
