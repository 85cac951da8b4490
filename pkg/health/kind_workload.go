package health

import (
	"fmt"
	"math"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func workloadKinds() []kindRule {
	return []kindRule{
		typed("apps", "v1", "Deployment", deploymentHealth),
		typed("apps", "v1", "ReplicaSet", replicaSetHealth),
		typed("apps", "v1", "StatefulSet", statefulSetHealth),
		typed("apps", "v1", "DaemonSet", daemonSetHealth),
		typed("", "v1", "ReplicationController", replicationControllerHealth),
	}
}

// Reasons of workloads; the reasons of their conditions take precedence.
const (
	rollingOut   = "RollingOut"
	scaling      = "Scaling"
	notAvailable = "ReplicasNotAvailable"
	available    = "ReplicasAvailable"
	// scaledToZero is Healthy, for every kind: nothing is desired, and nothing exists. Autoscalers
	// and operators scale workloads to zero, and no field distinguishes that from a manual stop.
	// kstatus and Argo CD treat it the same way.
	scaledToZero = "ScaledToZero"
	// scaledDown: its owner does not need it, as for an old revision.
	scaledDown = "ScaledDown"
)

// deploymentHealth checks in this order: is the rollout stuck, is it complete, and are the replicas
// available.
func deploymentHealth(s *subject, d *appsv1.Deployment) Health {
	if h, stale := s.stale(d.Status.ObservedGeneration); stale {
		return h
	}
	have, wanted := d.Status, desired(d.Spec.Replicas)
	progress := find(have.Conditions, appsv1.DeploymentProgressing, saidOfDeployment)
	count := fmt.Sprintf("%d/%d replicas available", have.AvailableReplicas, wanted)
	if d.Spec.Paused {
		// A completed rollout keeps its condition, so a pause only shows in the spec.
		return newHealth(Suspended, time.Time{}, "DeploymentPaused", "its rollouts are paused; %s", count)
	}
	if failure := find(have.Conditions, appsv1.DeploymentReplicaFailure, saidOfDeployment); failure.yes() {
		return failure.as(Degraded, "ReplicaFailure", count)
	}
	if progress.no() {
		// ProgressDeadlineExceeded, or ReplicaSetCreateError.
		return newHealth(Degraded, progress.since, or(progress.reason, "NoProgress"), "%s; %s", count, or(progress.message, "the rollout made no progress"))
	}
	moving := func(reason, format string, args ...any) Health {
		return newHealth(Progressing, progress.since, reason, format, args...)
	}
	switch {
	case wanted == 0 && have.Replicas == 0:
		return s.atZero()
	case have.Replicas < wanted:
		return moving(scaling, "%d/%d replicas created", have.Replicas, wanted)
	case have.UpdatedReplicas < wanted:
		return moving(rollingOut, "%d/%d replicas updated", have.UpdatedReplicas, wanted)
	case have.Replicas > wanted:
		return moving(scaling, "%d replicas too many still run", have.Replicas-wanted)
	}
	return deploymentAvailability(s, d, progress, count)
}

// deploymentAvailability evaluates a Deployment whose replicas are all of the newest template.
func deploymentAvailability(s *subject, d *appsv1.Deployment, progress stated, count string) Health {
	up := find(d.Status.Conditions, appsv1.DeploymentAvailable, saidOfDeployment)
	// Without a deadline no controller updates the condition.
	watched := d.Spec.ProgressDeadlineSeconds != nil && *d.Spec.ProgressDeadlineSeconds != math.MaxInt32
	done := progress.yes() && progress.reason == "NewReplicaSetAvailable"
	enough := d.Status.AvailableReplicas >= desired(d.Spec.Replicas) && d.Status.ReadyReplicas >= desired(d.Spec.Replicas)
	switch {
	case up.no() && (done || !watched):
		// The rollout was complete, and since then replicas were lost or more were requested: the
		// Deployment does not show which. They get as long as a rollout.
		deadline := startTimeout
		if watched {
			deadline = time.Duration(*d.Spec.ProgressDeadlineSeconds) * time.Second
		}
		return newHealth(s.progressingUntil(up.since, deadline), up.since, or(up.reason, notAvailable), "%s", count)
	case !enough:
		return newHealth(Progressing, progress.since, notAvailable, "%s", count)
	case watched && !done:
		return newHealth(Progressing, progress.since, rollingOut, "%s, and the rollout is not complete", count)
	case !up.yes():
		return newHealth(Progressing, up.since, notAvailable, "%s, and it does not report that it is available", count)
	}
	return newHealth(Healthy, up.since, available, "%s", count)
}

func replicaSetHealth(s *subject, r *appsv1.ReplicaSet) Health {
	if h, stale := s.stale(r.Status.ObservedGeneration); stale {
		return h
	}
	failure := find(r.Status.Conditions, appsv1.ReplicaSetReplicaFailure, saidOfReplicaSet)
	have := r.Status
	return s.replicas(failure, desired(r.Spec.Replicas), have.Replicas, min(have.ReadyReplicas, have.AvailableReplicas, have.FullyLabeledReplicas))
}

func replicationControllerHealth(s *subject, r *corev1.ReplicationController) Health {
	if h, stale := s.stale(r.Status.ObservedGeneration); stale {
		return h
	}
	failure := find(r.Status.Conditions, corev1.ReplicationControllerReplicaFailure, saidOfController)
	have := r.Status
	return s.replicas(failure, desired(r.Spec.Replicas), have.Replicas, min(have.ReadyReplicas, have.AvailableReplicas, have.FullyLabeledReplicas))
}

// replicas evaluates a controller that only maintains a number of pods. It does not record since
// when it has too few; the pods do.
func (s *subject) replicas(failure stated, wanted, have, good int32) Health {
	count := fmt.Sprintf("%d/%d replicas available", good, wanted)
	switch {
	case failure.yes():
		return failure.as(Degraded, "ReplicaFailure", count)
	case have > wanted:
		return newHealth(Progressing, time.Time{}, scaling, "%d replicas too many still run", have-wanted)
	case wanted == 0:
		return s.atZero()
	case have < wanted:
		return newHealth(Progressing, time.Time{}, scaling, "%d/%d replicas created", have, wanted)
	case good < wanted:
		return newHealth(Progressing, time.Time{}, notAvailable, "%s", count)
	}
	return newHealth(Healthy, time.Time{}, available, "%s", count)
}

// statefulSetHealth evaluates counts and revisions: the controller writes no conditions, so a
// StatefulSet never reports that it is stuck. Its pods do.
func statefulSetHealth(s *subject, set *appsv1.StatefulSet) Health {
	if h, stale := s.stale(set.Status.ObservedGeneration); stale {
		return h
	}
	have, wanted := set.Status, desired(set.Spec.Replicas)
	good := have.ReadyReplicas
	if set.Spec.MinReadySeconds > 0 {
		good = min(good, have.AvailableReplicas)
	}
	switch {
	case wanted == 0 && have.Replicas == 0:
		return s.atZero()
	case have.Replicas < wanted:
		return newHealth(Progressing, time.Time{}, scaling, "%d/%d replicas created", have.Replicas, wanted)
	case have.Replicas > wanted:
		return newHealth(Progressing, time.Time{}, scaling, "%d replicas too many still run", have.Replicas-wanted)
	case good < wanted:
		return newHealth(Progressing, time.Time{}, notAvailable, "%d/%d replicas available", good, wanted)
	}
	return statefulSetRevision(set, wanted, good)
}

// statefulSetRevision evaluates whether the replicas of a complete StatefulSet have the revision
// that they should have.
func statefulSetRevision(set *appsv1.StatefulSet, wanted, good int32) Health {
	have := set.Status
	count := fmt.Sprintf("%d/%d replicas available", good, wanted)
	same := have.CurrentRevision == have.UpdateRevision
	if set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		if old := have.Replicas - have.UpdatedReplicas; old > 0 && !same {
			// That is what OnDelete means: the user deletes the pods.
			return newHealth(Healthy, time.Time{}, "UpdateOnDelete", "%s; %d are of an older revision until they are deleted", count, old)
		}
		return newHealth(Healthy, time.Time{}, available, "%s", count)
	}
	unchanged := int32(0)
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.Partition != nil {
		unchanged = min(max(*rolling.Partition, 0), wanted)
	}
	switch {
	case have.UpdatedReplicas < wanted-unchanged:
		return newHealth(Progressing, time.Time{}, rollingOut, "%d/%d replicas updated", have.UpdatedReplicas, wanted-unchanged)
	case !same && unchanged == 0:
		return newHealth(Progressing, time.Time{}, rollingOut, "%s, and the rollout of %s is not complete", count, have.UpdateRevision)
	case !same:
		return newHealth(Healthy, time.Time{}, "PartitionedRollout", "%s; the partition keeps %d at the older revision", count, have.Replicas-have.UpdatedReplicas)
	}
	return newHealth(Healthy, time.Time{}, available, "%s", count)
}

func daemonSetHealth(s *subject, d *appsv1.DaemonSet) Health {
	if h, stale := s.stale(d.Status.ObservedGeneration); stale {
		return h
	}
	have, wanted := d.Status, d.Status.DesiredNumberScheduled
	good := min(have.NumberReady, have.NumberAvailable)
	count := fmt.Sprintf("%d/%d pods available", good, wanted)
	onDelete := d.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType
	switch {
	case have.ObservedGeneration == 0:
		return newHealth(Progressing, s.createdAt(), ReasonNotObserved, "its controller has not processed it yet")
	case have.CurrentNumberScheduled < wanted:
		return newHealth(Progressing, time.Time{}, scaling, "%d/%d nodes have a pod", have.CurrentNumberScheduled, wanted)
	case have.UpdatedNumberScheduled < wanted && !onDelete:
		return newHealth(Progressing, time.Time{}, rollingOut, "%d/%d pods updated", have.UpdatedNumberScheduled, wanted)
	case good < wanted:
		return newHealth(Progressing, time.Time{}, notAvailable, "%s", count)
	case have.UpdatedNumberScheduled < wanted:
		return newHealth(Healthy, time.Time{}, "UpdateOnDelete", "%s; %d are of an older revision until they are deleted", count, wanted-have.UpdatedNumberScheduled)
	case have.NumberMisscheduled > 0:
		return newHealth(Healthy, time.Time{}, available, "%s; %d run where they should not", count, have.NumberMisscheduled)
	case wanted == 0:
		// A cluster may have no such node: no GPU, no Windows.
		return newHealth(Healthy, time.Time{}, "NoNodes", "no node matches it")
	}
	return newHealth(Healthy, time.Time{}, available, "%s", count)
}

// atZero evaluates a workload that should have no replicas, and has none.
func (s *subject) atZero() Health {
	if metav1.GetControllerOfNoCopy(s.Meta) != nil {
		return newHealth(Healthy, time.Time{}, scaledDown, "its owner requests no replicas of it")
	}
	return newHealth(Healthy, time.Time{}, scaledToZero, "no replicas are requested")
}

// desired returns the number of replicas in a spec; 1 by default.
func desired(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return *replicas
}
