package check

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	volumehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func robustStorageRules() []Rule {
	return []Rule{
		{
			ID: "pod-claim-update", Category: Robustness, Severity: Warning, Guidelines: []Guideline{coreos(7)},
			Title: "A Deployment with a single-node volume can be updated",
			Why:   "A rolling update starts the new pod first. On another node it cannot attach a ReadWriteOnce volume while the old pod has it, and the update hangs.",
			Fix:   "Set spec.strategy.type to Recreate, or use a StatefulSet or a ReadWriteMany volume.",
			Stack: robustClaimUpdate,
		},
		{
			ID: "claim-node", Category: Robustness, Severity: Info, Guidelines: []Guideline{coreos(7)},
			Title: "Data is not bound to one node",
			Why:   "A volume that only one node can mount is lost with that node, and its pod cannot run elsewhere.",
			Fix:   "Use storage that other nodes can attach; where the application replicates its data itself, waive the rule.",
			Stack: robustClaimNode,
		},
		{
			ID: "pod-grace", Category: Robustness, Severity: Info, Guidelines: []Guideline{coreos(7)},
			Title: "Pods have time to shut down",
			Why:   "With a grace period of 0 processes are killed at once and lose unwritten data; in a StatefulSet, a second pod of the same name may start beside the first.",
			Fix:   "Leave terminationGracePeriodSeconds at its default, or set the time that the process needs to shut down.",
			Stack: robustGrace,
		},
	}
}

// robustClaimsOf returns the claims that pods of a spec mount, as references. The pod gives
// the namespace, and its name to claims that are made for it.
func robustClaimsOf(p *corev1.PodSpec, namespace, pod string) []object.Ref {
	var out []object.Ref
	for i := range p.Volumes {
		switch v := &p.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			out = append(out, object.Ref{Kind: "PersistentVolumeClaim", Namespace: namespace, Name: v.PersistentVolumeClaim.ClaimName})
		case v.Ephemeral != nil && pod != "":
			out = append(out, object.Ref{Kind: "PersistentVolumeClaim", Namespace: namespace, Name: pod + "-" + v.Name})
		}
	}
	return out
}

// robustClaims returns the claims of a workload's pods that are there and that outlive
// these pods, in order.
func (w *ClusterState) robustClaims(wl *Workload) []*corev1.PersistentVolumeClaim {
	var refs []object.Ref
	for _, p := range wl.Pods {
		refs = append(refs, robustClaimsOf(&p.Spec, p.Namespace, "")...)
	}
	if len(wl.Pods) == 0 && wl.Template != nil {
		refs = robustClaimsOf(&wl.Template.Spec, wl.Ref.Namespace, "")
	}
	slices.SortFunc(refs, object.Compare)
	var out []*corev1.PersistentVolumeClaim
	for _, ref := range slices.Compact(refs) {
		if claim, ok := Of[*corev1.PersistentVolumeClaim](w.Facts, ref); ok {
			out = append(out, claim)
		}
	}
	return out
}

func robustClaimRef(c *corev1.PersistentVolumeClaim) object.Ref {
	return object.Ref{Kind: "PersistentVolumeClaim", Namespace: c.Namespace, Name: c.Name}
}

// robustOneNode says whether a volume is for one node, or one pod, at a time.
func robustOneNode(c *corev1.PersistentVolumeClaim) bool {
	return len(c.Spec.AccessModes) > 0 && !slices.ContainsFunc(c.Spec.AccessModes, func(m corev1.PersistentVolumeAccessMode) bool {
		return m != corev1.ReadWriteOnce && m != corev1.ReadWriteOncePod
	})
}

func robustClaimUpdate(s *Stack, r *Result) {
	for _, wl := range s.ManagedWorkloads() {
		d, ok := wl.Object.(*appsv1.Deployment)
		if !ok || wl.Replicas < 1 {
			continue
		}
		for _, c := range s.World.robustClaims(wl) {
			ref := robustClaimRef(c)
			switch {
			case !robustOneNode(c):
				r.Pass(wl.Ref)
			case wl.Replicas > 1:
				r.AddFinding(Finding{
					Object: wl.Ref, Field: "spec.replicas", Value: fmt.Sprint(wl.Replicas), Related: []object.Ref{ref},
					Message: fmt.Sprintf("all %d replicas mount %s, which is %s: they all run on one node, or some do not run", wl.Replicas, near(ref, wl.Ref), c.Spec.AccessModes[0]),
					Remedy:  "Use a StatefulSet, in which each replica has a claim of its own, or a ReadWriteMany volume.",
				})
			case d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType || robustOldFirst(d):
				r.Pass(wl.Ref)
			case c.Spec.AccessModes[0] == corev1.ReadWriteOnce && s.World.robustBoundTo(c) != "":
				r.Pass(wl.Ref) // The new pod is put on the same node, where the volume is.
			default:
				r.AddFinding(Finding{
					Object: wl.Ref, Field: "spec.strategy.type", Value: string(appsv1.RollingUpdateDeploymentStrategyType), Related: []object.Ref{ref},
					Message: fmt.Sprintf("mounts %s, which is %s: an update starts the new pod before the old one ends, and hangs where that is on another node", near(ref, wl.Ref), c.Spec.AccessModes[0]),
					Patch:   "spec: {strategy: {type: Recreate, rollingUpdate: null}}",
				})
			}
		}
	}
}

// robustOldFirst says whether a rolling update of a single replica may end the old pod
// before the new one is ready: maxUnavailable, rounded down, is not 0.
func robustOldFirst(d *appsv1.Deployment) bool {
	ru := d.Spec.Strategy.RollingUpdate
	if ru == nil || ru.MaxUnavailable == nil {
		return false // 25 % of one is none.
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(ru.MaxUnavailable, 1, false)
	return err == nil && n > 0
}

// robustBoundTo returns the only node that can mount the volume of a claim; empty where
// others can, or where that is not known. That a zone has one node today does not bind a
// volume to that node.
func (w *ClusterState) robustBoundTo(c *corev1.PersistentVolumeClaim) string {
	if c.Spec.VolumeName == "" {
		return ""
	}
	pv, ok := Of[*corev1.PersistentVolume](w.Facts, object.Ref{Kind: "PersistentVolume", Name: c.Spec.VolumeName})
	if !ok || pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil || !w.Read(robustNodeKind, "") {
		return ""
	}
	for _, term := range pv.Spec.NodeAffinity.Required.NodeSelectorTerms {
		for _, e := range term.MatchExpressions {
			if strings.Contains(e.Key, "zone") || strings.Contains(e.Key, "region") {
				return ""
			}
		}
	}
	only := ""
	for _, n := range All[*corev1.Node](w.Facts, "", "Node") {
		if volumehelpers.CheckNodeAffinity(pv, n.Labels) != nil {
			continue
		}
		if only != "" {
			return ""
		}
		only = n.Name
	}
	return only
}

func robustClaimNode(s *Stack, r *Result) {
	nodes := All[*corev1.Node](s.World.Facts, "", "Node")
	if len(nodes) < 2 {
		return // Everything is bound to the only node.
	}
	for _, c := range s.World.replicaGroups(s.ManagedWorkloads()) {
		for _, wl := range c.Workloads {
			for _, claim := range s.World.robustClaims(wl) {
				s.World.claimNode(c, claim, len(nodes), r)
			}
		}
	}
}

func (w *ClusterState) claimNode(c *replicaGroup, claim *corev1.PersistentVolumeClaim, nodes int, r *Result) {
	ref := robustClaimRef(claim)
	pv := object.Ref{Kind: "PersistentVolume", Name: claim.Spec.VolumeName}
	if _, ok := Of[*corev1.PersistentVolume](w.Facts, pv); !ok {
		if claim.Spec.VolumeName != "" {
			r.AddUnread(ref, pv.String())
		}
		return
	}
	on := w.robustBoundTo(claim)
	if on == "" {
		r.Pass(ref)
		return
	}
	f := Finding{
		Object: ref, Field: "spec.volumeName", Value: claim.Spec.VolumeName, Related: []object.Ref{pv, c.Ref, {Kind: "Node", Name: on}},
		Message: fmt.Sprintf("only %s of %d nodes can mount its volume: if that node is lost, the data of %s is lost", on, nodes, near(c.Ref, ref)),
	}
	if c.Replicas < 2 {
		f.Severity = Warning
	} else {
		f.Message += " on it, and has to be rebuilt from the other replicas"
	}
	r.AddFinding(f)
}

func robustGrace(s *Stack, r *Result) {
	for _, wl := range s.ManagedWorkloads() {
		specs := wl.Specs()
		if !wl.IsLongRunning() || len(specs) == 0 {
			continue
		}
		if g := specs[0].TerminationGracePeriodSeconds; g == nil || *g != 0 {
			r.Pass(wl.Ref)
			continue
		}
		f := Finding{
			Object: wl.Ref, Field: wl.specPath() + ".terminationGracePeriodSeconds", Value: "0",
			Message: "its processes are killed without a shutdown signal",
		}
		if wl.Ref.Kind == "StatefulSet" {
			f.Severity = Warning
			f.Message += ", and a second pod of the same name may run beside one that is still terminating"
		}
		r.AddFinding(f)
	}
}
