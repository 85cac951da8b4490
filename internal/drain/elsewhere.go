package drain

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// Elsewhere foresees whether what takes the place of the evicted pods would find other
// nodes, all of it together, with the node cordoned. Pods that nobody makes anew, and those
// of Jobs, which count an evicted pod as failed, are not asked for. It is taken that a new
// pod is as the old one was.
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
