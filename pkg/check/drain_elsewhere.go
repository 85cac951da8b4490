package check

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// Elsewhere foresees whether what takes the place of the evicted pods would find other
// nodes, all of it together, with the node cordoned. Pods that nobody makes anew, and those
// of Jobs, which count an evicted pod as failed, are not asked for. It is taken that a new
// pod is as the old one was.
func (w *ClusterState) Elsewhere(d *Drain) schedule.Result {
	gone := map[object.Ref]bool{}
	var ask []schedule.Pod
	for _, x := range d.Evicted {
		gone[x.Pod] = true
		p, ok := Of[*corev1.Pod](w.Facts, x.Pod)
		if !ok || x.Lost || p.Spec.RestartPolicy == corev1.RestartPolicyNever {
			continue
		}
		ask = append(ask, elsewherePod(p))
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

// elsewherePod is a pod as it would be made anew.
func elsewherePod(p *corev1.Pod) schedule.Pod {
	anew := p.DeepCopy()
	anew.Spec.NodeName, anew.Status, anew.DeletionTimestamp = "", corev1.PodStatus{}, nil
	out := schedule.Pod{Name: podRef(p).String(), Group: podRef(p).String(), Pod: anew}
	owner := metav1.GetControllerOfNoCopy(p)
	if owner == nil || owner.Kind != "ReplicaSet" {
		return out // Each has a name, and may have claims, of its own.
	}
	for i := range p.Spec.Volumes {
		if p.Spec.Volumes[i].Ephemeral != nil {
			return out
		}
	}
	out.Group = p.Namespace + "/" + string(owner.UID)
	return out
}
