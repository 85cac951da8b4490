package restored

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
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

var (
	podKind         = schema.GroupKind{Kind: "Pod"}
	statefulSetKind = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}
)

// unstick deletes the pods that block the rollback of StatefulSets, until all sets have rolled
// back or the time is over. It returns the pods that it could not delete.
//
// An OrderedReady StatefulSet waits for a pod that is not Ready before it replaces any pod. So a
// pod that crashes with the undone revision is never replaced by one of the restored revision
// (kubernetes/kubernetes#67250). Kubernetes documents the workaround: delete that pod.
func (i *Inspector) unstick(ctx context.Context, refs []object.Ref, r *Report, timeout time.Duration) (stuck []object.Ref) {
	began, denied := time.Now(), map[types.UID]bool{}
	for {
		now, settled := i.unstickOnce(ctx, refs, r, denied)
		if ctx.Err() == nil || len(now) > 0 {
			stuck = now // the list was not read
		}
		if settled && ctx.Err() == nil || time.Since(began) > timeout {
			return stuck
		}
		select {
		case <-ctx.Done():
			return stuck
		case <-time.After(i.poll()):
		}
	}
}

// unstickOnce deletes the pods that are stuck now. A pod whose deletion is denied is tried once.
// settled reports that no set is still rolling back.
func (i *Inspector) unstickOnce(ctx context.Context, refs []object.Ref, r *Report, denied map[types.UID]bool) (stuck []object.Ref, settled bool) {
	pods, settled := i.waitedFor(ctx, refs)
	for n := range pods {
		ref := object.Ref{Kind: "Pod", Namespace: pods[n].Namespace, Name: pods[n].Name}
		if denied[pods[n].UID] {
			stuck = append(stuck, ref)
			continue
		}
		switch err := i.Objects.Delete(ctx, ref, pods[n].UID); {
		case err == nil:
			r.Deleted = append(r.Deleted, ref)
			set := metav1.GetControllerOf(&pods[n]).Name
			i.Note(fmt.Sprintf("%s is deleted: it is of the revision that was undone and not Ready, and StatefulSet %s, whose pods come in order, waits for it", ref, set))
		case !apierrors.IsNotFound(err) && !apierrors.IsConflict(err):
			denied[pods[n].UID] = apierrors.IsForbidden(err)
			stuck = append(stuck, ref)
		}
	}
	return stuck, settled
}

// Stuck returns the pods that block StatefulSets now: sets among the objects, and sets that one
// of the objects controls (see [Inspector.Inspect]). It deletes nothing.
func (i *Inspector) Stuck(ctx context.Context, refs []object.Ref) []object.Ref {
	pods, _ := i.waitedFor(ctx, refs)
	var out []object.Ref
	for n := range pods {
		out = append(out, object.Ref{Kind: "Pod", Namespace: pods[n].Namespace, Name: pods[n].Name})
	}
	return out
}

// waitedFor reads all sets once. settled reports that none is still rolling back.
func (i *Inspector) waitedFor(ctx context.Context, refs []object.Ref) (pods []corev1.Pod, settled bool) {
	settled = true
	for _, set := range i.orderedSets(ctx, refs) {
		if hasSettled(set) {
			continue
		}
		settled = false
		if set.Status.ObservedGeneration < set.Generation {
			continue // its controller has not observed the new spec yet
		}
		stuck, err := i.stuckPods(ctx, set)
		if err != nil {
			continue // the health report lists it
		}
		pods = append(pods, stuck...)
	}
	return pods, settled
}

// orderedSets returns the OrderedReady StatefulSets among objects, and those that an object,
// such as a custom resource, controls.
func (i *Inspector) orderedSets(ctx context.Context, refs []object.Ref) []*appsv1.StatefulSet {
	var out []*appsv1.StatefulSet
	add := func(u *unstructured.Unstructured) {
		if set, ok := Ordered(u); ok {
			out = append(out, set)
		}
	}
	for _, namespace := range namespacesOf(refs) {
		list := i.statefulSets(ctx, namespace, refs)
		for n := range list {
			if slices.Contains(refs, object.RefOf(&list[n])) || slices.ContainsFunc(refs, controls(&list[n])) {
				add(&list[n])
			}
		}
	}
	return out
}

// statefulSets lists those of a namespace; where list is denied, it gets those of the refs.
func (i *Inspector) statefulSets(ctx context.Context, namespace string, refs []object.Ref) []unstructured.Unstructured {
	list, err := i.Objects.List(ctx, statefulSetKind, namespace)
	if err == nil {
		return list
	}
	for _, ref := range refs {
		if ref.GroupKind() == statefulSetKind && ref.Namespace == namespace {
			if u, err := i.Objects.Get(ctx, ref); err == nil {
				list = append(list, *u)
			}
		}
	}
	return list
}

// namespacesOf returns the namespaces of objects, each once.
func namespacesOf(refs []object.Ref) (out []string) {
	for _, ref := range refs {
		if ref.Namespace != "" && !slices.Contains(out, ref.Namespace) {
			out = append(out, ref.Namespace)
		}
	}
	return out
}

// controls finds the controller of an object.
func controls(o *unstructured.Unstructured) func(object.Ref) bool {
	owner := metav1.GetControllerOf(o)
	return func(ref object.Ref) bool {
		if owner == nil || owner.Name != ref.Name || owner.Kind != ref.Kind || ref.Namespace != "" && ref.Namespace != o.GetNamespace() {
			return false
		}
		gv, err := schema.ParseGroupVersion(owner.APIVersion)
		return err == nil && gv.Group == ref.Group
	}
}

// Ordered returns an object as a StatefulSet with the policy OrderedReady; false for any other
// object.
func Ordered(u *unstructured.Unstructured) (*appsv1.StatefulSet, bool) {
	set := &appsv1.StatefulSet{}
	if u.GroupVersionKind().GroupKind() != statefulSetKind || runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, set) != nil {
		return nil, false
	}
	return set, set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement && set.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType
}

// hasSettled reports that all pods of a set exist, are Ready and of its newest revision.
func hasSettled(set *appsv1.StatefulSet) bool {
	want := int32(1)
	if set.Spec.Replicas != nil {
		want = *set.Spec.Replicas
	}
	s := set.Status
	return s.ObservedGeneration >= set.Generation && s.ReadyReplicas >= want && s.Replicas == want && (s.CurrentRevision == s.UpdateRevision || s.UpdatedReplicas >= want-partition(set))
}

// partition is the ordinal below which pods keep their revision.
func partition(set *appsv1.StatefulSet) int32 {
	if u := set.Spec.UpdateStrategy.RollingUpdate; u != nil && u.Partition != nil {
		return *u.Partition
	}
	return 0
}

// stuckPods returns the pods of a set that are not Ready and not of its wanted revision.
func (i *Inspector) stuckPods(ctx context.Context, set *appsv1.StatefulSet) ([]corev1.Pod, error) {
	list, err := i.Objects.List(ctx, podKind, set.Namespace)
	if err != nil {
		return nil, err
	}
	first := int32(0)
	if set.Spec.Ordinals != nil {
		first = set.Spec.Ordinals.Start
	}
	var out []corev1.Pod
	for n := range list {
		owner := metav1.GetControllerOf(&list[n])
		if owner == nil || owner.UID != set.UID || list[n].GetDeletionTimestamp() != nil {
			continue
		}
		var pod corev1.Pod
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list[n].Object, &pod); err != nil {
			return nil, err
		}
		revision := pod.Labels[appsv1.ControllerRevisionHashLabelKey]
		switch {
		case revision == set.Status.UpdateRevision && !isReady(&pod):
			return nil, nil // The rollout continues: it waits for this pod, which is still starting.
		case revision != "" && revision != set.Status.UpdateRevision && ordinal(&pod)-first >= partition(set) && !isReady(&pod) && lasts(&pod):
			out = append(out, pod)
		}
	}
	return out, nil
}

// briefly is how long a pod may be not Ready before it counts as stuck.
const briefly = 3 * time.Second

// lasts reports that a pod has not been Ready for longer than that.
func lasts(pod *corev1.Pod) bool {
	i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady })
	return i < 0 || time.Since(pod.Status.Conditions[i].LastTransitionTime.Time) > briefly
}

// ordinal is the number at the end of the name of a pod.
func ordinal(pod *corev1.Pod) int32 {
	n, err := strconv.ParseInt(pod.Name[strings.LastIndex(pod.Name, "-")+1:], 10, 32)
	if err != nil {
		return -1
	}
	return int32(n)
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
