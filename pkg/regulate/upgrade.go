package regulate

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

// upgrade finds what an upgrade of an app changes, and whether one is in progress. It covers the
// roots, the workloads of its own part, and the custom resources above these. It leaves out
// pods, ReplicaSets, Jobs and custom resources that represent a run, which come and go by
// themselves.
func (o *stateObserver) upgrade(a *observed) {
	a.state.Fingerprint = map[string]string{}
	for _, id := range o.versioned(a) {
		ref := o.Graph.Ref(id)
		f, _ := o.Facts.factOf(ref)
		if text := o.fingerprint(id, f); text != "" {
			a.state.Fingerprint[ref.String()] = text
		}
		// a paused operator observes nothing
		if f.rollout != "" && a.state.Rollout == "" && o.Health.OwnHealth(id).Status != health.Suspended {
			a.state.Rollout = ref.String() + ": " + f.rollout
		}
	}
}

// The labels that say which version an object is of.
var versionLabels = []string{"app.kubernetes.io/version", "helm.sh/chart"}

func (o *stateObserver) fingerprint(id graph.ID, f fact) string {
	parts := slices.Clone(f.versions)
	for _, key := range versionLabels {
		if v, ok := o.Graph.Label(id, key); ok {
			parts = append(parts, key+"="+v)
		}
	}
	if f.print != "" {
		parts = append(parts, "spec="+f.print)
	}
	return strings.Join(parts, ", ")
}

// versioned returns the objects of an app that an upgrade changes, in order.
func (o *stateObserver) versioned(a *observed) []graph.ID {
	set := map[graph.ID]bool{}
	for _, id := range a.roots {
		set[id] = true
	}
	next := []graph.ID{}
	for _, id := range a.own {
		if isWorkload(o.Graph.Ref(id).GroupKind()) && o.Graph.State(id) == graph.Present {
			set[id] = true
			next = append(next, id)
		}
	}
	for len(next) > 0 {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		for _, owner := range o.Graph.OwnersOf(at) {
			if current, in := o.owner(owner); !set[owner] && in && current == a && o.Graph.State(owner) == graph.Present {
				set[owner] = true
				next = append(next, owner)
			}
		}
	}
	var out []graph.ID
	for _, id := range a.own {
		if set[id] {
			out = append(out, id)
		}
	}
	return out
}

// rollingDeployment reports that pods of an older template exist. Pods that scaling up adds do
// not count, and a paused Deployment is not rolling.
func rollingDeployment(d *appsv1.Deployment) string {
	switch s := d.Status; {
	case d.Spec.Paused:
	case s.ObservedGeneration < d.Generation:
		return behind(d.Generation, s.ObservedGeneration)
	case s.UpdatedReplicas < s.Replicas:
		return fmt.Sprintf("%d of %d replicas updated", s.UpdatedReplicas, s.Replicas)
	}
	return ""
}

// rollingStatefulSet is the same for a StatefulSet: pods below the partition stay as they are,
// and with OnDelete all of them until they are deleted.
func rollingStatefulSet(set *appsv1.StatefulSet) string {
	s, want := set.Status, set.Status.Replicas
	if u := set.Spec.UpdateStrategy; u.RollingUpdate != nil && u.RollingUpdate.Partition != nil {
		want = max(0, want-*u.RollingUpdate.Partition)
	}
	switch {
	case s.ObservedGeneration < set.Generation:
		return behind(set.Generation, s.ObservedGeneration)
	case set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType, s.CurrentRevision == s.UpdateRevision:
	case s.UpdatedReplicas < want:
		return fmt.Sprintf("%d of %d replicas updated", s.UpdatedReplicas, want)
	}
	return ""
}

func rollingDaemonSet(d *appsv1.DaemonSet) string {
	switch s := d.Status; {
	case s.ObservedGeneration < d.Generation:
		return behind(d.Generation, s.ObservedGeneration)
	case d.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType:
	case s.UpdatedNumberScheduled < s.CurrentNumberScheduled:
		return fmt.Sprintf("%d of %d pods updated", s.UpdatedNumberScheduled, s.CurrentNumberScheduled)
	}
	return ""
}

func behind(newest, seen int64) string {
	return fmt.Sprintf("generation %d, and its controller has seen %d", newest, seen)
}
