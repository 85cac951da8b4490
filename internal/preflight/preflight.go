// Package preflight says whether all of a batch of objects will start, or whether a part of
// it would not. It compares the batch with what the cluster has: what the API server said of
// each object (a dry run), what the objects name, quotas and limit ranges over the whole,
// storage, and nodes for the pods.
//
// It reads nothing itself: what it evaluates was read before.
package preflight

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// Item is an object of the batch.
type Item struct {
	Ref object.Ref
	// Origin is where it was written (shop.yaml:14), or empty where it is the one in the
	// cluster.
	Origin string
	// Object is its content as it was written, with the namespace that was meant.
	Object *unstructured.Unstructured
	// Exists says that the cluster has one of this name already: it would be changed.
	Exists bool
}

// Admission is what the API server said of an object, or of a pod made of a template, in
// a dry run.
type Admission struct {
	// Ref is the object of the batch; Pod says that a pod of its template was tried.
	Ref object.Ref
	Pod bool
	// Admitted is the object as the API server would keep it, with its defaults; nil where
	// it refused.
	Admitted *unstructured.Unstructured
	// Reason (Invalid, Forbidden, ...) and Message say why it refused.
	Reason, Message string
	// Unknown says why the dry run could not tell, where it could not: a webhook that
	// does not support dry runs, no right to create.
	Unknown string
}

// PodFootprint is what a custom resource is declared to run: pods of one template.
type PodFootprint struct {
	// Replicas of Template; they are made in the namespace of the resource.
	Replicas int32
	Template corev1.PodTemplateSpec
	// Origin is where it was declared: footprints.yaml:3, or like
	// Prometheus/monitoring/main.
	Origin string
}

// Request is a batch, and what is known besides.
type Request struct {
	Batch []Item
	// World is what the cluster has, without the batch; Graph is of both together.
	World *check.ClusterState
	Graph *graph.Graph
	// Admissions are the results of dry runs; nil without a server.
	Admissions []Admission
	// Footprints are declared, by the custom resource.
	Footprints map[object.Ref][]PodFootprint
	// Live are the existing custom resources, whole, of the kinds that the batch has: to
	// find the one that is most like a new one. It may be nil.
	Live map[object.Ref]map[string]any
	// Composes says what objects an operator makes for one of a kind, each as Kind.group,
	// where that is known. It may be nil.
	Composes func(schema.GroupKind) (kinds []string, known bool)
	// Autoscaler notes that the cluster may grow.
	Autoscaler bool
	// FromScratch asks of an existing stack whether it would start from scratch: its present
	// pods take no room.
	FromScratch bool
}

// Topic is what a finding is about.
type Topic string

// The topics, in the order in which they are shown.
const (
	Admitted   Topic = "admission"
	References Topic = "references"
	Quota      Topic = "quota"
	Limits     Topic = "limits"
	Storage    Topic = "storage"
	Scheduling Topic = "scheduling"
)

// Topics lists all of them.
func Topics() []Topic { return []Topic{Admitted, References, Quota, Limits, Storage, Scheduling} }

// Finding is one result of the preflight.
type Finding struct {
	Verdict schedule.Verdict `json:"verdict"`
	Topic   Topic            `json:"topic"`
	// Object is what it is about: an object of the batch. Origin is the place in a file.
	Object object.Ref `json:"object,omitzero"`
	Origin string     `json:"origin,omitempty"`
	// Field and Value are the evidence, where there is one field.
	Field string `json:"field,omitempty"`
	Value string `json:"value,omitempty"`
	// Reason is one word, Message one sentence without a full stop.
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Remedy is a way out, where one is known.
	Remedy string `json:"remedy,omitempty"`
	// Nodes say why each node is excluded, where it is about nodes.
	Nodes []schedule.NodeReason `json:"nodes,omitempty"`
}

// Report is the result for the whole batch.
type Report struct {
	// Verdict is the worst of the findings.
	Verdict schedule.Verdict
	// Findings are what is impossible or unknown, the worst first, and for each topic in
	// which all is well one that says what was checked.
	Findings []Finding
	// Placement is one way in which all pods find a node.
	Placement []schedule.Placed
	// Pods counts those that were placed or tried.
	Pods int
	// NotChecked is what cannot be known beforehand, in words: whether images can be pulled.
	NotChecked []string
	// AutoscalerNote says that a cluster autoscaler was found, or is assumed.
	AutoscalerNote string
}
