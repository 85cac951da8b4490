package health

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// unjudged are kinds of the scheme that are left out: requests that are answered and
// not stored, parts of other kinds, and kinds that are alpha or about to go.
const unjudged = `
APIGroup APIVersions Binding ComponentStatus RangeAllocation SerializedReference Status
DeploymentRollback.apps Scale.apps
SelfSubjectReview.authentication.k8s.io TokenRequest.authentication.k8s.io TokenReview.authentication.k8s.io
LocalSubjectAccessReview.authorization.k8s.io SelfSubjectAccessReview.authorization.k8s.io
SelfSubjectRulesReview.authorization.k8s.io SubjectAccessReview.authorization.k8s.io
Scale.autoscaling Eviction.policy
DaemonSet.extensions Deployment.extensions DeploymentRollback.extensions Ingress.extensions NetworkPolicy.extensions ReplicaSet.extensions Scale.extensions
StorageVersion.internal.apiserver.k8s.io
Eviction.lifecycle.k8s.io EvictionRequest.lifecycle.k8s.io
ResourcePoolStatusRequest.resource.k8s.io CompositePodGroup.scheduling.k8s.io
`

// newestKinds are the kinds of the scheme, each in its newest version.
func newestKinds() map[schema.GroupKind]schema.GroupVersionKind {
	newest := map[schema.GroupKind]schema.GroupVersionKind{}
	for gvk := range scheme.Scheme.AllKnownTypes() {
		if gvk.Version == "__internal" || gvk.Kind == "WatchEvent" || strings.HasSuffix(gvk.Kind, "List") || strings.HasSuffix(gvk.Kind, "Options") {
			continue
		}
		if have, ok := newest[gvk.GroupKind()]; !ok || version.CompareKubeAwareVersionStrings(gvk.Version, have.Version) > 0 {
			newest[gvk.GroupKind()] = gvk
		}
	}
	return newest
}

// TestKindTable: each kind has one row, each kind of the scheme has one or is left out
// for a reason, and is judged in its newest version.
func TestKindTable(t *testing.T) {
	rows := map[schema.GroupKind]kindRule{}
	for _, r := range kindRules() {
		gk := schema.GroupKind{Group: r.group, Kind: r.kind}
		if _, twice := rows[gk]; twice {
			t.Errorf("%s has two rows", gk)
		}
		rows[gk] = r
	}
	remaining := map[string]bool{}
	for word := range strings.FieldsSeq(unjudged) {
		remaining[word] = true
	}
	newest := newestKinds()
	for gk, gvk := range newest {
		r, ok := rows[gk]
		switch {
		case ok == remaining[gk.String()]:
			t.Errorf("%s: in the table is %v, and left out is %v", gk, ok, remaining[gk.String()])
		case ok && r.version != "" && r.version != gvk.Version:
			t.Errorf("%s is judged in %s, and there is %s", gk, r.version, gvk.Version)
		}
		delete(remaining, gk.String())
	}
	if len(remaining) > 0 {
		t.Errorf("not in the scheme: %v", remaining)
	}
	for _, gvk := range Whole() {
		if r := rows[gvk.GroupKind()]; r.version != gvk.Version || r.version == "" {
			t.Errorf("%s is to be read whole, and judged in %q", gvk, r.version)
		}
	}
}

// TestKindsEmpty: nothing panics on an object in which nothing is said, or only empty
// things are; and of what has a state nobody says that it is well.
func TestKindsEmpty(t *testing.T) {
	j := NewEvaluator(noon)
	// An empty one of these is well: no state was asked for or is needed.
	healthy := "Namespace Service ResourceQuota CronJob FlowSchema ValidatingAdmissionPolicy DeviceTaintRule"
	for _, r := range kindRules() {
		gvk := schema.GroupVersionKind{Group: r.group, Version: r.version, Kind: r.kind}
		if gvk.Version == "" {
			gvk.Version = newestKinds()[gvk.GroupKind()].Version
		}
		bodies := []map[string]any{
			{},
			{"metadata": nil, "spec": nil, "status": nil},
			{"spec": map[string]any{}, "status": map[string]any{}},
			{"status": map[string]any{"conditions": []any{map[string]any{}, map[string]any{"type": "Ready"}}}},
			{"status": map[string]any{"conditions": []any{nil, "x", 7}}},
			{"status": []any{1}, "spec": "x"},
		}
		for i, fields := range bodies {
			fields["apiVersion"], fields["kind"] = gvk.GroupVersion().String(), gvk.Kind
			u := &unstructured.Unstructured{Object: fields}
			o := object.Object{Ref: object.Ref{Group: r.group, Kind: r.kind, Name: "x"}, Version: gvk.Version, Meta: &metav1.ObjectMeta{}, Body: u}
			h, ok := j.kind(newSubject(o, noon))
			if ok && h.Status == Healthy && h.Reason != Exists && !slices.Contains(strings.Fields(healthy), r.kind) {
				t.Errorf("%s, body %d: %v", gvk, i, h)
			}
		}
		body, err := scheme.Scheme.New(gvk)
		if err != nil {
			continue // Kinds that come as maps alone.
		}
		fill(reflect.ValueOf(body).Elem(), 0)
		o := objectOf(t, body)
		o.Ref = object.Ref{Group: r.group, Kind: r.kind, Name: "x"}
		if _, ok := j.kind(newSubject(o, noon)); !ok {
			t.Errorf("%s is not judged on its type", gvk)
		}
	}
}

// fill points every pointer at nothing in particular, and puts one empty thing into
// every list, to some depth.
func fill(v reflect.Value, depth int) {
	if depth > 8 || !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, depth+1)
		}
	}
}

// TestPodsHealthy: of pods in any state, those are Healthy that have completed, or run
// and are ready with nothing in the way; no other ones.
func TestPodsHealthy(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	j := NewEvaluator(noon)
	healthy := 0
	for range 20000 {
		p := anyPod(r)
		h := j.Evaluate(objectOf(t, p))
		if h.Status != Healthy {
			continue
		}
		healthy++
		if p.Status.Phase == corev1.PodSucceeded {
			continue
		}
		for _, c := range p.Status.ContainerStatuses {
			if w := c.State.Waiting; w != nil && (strings.HasSuffix(w.Reason, "BackOff") || strings.HasPrefix(w.Reason, "Err")) {
				t.Fatalf("%v with a container in %s", h, w.Reason)
			}
		}
		if p.Status.Phase != corev1.PodRunning || !podSaid(p, corev1.PodReady).yes() || podSaid(p, corev1.DisruptionTarget).yes() {
			t.Fatalf("%v of %v", h, p.Status)
		}
	}
	if healthy < 100 {
		t.Errorf("only %d were Healthy", healthy)
	}
}

func anyPod(r *rand.Rand) *corev1.Pod {
	pick := func(options ...string) string { return options[r.IntN(len(options))] }
	p := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
	p.Spec.RestartPolicy = corev1.RestartPolicy(pick("Always", "Never", "OnFailure", ""))
	p.Spec.NodeName = pick("", "n1", "n1")
	p.Spec.Containers = []corev1.Container{{Name: "app"}}
	p.Status.Phase = corev1.PodPhase(pick("", "Pending", "Running", "Running", "Running", "Succeeded", "Failed", "Unknown", "Odd"))
	for _, kind := range []string{"PodScheduled", "ContainersReady", "Ready", "DisruptionTarget"} {
		if status := pick("", "True", "False", "Unknown"); status != "" {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodConditionType(kind), Status: corev1.ConditionStatus(status)})
		}
	}
	for i := range r.IntN(3) {
		c := corev1.ContainerStatus{Name: fmt.Sprint("c", i), Ready: r.IntN(2) == 0, RestartCount: int32(r.IntN(3))}
		switch r.IntN(4) {
		case 0:
			c.State.Waiting = &corev1.ContainerStateWaiting{Reason: pick("", "ContainerCreating", "CrashLoopBackOff", "ErrImagePull")}
		case 1:
			c.State.Running = &corev1.ContainerStateRunning{}
		case 2:
			c.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: int32(r.IntN(2))}
		}
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, c)
	}
	return p
}

// TestReplicasHealthy: whatever the counts, a Deployment, StatefulSet or ReplicaSet is
// Healthy if all replicas that are wanted are there, available, and no others.
func TestReplicasHealthy(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	j := NewEvaluator(noon)
	healthy := 0
	for range 20000 {
		n := func() int32 { return int32(r.IntN(3)) }
		wanted, replicas, updated, ready, available := n(), n(), n(), n(), n()
		d := &appsv1.Deployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}}
		d.Spec.Replicas = &wanted
		d.Status = appsv1.DeploymentStatus{Replicas: replicas, UpdatedReplicas: updated, ReadyReplicas: ready, AvailableReplicas: available}
		d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: "True"}}
		rs := &appsv1.ReplicaSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"}}
		rs.Spec.Replicas = &wanted
		rs.Status = appsv1.ReplicaSetStatus{Replicas: replicas, FullyLabeledReplicas: updated, ReadyReplicas: ready, AvailableReplicas: available}
		set := &appsv1.StatefulSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"}}
		set.Spec.Replicas, set.Spec.MinReadySeconds = &wanted, 1
		set.Status = appsv1.StatefulSetStatus{Replicas: replicas, UpdatedReplicas: updated, ReadyReplicas: ready, AvailableReplicas: available}

		all := replicas == wanted && (wanted == 0 || min(updated, ready, available) >= wanted)
		for _, o := range []object.Object{objectOf(t, d), objectOf(t, rs), objectOf(t, set)} {
			h := j.Evaluate(o)
			if (h.Status == Healthy) != all {
				t.Fatalf("%s: %v of %d wanted, %d there, %d updated, %d ready, %d available", o.Kind, h, wanted, replicas, updated, ready, available)
			}
			if h.Status == Healthy {
				healthy++
			}
		}
	}
	if healthy < 100 {
		t.Errorf("only %d were Healthy", healthy)
	}
}

// BenchmarkKinds judges 10,000 objects of all fixtures, as types.
func BenchmarkKinds(b *testing.B) {
	fixtures := kindFixtures(b)
	j := NewEvaluator(noon)
	for b.Loop() {
		for i := range 10000 {
			j.Evaluate(fixtures[i%len(fixtures)].typed)
		}
	}
}
