package workload

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func storageRules() []check.Rule {
	return []check.Rule{
		{
			ID: "pod-claim-update", Category: check.Robustness, Severity: check.Warning, Guidelines: []check.Guideline{check.CoreOSGuideline(7)},
			Title: "A Deployment with a single-node volume can be updated",
			Why:   "A rolling update starts the new pod first. On another node it cannot attach a ReadWriteOnce volume while the old pod has it, and the update hangs.",
			Fix:   "Set spec.strategy.type to Recreate, or use a StatefulSet or a ReadWriteMany volume.",
			Stack: claimUpdate,
		},
		{
			ID: "claim-node", Category: check.Robustness, Severity: check.Info, Guidelines: []check.Guideline{check.CoreOSGuideline(7)},
			Title: "Data is not bound to one node",
			Why:   "A volume that only one node can mount is lost with that node, and its pod cannot run elsewhere.",
			Fix:   "Use storage that other nodes can attach; where the application replicates its data itself, waive the rule.",
			Stack: claimNode,
		},
		{
			ID: "pod-grace", Category: check.Robustness, Severity: check.Info, Guidelines: []check.Guideline{check.CoreOSGuideline(7)},
			Title: "Pods have time to shut down",
			Why:   "With a grace period of 0 processes are killed at once and lose unwritten data; in a StatefulSet, a second pod of the same name may start beside the first.",
			Fix:   "Leave terminationGracePeriodSeconds at its default, or set the time that the process needs to shut down.",
			Stack: grace,
		},
	}
}

// isSingleNode reports whether a volume is for one node, or one pod, at a time.
func isSingleNode(c *corev1.PersistentVolumeClaim) bool {
	return len(c.Spec.AccessModes) > 0 && !slices.ContainsFunc(c.Spec.AccessModes, func(m corev1.PersistentVolumeAccessMode) bool {
		return m != corev1.ReadWriteOnce && m != corev1.ReadWriteOncePod
	})
}

func claimUpdate(s *check.Stack, r *check.Result) {
	for _, wl := range s.ManagedWorkloads() {
		d, ok := wl.Object.(*appsv1.Deployment)
		if !ok || wl.Replicas < 1 {
			continue
		}
		for _, c := range s.World.Claims(wl) {
			ref := check.ClaimRef(c)
			switch {
			case !isSingleNode(c):
				r.Pass(wl.Ref)
			case wl.Replicas > 1:
				r.AddFinding(check.Finding{
					Object: wl.Ref, Field: "spec.replicas", Value: fmt.Sprint(wl.Replicas), Related: []object.Ref{ref},
					Message: fmt.Sprintf("all %d replicas mount %s, which is %s: they all run on one node, or some do not run", wl.Replicas, check.Near(ref, wl.Ref), c.Spec.AccessModes[0]),
					Remedy:  "Use a StatefulSet, in which each replica has a claim of its own, or a ReadWriteMany volume.",
				})
			case d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType || stopsOldFirst(d):
				r.Pass(wl.Ref)
			case c.Spec.AccessModes[0] == corev1.ReadWriteOnce && s.World.OnlyNode(c) != "":
				r.Pass(wl.Ref) // The new pod is put on the same node, which has the volume.
			default:
				r.AddFinding(check.Finding{
					Object: wl.Ref, Field: "spec.strategy.type", Value: string(appsv1.RollingUpdateDeploymentStrategyType), Related: []object.Ref{ref},
					Message: fmt.Sprintf("mounts %s, which is %s: an update starts the new pod before the old one ends, and hangs where that is on another node", check.Near(ref, wl.Ref), c.Spec.AccessModes[0]),
					Patch:   "spec: {strategy: {type: Recreate, rollingUpdate: null}}",
				})
			}
		}
	}
}

// stopsOldFirst reports whether a rolling update of a single replica may end the old pod
// before the new one is ready: maxUnavailable, rounded down, is not 0.
func stopsOldFirst(d *appsv1.Deployment) bool {
	ru := d.Spec.Strategy.RollingUpdate
	if ru == nil || ru.MaxUnavailable == nil {
		return false // 25 % of one is none.
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(ru.MaxUnavailable, 1, false)
	return err == nil && n > 0
}

func claimNode(s *check.Stack, r *check.Result) {
	nodes := check.All[*corev1.Node](s.World.Facts, "", "Node")
	if len(nodes) < 2 {
		return // Everything is bound to the only node.
	}
	for _, c := range s.World.ReplicaGroups(s.ManagedWorkloads()) {
		for _, wl := range c.Workloads {
			for _, claim := range s.World.Claims(wl) {
				claimOnNode(s.World, c, claim, len(nodes), r)
			}
		}
	}
}

func claimOnNode(w *check.ClusterState, c *check.ReplicaGroup, claim *corev1.PersistentVolumeClaim, nodes int, r *check.Result) {
	ref := check.ClaimRef(claim)
	pv := object.Ref{Kind: "PersistentVolume", Name: claim.Spec.VolumeName}
	if _, ok := check.Of[*corev1.PersistentVolume](w.Facts, pv); !ok {
		if claim.Spec.VolumeName != "" {
			r.AddUnread(ref, pv.String())
		}
		return
	}
	on := w.OnlyNode(claim)
	if on == "" {
		r.Pass(ref)
		return
	}
	f := check.Finding{
		Object: ref, Field: "spec.volumeName", Value: claim.Spec.VolumeName, Related: []object.Ref{pv, c.Ref, {Kind: "Node", Name: on}},
		Message: fmt.Sprintf("only %s of %d nodes can mount its volume: if that node is lost, the data of %s is lost", on, nodes, check.Near(c.Ref, ref)),
	}
	if c.Replicas < 2 {
		f.Severity = check.Warning
	} else {
		f.Message += " on it, and has to be rebuilt from the other replicas"
	}
	r.AddFinding(f)
}

func grace(s *check.Stack, r *check.Result) {
	for _, wl := range s.ManagedWorkloads() {
		specs := wl.Specs()
		if !wl.IsLongRunning() || len(specs) == 0 {
			continue
		}
		if g := specs[0].TerminationGracePeriodSeconds; g == nil || *g != 0 {
			r.Pass(wl.Ref)
			continue
		}
		f := check.Finding{
			Object: wl.Ref, Field: wl.SpecPath() + ".terminationGracePeriodSeconds", Value: "0",
			Message: "its processes are killed without a shutdown signal",
		}
		if wl.Ref.Kind == "StatefulSet" {
			f.Severity = check.Warning
			f.Message += ", and a second pod of the same name may run beside one that is still terminating"
		}
		r.AddFinding(f)
	}
}
