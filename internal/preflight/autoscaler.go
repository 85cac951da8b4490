package preflight

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// grows returns the evidence that the cluster may get more nodes; empty for none. Proofs about the
// present nodes mention it then.
func (f *evaluation) grows() string {
	reason := f.autoscaler()
	switch {
	case reason != "":
		reason = "the cluster may grow: " + reason
	case f.Autoscaler:
		reason = "the cluster may grow: --assume-autoscaler says so"
	default:
		return ""
	}
	for i := range f.found {
		if j := &f.found[i]; j.Topic == Scheduling && j.Verdict == impossible && len(j.Nodes) > 0 {
			j.Message = "with the current nodes: " + j.Message
		}
	}
	return reason
}

func (f *evaluation) autoscaler() string {
	for _, kind := range []string{"NodePool", "Provisioner"} {
		for _, ref := range f.World.Instances(schema.GroupKind{Group: "karpenter.sh", Kind: kind}) {
			return fmt.Sprintf("%s of Karpenter exists", plain(ref))
		}
	}
	status := object.Ref{Kind: "ConfigMap", Namespace: "kube-system", Name: "cluster-autoscaler-status"}
	if exists, _ := f.exists(status); exists {
		return fmt.Sprintf("%s exists, the status of cluster-autoscaler", plain(status))
	}
	for _, w := range f.World.Workloads() {
		if slices.ContainsFunc(w.Images(), func(i check.Image) bool { return i.Name() == "cluster-autoscaler" }) {
			return fmt.Sprintf("%s runs cluster-autoscaler", plain(w.Ref))
		}
	}
	for _, n := range check.All[*corev1.Node](f.World.Facts, "", "Node") {
		if pool, ok := n.Labels["karpenter.sh/nodepool"]; ok {
			return fmt.Sprintf("Node/%s is of Karpenter's pool %s", n.Name, pool)
		}
	}
	return ""
}
