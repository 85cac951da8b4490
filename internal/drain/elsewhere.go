package drain

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// Elsewhere says whether the replacements of the evicted pods would find other nodes, all
// together, with the node cordoned. Pods without a controller, and those of Jobs, which
// count an evicted pod as failed, are left out. A new pod is assumed to equal the old one.
func Elsewhere(w *check.ClusterState, d *Outcome) schedule.Result {
	gone := map[object.Ref]bool{}
	var ask []schedule.Pod
	for _, x := range d.Evicted {
		gone[x.Pod] = true
		p, ok := check.Of[*corev1.Pod](w.Facts, x.Pod)
		if !ok || x.Lost || p.Spec.RestartPolicy == corev1.RestartPolicyNever {
			continue
		}
		anew := p.DeepCopy()
		anew.Spec.NodeName, anew.Status, anew.DeletionTimestamp = "", corev1.PodStatus{}, nil
		ask = append(ask, schedule.Pod{Name: x.Pod.String(), Pod: anew})
	}
	c := w.Schedulable(gone)
	for i, n := range c.Nodes {
		if n.Name == d.Node.Name {
			c.Nodes[i] = n.DeepCopy()
			c.Nodes[i].Spec.Unschedulable = true
		}
	}
	return c.Place(ask)
}
