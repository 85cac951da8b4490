package preflight

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// grows says by what it is known that the cluster may get more nodes; empty where nothing
// says so. Proofs that are about the nodes as they are say so too then.
func (f *evaluation) grows() string {
	why := f.autoscaler()
	switch {
	case why != "":
		why = "the cluster may grow: " + why
	case f.Autoscaler:
		why = "the cluster may grow: --assume-autoscaler says so"
	default:
		return ""
	}
	for i := range f.found {
		if j := &f.found[i]; j.Topic == Scheduling && j.Verdict == impossible && len(j.Nodes) > 0 {
			j.Message = "with the current nodes: " + j.Message
		}
	}
	return why
}

func (f *evaluation) autoscaler() string {
	for _, kind := range []string{"NodePool", "Provisioner"} {
		for _, ref := range f.World.Instances(schema.GroupKind{Group: "karpenter.sh", Kind: kind}) {
			return fmt.Sprintf("%s of Karpenter exists", plain(ref))
		}
	}
	status := object.Ref{Kind: "ConfigMap", Namespace: "kube-system", Name: "cluster-autoscaler-status"}
	if is, _ := f.exists(status); is {
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
