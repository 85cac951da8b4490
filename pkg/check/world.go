package check

import (
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Labels returns the labels of an object; nil where it does not exist.
func (w *ClusterState) Labels(ref object.Ref) map[string]string {
	id, ok := w.Graph.Find(ref)
	if !ok {
		return nil
	}
	return w.Graph.Labels(id)
}

// PodsBehind returns the pods that a budget or a Service selects, in order.
func (w *ClusterState) PodsBehind(serving object.Ref) []*corev1.Pod {
	id, ok := w.Graph.Find(serving)
	if !ok {
		return nil
	}
	var out []*corev1.Pod
	for e := range w.Graph.Out(id) {
		ref := w.Graph.Ref(e.To)
		if ref.GroupKind() != PodKind || w.Graph.State(e.To) != graph.Present {
			continue
		}
		if p, ok := Of[*corev1.Pod](w.Facts, ref); ok && !HasEnded(p) {
			out = append(out, p)
		}
	}
	return out
}

// ClusterState is everything that was read, in the form that rules use. It is immutable.
type ClusterState struct {
	Graph *graph.Graph
	Facts *Collector
	Kinds *object.Kinds
	// Read reports whether all objects of a kind in a namespace (in all, where it is empty)
	// were read: otherwise an absent object is not missing.
	Read func(gk schema.GroupKind, namespace string) bool
	// Catalogued returns the name of a kind's operator in the catalog: cert-manager. It may be
	// nil.
	Catalogued func(schema.GroupKind) (name string, ok bool)
	// Conversion returns the Service that converts the objects of a definition. If it is nil,
	// only the edges of the graph count.
	Conversion func(definition object.Ref) (service object.Ref, ok bool)

	// System is the System whose apps are checked; nil for none.
	System *System
	// Copies are the backups of which the cluster has a record, the newest first, and Now is the time
	// that their age is counted to.
	Copies []Copy
	Now    time.Time

	// FindOperators finds the operators of the cluster (package operator has the function). If
	// it is nil, no operator is known.
	FindOperators func(*ClusterState) []*Operator

	operators struct {
		once sync.Once
		all  []*Operator
	}
	workloads []*Workload
	byRef     map[object.Ref]*Workload
	ofPod     map[object.Ref]*Workload
	// bindings is the index of role bindings; it is built at the first use.
	bindings grantIndex
}

// NewWorld makes a ClusterState of the objects that were read.
func NewWorld(g *graph.Graph, facts *Collector, kinds *object.Kinds, read func(schema.GroupKind, string) bool) *ClusterState {
	w := &ClusterState{Graph: g, Facts: facts, Kinds: kinds, Read: read, byRef: map[object.Ref]*Workload{}, ofPod: map[object.Ref]*Workload{}}
	w.controllers()
	for _, pod := range All[*corev1.Pod](facts, "", "Pod") {
		ref := object.Ref{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}
		if HasEnded(pod) {
			continue
		}
		workload := w.workloadOf(ref)
		if workload == nil {
			workload = &Workload{Ref: ref, Replicas: 1, Object: pod}
			w.byRef[ref] = workload
			w.workloads = append(w.workloads, workload)
		}
		workload.Pods = append(workload.Pods, pod)
		w.ofPod[ref] = workload
	}
	slices.SortFunc(w.workloads, func(a, b *Workload) int { return object.Compare(a.Ref, b.Ref) })
	return w
}

// controllers makes the workloads of every object that has a pod template and that no other
// such object owns.
func (w *ClusterState) controllers() {
	add := func(group, kind, namespace, name string, o runtime.Object, template *corev1.PodTemplateSpec, replicas int32) {
		ref := object.Ref{Group: group, Kind: kind, Namespace: namespace, Name: name}
		if owner, ok := w.Owner(ref); ok && runsPods(owner) {
			return
		}
		wl := &Workload{Ref: ref, Object: o, Template: template, Replicas: replicas}
		w.workloads = append(w.workloads, wl)
		w.byRef[ref] = wl
	}
	for _, o := range All[*appsv1.Deployment](w.Facts, "apps", "Deployment") {
		add("apps", "Deployment", o.Namespace, o.Name, o, &o.Spec.Template, one(o.Spec.Replicas))
	}
	for _, o := range All[*appsv1.StatefulSet](w.Facts, "apps", "StatefulSet") {
		add("apps", "StatefulSet", o.Namespace, o.Name, o, &o.Spec.Template, one(o.Spec.Replicas))
	}
	for _, o := range All[*appsv1.ReplicaSet](w.Facts, "apps", "ReplicaSet") {
		add("apps", "ReplicaSet", o.Namespace, o.Name, o, &o.Spec.Template, one(o.Spec.Replicas))
	}
	for _, o := range All[*appsv1.DaemonSet](w.Facts, "apps", "DaemonSet") {
		add("apps", "DaemonSet", o.Namespace, o.Name, o, &o.Spec.Template, o.Status.DesiredNumberScheduled)
	}
	for _, o := range All[*batchv1.CronJob](w.Facts, "batch", "CronJob") {
		add("batch", "CronJob", o.Namespace, o.Name, o, &o.Spec.JobTemplate.Spec.Template, 0)
	}
	for _, o := range All[*batchv1.Job](w.Facts, "batch", "Job") {
		add("batch", "Job", o.Namespace, o.Name, o, &o.Spec.Template, one(o.Spec.Parallelism))
	}
	for _, o := range All[*corev1.ReplicationController](w.Facts, "", "ReplicationController") {
		if o.Spec.Template != nil {
			add("", "ReplicationController", o.Namespace, o.Name, o, o.Spec.Template, one(o.Spec.Replicas))
		}
	}
}

func one(n *int32) int32 {
	if n == nil {
		return 1
	}
	return *n
}

// workloadOf returns the topmost built-in controller of a pod, if it has one.
func (w *ClusterState) workloadOf(pod object.Ref) *Workload {
	at := pod
	for range maxDepth {
		owner, ok := w.Owner(at)
		if !ok {
			return nil
		}
		if wl := w.byRef[owner]; wl != nil {
			return wl
		}
		at = owner
	}
	return nil
}

// Workloads returns all workloads, in order.
func (w *ClusterState) Workloads() []*Workload { return w.workloads }

// Workload returns the one that has a reference, or that runs the pod.
func (w *ClusterState) Workload(ref object.Ref) (*Workload, bool) {
	if wl, ok := w.ofPod[ref]; ok {
		return wl, true
	}
	wl, ok := w.byRef[ref]
	return wl, ok
}

// Instances returns the existing objects of a kind, in order.
func (w *ClusterState) Instances(gk schema.GroupKind) []object.Ref {
	var out []object.Ref
	for id := range w.Graph.OfKind(gk) {
		if w.Graph.State(id) == graph.Present {
			out = append(out, w.Graph.Ref(id))
		}
	}
	return out
}

// Serving returns the objects of a kind that serve another one: the budgets and network
// policies of a pod, the Services in front of it.
func (w *ClusterState) Serving(ref object.Ref, gk schema.GroupKind) []object.Ref {
	id, ok := w.Graph.Find(ref)
	if !ok {
		return nil
	}
	var out []object.Ref
	for e := range w.Graph.In(id) {
		if from := w.Graph.Ref(e.From); from.GroupKind() == gk && w.Graph.State(e.From) == graph.Present {
			out = append(out, from)
		}
	}
	slices.SortFunc(out, object.Compare)
	return slices.Compact(out)
}

// WorkloadsOf returns the workloads among some objects, and those of pods among them, each
// once and in order.
func (w *ClusterState) WorkloadsOf(refs []object.Ref) []*Workload {
	var out []*Workload
	for _, ref := range refs {
		if wl, ok := w.Workload(ref); ok {
			out = append(out, wl)
		}
	}
	slices.SortFunc(out, func(a, b *Workload) int { return object.Compare(a.Ref, b.Ref) })
	return slices.CompactFunc(out, func(a, b *Workload) bool { return a.Ref == b.Ref })
}
