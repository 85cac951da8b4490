package check

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	volumehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// NodeTakes reports whether a node takes a pod by its labels and taints, and can mount the pod's
// volumes.
func (w *ClusterState) NodeTakes(n *corev1.Node, p *corev1.Pod) bool {
	if !takesPod(n, p) {
		return false
	}
	for _, ref := range ClaimRefs(&p.Spec, p.Namespace, p.Name) {
		claim, ok := Of[*corev1.PersistentVolumeClaim](w.Facts, ref)
		if !ok {
			continue
		}
		pv, ok := Of[*corev1.PersistentVolume](w.Facts, object.Ref{Kind: "PersistentVolume", Name: claim.Spec.VolumeName})
		if ok && volumehelpers.CheckNodeAffinity(pv, n.Labels) != nil {
			return false
		}
	}
	return true
}

// takesPod reports whether a node is ready, and takes a pod by its labels and taints. Free
// capacity is not checked.
func takesPod(n *corev1.Node, p *corev1.Pod) bool {
	if n.Spec.Unschedulable || n.DeletionTimestamp != nil || !isReadyNode(n) {
		return false
	}
	if _, tainted := schedule.Untolerated(p, n); tainted {
		return false
	}
	ok, err := nodeaffinity.GetRequiredNodeAffinity(p).Match(n)
	return ok && err == nil
}

func isReadyNode(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// ClaimRefs returns the claims that pods of a spec mount, as references. The pod gives the
// namespace, and its name for ephemeral claims.
func ClaimRefs(p *corev1.PodSpec, namespace, pod string) []object.Ref {
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

// Claims returns the existing claims of a workload's pods that outlive these pods, in order.
func (w *ClusterState) Claims(wl *Workload) []*corev1.PersistentVolumeClaim {
	var refs []object.Ref
	for _, p := range wl.Pods {
		refs = append(refs, ClaimRefs(&p.Spec, p.Namespace, "")...)
	}
	if len(wl.Pods) == 0 && wl.Template != nil {
		refs = ClaimRefs(&wl.Template.Spec, wl.Ref.Namespace, "")
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

// ClaimRef is the reference of a claim.
func ClaimRef(c *corev1.PersistentVolumeClaim) object.Ref {
	return object.Ref{Kind: "PersistentVolumeClaim", Namespace: c.Namespace, Name: c.Name}
}

// OnlyNode returns the only node that can mount the volume of a claim; empty where other nodes
// can, or where it is unknown. A zone that has one node today does not bind a volume to that
// node.
func (w *ClusterState) OnlyNode(c *corev1.PersistentVolumeClaim) string {
	if c.Spec.VolumeName == "" {
		return ""
	}
	pv, ok := Of[*corev1.PersistentVolume](w.Facts, object.Ref{Kind: "PersistentVolume", Name: c.Spec.VolumeName})
	if !ok || pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil || !w.Read(NodeKind, "") {
		return ""
	}
	for _, term := range pv.Spec.NodeAffinity.Required.NodeSelectorTerms {
		for _, e := range term.MatchExpressions {
			if strings.Contains(e.Key, "zone") || strings.Contains(e.Key, "region") {
				return ""
			}
		}
	}
	found := ""
	for _, n := range All[*corev1.Node](w.Facts, "", "Node") {
		if volumehelpers.CheckNodeAffinity(pv, n.Labels) != nil {
			continue
		}
		if found != "" {
			return ""
		}
		found = n.Name
	}
	return found
}

// PinningClaim returns a claim that all pods of a workload mount, and that pods on one node alone can
// mount; nil for none. Each pod of a StatefulSet has a claim of its own.
func (w *ClusterState) PinningClaim(wl *Workload) *corev1.PersistentVolumeClaim {
	if wl.Ref.Kind == "StatefulSet" {
		return nil
	}
	for _, c := range w.Claims(wl) {
		if !slices.ContainsFunc(c.Spec.AccessModes, IsSharable) {
			return c
		}
	}
	return nil
}

// IsSharable reports whether pods on several nodes can mount a claim with this mode.
func IsSharable(mode corev1.PersistentVolumeAccessMode) bool {
	return mode == corev1.ReadWriteMany || mode == corev1.ReadOnlyMany
}
