package install

import (
	"cmp"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-sysop/kubectl-sysop/internal/restored"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
)

// maxNamed limits how many pods of a StatefulSet are named in permissions.
const maxNamed = 16

// ordered adds the deletion of pods of restored StatefulSets with ordered pods: a pod that crashes
// with the undone revision blocks the rollback.
func (r *rightsOfRun) ordered(live *LiveRelease, namespace string) {
	for _, record := range live.Records {
		for _, u := range record.Objects {
			set, ok := restored.Ordered(u)
			if !ok {
				continue
			}
			set.Namespace = cmp.Or(set.Namespace, namespace)
			r.AddAll(permission.DeletePods(set.Namespace, r.pods(set)...)...)
		}
	}
}

// pods returns the names of the pods of a StatefulSet; none if there are too many, or if another
// manager sets the replicas.
func (r *rightsOfRun) pods(set *appsv1.StatefulSet) []string {
	replicas, start := int32(1), int32(0)
	if set.Spec.Replicas != nil {
		replicas = *set.Spec.Replicas
	}
	if set.Spec.Ordinals != nil {
		start = set.Spec.Ordinals.Start
	}
	ref := object.Ref{Group: statefulSetKind.Group, Kind: statefulSetKind.Kind, Namespace: set.Namespace, Name: set.Name}
	if live, ok := r.state.Objects[ref]; ok {
		if set, ok := restored.Ordered(live); ok && set.Spec.Replicas != nil {
			replicas = max(replicas, *set.Spec.Replicas)
		}
	}
	if replicas > maxNamed {
		return nil
	}
	var out []string
	for n := range max(replicas, 1) {
		out = append(out, fmt.Sprintf("%s-%d", set.Name, start+n))
	}
	return out
}

// recoverOrdered is ordered for releases that recovery rolls back, of which only references are
// known.
func (r *rightsOfRun) recoverOrdered(a RecoveryAct) {
	if a.Verb != RecoverRollback {
		return
	}
	for _, ref := range a.Objects {
		if ref.GroupKind() == statefulSetKind {
			r.AddAll(permission.DeletePods(cmp.Or(ref.Namespace, a.Release.Namespace))...)
		}
	}
}
