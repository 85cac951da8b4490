package check

import (
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// SelectsEverything says that a selector excludes nothing; one that is not set does not either.
func SelectsEverything(s *metav1.LabelSelector) bool {
	return s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0
}

func Names(refs []object.Ref) string {
	var names []string
	for _, r := range refs {
		names = append(names, r.Name)
	}
	return object.ShortList(names)
}

func (w *ClusterState) Labels(ref object.Ref) map[string]string {
	id, ok := w.Graph.Find(ref)
	if !ok {
		return nil
	}
	return w.Graph.Labels(id)
}

// HelmRelease returns the release that installed an object; empty where none says so.
func (w *ClusterState) HelmRelease(ref object.Ref) (name, namespace string) {
	name, _ = w.Facts.Annotation(ref, graph.HelmName)
	namespace, _ = w.Facts.Annotation(ref, graph.HelmNamespace)
	return name, namespace
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

func PodRefs(pods []*corev1.Pod) []object.Ref {
	out := make([]object.Ref, 0, len(pods))
	for _, p := range pods {
		out = append(out, PodRef(p))
	}
	return out
}

func BudgetField(b *policyv1.PodDisruptionBudget) (field, value string) {
	switch {
	case b.Spec.MaxUnavailable != nil:
		return "spec.maxUnavailable", b.Spec.MaxUnavailable.String()
	case b.Spec.MinAvailable != nil:
		return "spec.minAvailable", b.Spec.MinAvailable.String()
	}
	return "spec", ""
}

func PodRef(p *corev1.Pod) object.Ref {
	return object.Ref{Kind: "Pod", Namespace: p.Namespace, Name: p.Name}
}

// IsMirrorPod says that a pod stands for one that a kubelet runs from a file.
func IsMirrorPod(p *metav1.ObjectMeta) bool {
	_, mirror := p.Annotations[corev1.MirrorPodAnnotationKey]
	return mirror || slices.ContainsFunc(p.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "Node" && o.APIVersion == "v1" })
}

// SpecPath is where the spec of the pods is in a workload.
func (wl *Workload) SpecPath() string {
	switch {
	case wl.Template == nil:
		return "spec"
	case wl.Ref.Kind == "CronJob":
		return "spec.jobTemplate.spec.template.spec"
	}
	return "spec.template.spec"
}

func HasContainer(spec *corev1.PodSpec, name string) bool {
	is := func(c corev1.Container) bool { return c.Name == name }
	return slices.ContainsFunc(spec.Containers, is) || slices.ContainsFunc(spec.InitContainers, is)
}

// BuiltInTop returns the workload above a ReplicaSet or Job.
func (w *ClusterState) BuiltInTop(ref object.Ref) object.Ref {
	for range maxDepth {
		owner, ok := w.Owner(ref)
		if !ok || !runsPods(owner) {
			break
		}
		ref = owner
	}
	return ref
}

// ClusterState is everything that was read, as rules look at it. It is immutable.
type ClusterState struct {
	Graph *graph.Graph
	Facts *Collector
	Kinds *object.Kinds
	// Read says whether all objects of a kind in a namespace (in all, where it is empty)
	// were read: only then does it mean anything that one is not there.
	Read func(gk schema.GroupKind, namespace string) bool
	// Catalogued names the operator that the catalogue knows of a kind: cert-manager. It
	// AllowedVerbs be nil.
	Catalogued func(schema.GroupKind) (name string, ok bool)
	// Conversion returns the Service that converts the objects of a definition. It may be
	// nil; then only what the graph says of that counts.
	Conversion func(definition object.Ref) (service object.Ref, ok bool)

	// FindOperators finds the operators of the cluster (package operator has the function).
	// It may be nil; then none is known.
	FindOperators func(*ClusterState) []*Operator

	operators struct {
		once sync.Once
		all  []*Operator
	}
	workloads []*Workload
	byRef     map[object.Ref]*Workload
	ofPod     map[object.Ref]*Workload
	// bindings finds who is bound; it is made when it is first asked for.
	bindings grantIndex
}

// Workload is a built-in controller of pods, or a pod that has none, and the pods that
// there are.
type Workload struct {
	// Ref is the topmost built-in controller: the Deployment and not its ReplicaSet, the
	// CronJob and not its Job. A pod without one is its own workload.
	Ref object.Ref
	// Template is that of its pods; nil for a bare pod.
	Template *corev1.PodTemplateSpec
	// Replicas are those that are wanted; 0 for a CronJob, the number of its pods for a
	// DaemonSet.
	Replicas int32
	// Pods are those that there are and have not ended, in order.
	Pods []*corev1.Pod
	// Object is the Deployment, StatefulSet, ... as it was read.
	Object runtime.Object
}

// Specs returns the specs of the pods as they run, each different one once as far as
// containers go; of no pods, that of the template.
func (w *Workload) Specs() []*corev1.PodSpec {
	var out []*corev1.PodSpec
	for _, p := range w.Pods {
		if !slices.ContainsFunc(out, func(s *corev1.PodSpec) bool {
			return len(s.Containers) > 0 && len(p.Spec.Containers) > 0 && &s.Containers[0] == &p.Spec.Containers[0]
		}) {
			out = append(out, &p.Spec)
		}
	}
	if len(out) == 0 && w.Template != nil {
		out = append(out, &w.Template.Spec)
	}
	return out
}

// IsLongRunning says that its pods are to run until somebody ends them.
func (w *Workload) IsLongRunning() bool {
	switch w.Ref.Kind {
	case "Job", "CronJob":
		return false
	case "Pod":
		return len(w.Pods) > 0 && w.Pods[0].Spec.RestartPolicy != corev1.RestartPolicyNever
	}
	return true
}

// NewWorld puts together what was read.
func NewWorld(g *graph.Graph, facts *Collector, kinds *object.Kinds, read func(schema.GroupKind, string) bool) *ClusterState {
	w := &ClusterState{Graph: g, Facts: facts, Kinds: kinds, Read: read, byRef: map[object.Ref]*Workload{}, ofPod: map[object.Ref]*Workload{}}
	w.controllers()
	for _, pod := range All[*corev1.Pod](facts, "", "Pod") {
		ref := object.Ref{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}
		if HasEnded(pod) {
			continue
		}
		of := w.workloadOf(ref)
		if of == nil {
			of = &Workload{Ref: ref, Replicas: 1, Object: pod}
			w.byRef[ref] = of
			w.workloads = append(w.workloads, of)
		}
		of.Pods = append(of.Pods, pod)
		w.ofPod[ref] = of
	}
	slices.SortFunc(w.workloads, func(a, b *Workload) int { return object.Compare(a.Ref, b.Ref) })
	return w
}

// controllers makes the workloads of everything that has a pod template and that no other
// of these owns.
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

// runsPods says that a built-in controller makes pods, itself or by another.
func runsPods(r object.Ref) bool {
	switch r.Group {
	case "apps":
		return true
	case "batch":
		return r.Kind == "Job" || r.Kind == "CronJob"
	}
	return r.Group == "" && r.Kind == "ReplicationController"
}

// Owner returns the first owner of an object that is there.
func (w *ClusterState) Owner(ref object.Ref) (object.Ref, bool) {
	id, ok := w.Graph.Find(ref)
	if !ok {
		return object.Ref{}, false
	}
	for _, owner := range w.Graph.OwnersOf(id) {
		if w.Graph.State(owner) == graph.Present {
			return w.Graph.Ref(owner), true
		}
	}
	return object.Ref{}, false
}

// maxDepth bounds a walk up owners, which may be a cycle.
const maxDepth = 16

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

// Workloads returns all of them, in order.
func (w *ClusterState) Workloads() []*Workload { return w.workloads }

// Workload returns the one that is called so, or that runs the pod.
func (w *ClusterState) Workload(ref object.Ref) (*Workload, bool) {
	if wl, ok := w.ofPod[ref]; ok {
		return wl, true
	}
	wl, ok := w.byRef[ref]
	return wl, ok
}

// Top returns the topmost owner of an object: Moodle/moodle-1 of its pod. It is the object
// itself where nobody owns it.
func (w *ClusterState) Top(ref object.Ref) object.Ref {
	at := ref
	for range maxDepth {
		owner, ok := w.Owner(at)
		if !ok {
			return at
		}
		at = owner
	}
	return ref
}

// Owned returns what an object owns, at any depth, in order, without itself.
func (w *ClusterState) Owned(ref object.Ref) []object.Ref {
	out := w.reach(ref, w.Graph.Owned)
	slices.SortFunc(out, object.Compare)
	return out
}

// reach returns what is reached from an object step by step, the nearest first, without
// itself.
func (w *ClusterState) reach(ref object.Ref, step func(graph.ID) []graph.ID) []object.Ref {
	id, ok := w.Graph.Find(ref)
	if !ok {
		return nil
	}
	seen := map[graph.ID]bool{id: true}
	next := []graph.ID{id}
	var out []object.Ref
	for at := 0; at < len(next); at++ {
		for _, to := range step(next[at]) {
			if !seen[to] {
				seen[to] = true
				next = append(next, to)
				out = append(out, w.Graph.Ref(to))
			}
		}
	}
	return out
}

// Instances returns the objects of a kind that are there, in order.
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

// WorkloadsOf returns the workloads among some objects, or of pods among them, each once
// and in order.
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

// Selects says that a selector matches labels; one that is not set or not valid selects
// nothing.
func Selects(s *metav1.LabelSelector, set map[string]string) bool {
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(set))
}

// PodReady says that a pod is ready, and not about to go.
func PodReady(p *corev1.Pod) bool {
	return p.DeletionTimestamp == nil && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// HasEnded says that a pod has run to its end.
func HasEnded(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// Describe names an object in a sentence: ClusterRole shop, Secret shop/tls.
func Describe(ref object.Ref) string {
	if ref.Namespace == "" {
		return ref.Kind + " " + ref.Name
	}
	return ref.Kind + " " + ref.Namespace + "/" + ref.Name
}

// DescribeAll lists objects as describe names them.
func DescribeAll(refs []object.Ref) string {
	words := make([]string, 0, len(refs))
	for _, r := range refs {
		words = append(words, Describe(r))
	}
	return object.ShortList(words)
}

// Near names an object for somebody who looks at another one: its namespace only where that
// is another.
func Near(r, from object.Ref) string {
	if r.Namespace == from.Namespace {
		r.Namespace = ""
	}
	return r.String()
}

// Owners returns what owns an object at any height and exists, the nearest first, without
// the object itself.
func (w *ClusterState) Owners(ref object.Ref) []object.Ref {
	if w == nil || w.Graph == nil {
		return nil
	}
	return w.reach(ref, func(id graph.ID) []graph.ID {
		return slices.DeleteFunc(slices.Clone(w.Graph.OwnersOf(id)), func(o graph.ID) bool { return w.Graph.State(o) != graph.Present })
	})
}
