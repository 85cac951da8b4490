package restored

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// world is a StatefulSet of two pods in namespace apps as its controller has it after an upgrade
// to revision new whose pod 1 crashes was undone: the pod stays, and the set waits for it.
type world struct {
	set  *appsv1.StatefulSet
	pods []*corev1.Pod
	// denied are verbs that nobody may do, deletes how often a delete was asked for; silent says
	// that it is never answered.
	denied  []string
	deletes int
	silent  bool
}

func newWorld() *world {
	two := int32(2)
	w := &world{set: &appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "db", UID: "of-db", Generation: 3},
		Spec:       appsv1.StatefulSetSpec{Replicas: &two},
		Status:     appsv1.StatefulSetStatus{ObservedGeneration: 3, Replicas: 2, ReadyReplicas: 1, CurrentRevision: "old", UpdateRevision: "old", UpdatedReplicas: 1},
	}}
	for i, revision := range []string{"old", "new"} {
		controller := true
		w.pods = append(w.pods, &corev1.Pod{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "apps", Name: fmt.Sprintf("db-%d", i), UID: types.UID(fmt.Sprintf("of-db-%d", i)),
				Labels:          map[string]string{appsv1.ControllerRevisionHashLabelKey: revision},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db", UID: "of-db", Controller: &controller}},
			},
			Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: map[string]corev1.ConditionStatus{"old": "True", "new": "False"}[revision]}}},
		})
	}
	return w
}

func (w *world) deny(verb string, kind schema.GroupKind) error {
	if slices.Contains(w.denied, verb+" "+kind.Kind) {
		return apierrors.NewForbidden(schema.GroupResource{Resource: kind.Kind}, "", errors.New("no"))
	}
	return nil
}

func content(o any) *unstructured.Unstructured {
	u, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		panic(err)
	}
	return &unstructured.Unstructured{Object: u}
}

func (w *world) Get(_ context.Context, ref object.Ref) (*unstructured.Unstructured, error) {
	if err := w.deny("get", ref.GroupKind()); err != nil {
		return nil, err
	}
	if ref == setRef {
		return content(w.set), nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: ref.Kind}, ref.Name)
}

func (w *world) List(_ context.Context, kind schema.GroupKind, namespace string) (out []unstructured.Unstructured, err error) {
	if err := w.deny("list", kind); err != nil || namespace != "apps" {
		return nil, err
	}
	if kind == statefulSetKind {
		return append(out, *content(w.set)), nil
	}
	for _, p := range w.pods {
		out = append(out, *content(p))
	}
	return out, nil
}

// Delete is followed by the controller, which makes the pod again of the revision that it wants.
func (w *world) Delete(ctx context.Context, ref object.Ref, uid types.UID) error {
	w.deletes++
	if w.silent {
		<-ctx.Done()
		return ctx.Err()
	}
	if err := w.deny("delete", ref.GroupKind()); err != nil {
		return err
	}
	for _, p := range w.pods {
		if p.Name == ref.Name && p.UID == uid {
			p.UID += "-again"
			p.Labels[appsv1.ControllerRevisionHashLabelKey] = w.set.Status.UpdateRevision
			p.Status.Conditions[0].Status = corev1.ConditionTrue
			w.set.Status.ReadyReplicas, w.set.Status.UpdatedReplicas = 2, 2
			return nil
		}
	}
	return apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, ref.Name, errors.New("another UID"))
}

var setRef = object.Ref{Group: "apps", Kind: "StatefulSet", Namespace: "apps", Name: "db"}

func podRef(name string) object.Ref { return object.Ref{Kind: "Pod", Namespace: "apps", Name: name} }

// inspector has the set's status as its gate.
func (w *world) inspector(notes *[]string) *Inspector {
	return &Inspector{
		Objects: w, Poll: time.Millisecond, Note: func(text string) { *notes = append(*notes, text) },
		Gate: func(context.Context, []object.Ref, time.Duration) error {
			if w.set.Status.ReadyReplicas < 2 {
				return errors.New("StatefulSet.apps/apps/db is Degraded (1/2)")
			}
			return nil
		},
	}
}

// Only the pod that a set waits for, of the revision that was undone, is deleted; and none where
// the set does not wait.
func TestUnstick(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*world)
		refs    []object.Ref
		deleted []object.Ref
	}{
		"ordered":          {deleted: []object.Ref{podRef("db-1")}},
		"who may not list": {deleted: []object.Ref{podRef("db-1")}, change: func(w *world) { w.denied = []string{"list StatefulSet"} }},
		"parallel":         {change: func(w *world) { w.set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement }},
		"on delete":        {change: func(w *world) { w.set.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType }},
		"below": {change: func(w *world) {
			two := int32(2)
			w.set.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: &two}
		}},
		"below, by the first ordinal": {change: func(w *world) {
			one := int32(1)
			w.set.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 1} // db-1 is the first one
			w.set.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: &one}
		}},
		"for a moment":          {change: func(w *world) { w.pods[1].Status.Conditions[0].LastTransitionTime = metav1.Now() }},
		"another is on its way": {change: func(w *world) { w.pods[0].Status.Conditions[0].Status = corev1.ConditionFalse }},
		"not of the run":        {refs: []object.Ref{{Kind: "ConfigMap", Namespace: "apps", Name: "a"}}},
		"not looked at yet":     {change: func(w *world) { w.set.Status.ObservedGeneration = 2 }},
		"the wanted one fails":  {change: func(w *world) { w.pods[1].Labels[appsv1.ControllerRevisionHashLabelKey] = "old" }},
		"ready":                 {change: func(w *world) { w.pods[1].Status.Conditions[0].Status = corev1.ConditionTrue }},
		"of another one":        {change: func(w *world) { w.set.UID = "another" }},
		"going already":         {change: func(w *world) { now := metav1.Now(); w.pods[1].DeletionTimestamp = &now }},
		"of an operator": {
			refs: []object.Ref{{Group: "example.com", Kind: "Database", Namespace: "apps", Name: "shop"}}, deleted: []object.Ref{podRef("db-1")},
			change: func(w *world) {
				controller := true
				w.set.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Database", Name: "shop", UID: "x", Controller: &controller}}
			},
		},
	} {
		w := newWorld()
		if c.change != nil {
			c.change(w)
		}
		if c.refs == nil {
			c.refs = []object.Ref{setRef}
		}
		var r Report
		var notes []string
		w.inspector(&notes).unstickOnce(t.Context(), c.refs, &r, map[types.UID]bool{})
		if !slices.Equal(r.Deleted, c.deleted) || len(notes) != len(c.deleted) {
			t.Errorf("%s: deleted %v, want %v; notes %q", name, r.Deleted, c.deleted, notes)
		}
	}
}

// The pod that is in the way goes, with the reason, and the report is Healthy. Where it may not be
// deleted the report says what is not, and the command that helps.
func TestInspect(t *testing.T) {
	for _, cured := range []bool{true, false} {
		w := newWorld()
		says := []string{"what was undone is Healthy"}
		if !cured {
			w.denied = []string{"delete Pod"}
			says = []string{"what was undone is not Healthy: StatefulSet.apps/apps/db is Degraded", "its StatefulSet waits for it (OrderedReady)", "(kubectl delete pod db-1 -n apps)"}
		}
		var notes []string
		r, err := w.inspector(&notes).Inspect(t.Context(), []object.Ref{setRef}, 50*time.Millisecond)
		if err != nil || r.Healthy != cured {
			t.Fatalf("cured %v: %+v %v", cured, r, err)
		}
		for _, word := range says {
			if !strings.Contains(r.Text("what was undone"), word) {
				t.Errorf("cured %v: no %q in %q", cured, word, r.Text("what was undone"))
			}
		}
		if w.deletes != 1 {
			t.Errorf("cured %v: it was asked %d times to delete the pod", cured, w.deletes)
		}
		if told := strings.Join(notes, "\n"); cured != strings.Contains(told, "Pod/apps/db-1 is deleted: it is of the revision that was undone and not Ready") {
			t.Errorf("cured %v: notes %q", cured, told)
		}
	}
}

// An API server that never answers ends no run: the pod is named with its command.
func TestInspectSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.silent = true
		var notes []string
		r, err := w.inspector(&notes).Inspect(t.Context(), []object.Ref{setRef}, time.Minute)
		if err != nil || r.Healthy || !slices.Equal(r.Help, []string{"kubectl delete pod db-1 -n apps"}) {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// Who is interrupted does not know how it is.
func TestInspectInterrupted(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errors.New("interrupted"))
	var notes []string
	if r, err := newWorld().inspector(&notes).Inspect(ctx, []object.Ref{setRef}, time.Minute); err == nil || r.Healthy {
		t.Errorf("%+v, %v", r, err)
	}
}
