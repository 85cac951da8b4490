package preflight

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// daemonTaints are those that the controller makes each of its pods tolerate.
var daemonTaints = []corev1.Taint{
	{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute},
	{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute},
	{Key: corev1.TaintNodeDiskPressure, Effect: corev1.TaintEffectNoSchedule},
	{Key: corev1.TaintNodeMemoryPressure, Effect: corev1.TaintEffectNoSchedule},
	{Key: corev1.TaintNodePIDPressure, Effect: corev1.TaintEffectNoSchedule},
	{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule},
}

// daemonSet reads a DaemonSet: a pod for each node that its selector, affinity and
// tolerations take, as its controller chooses them. Whether there is room is no matter to
// the controller.
func (f *evaluation) daemonSet(it *Item) {
	d := typed[appsv1.DaemonSet](f, it)
	if d == nil {
		return
	}
	c := f.newPodSet(it, &d.Spec.Template, 0)
	f.label(c, appsv1.ControllerRevisionHashLabelKey, "foreseen")
	f.replaced(c)
	if d.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
		c.stay()
	}
	f.onNodes(c)
	if c.wanted == 0 && f.World.Read(check.NodeKind, "") {
		f.note("%s would run on no node: none has the labels that it selects and only taints that it tolerates", plain(it.Ref))
	}
}

// onNodes gives the pod set of a DaemonSet the nodes on which it is to run.
func (f *evaluation) onNodes(c *podSet) {
	s := &c.pod.Spec
	for _, t := range daemonTaints {
		tolerate(s, t.Key, t.Effect)
	}
	if s.HostNetwork {
		tolerate(s, corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule)
	}
	var staying []*corev1.Pod
	for _, n := range check.All[*corev1.Node](f.World.Facts, "", "Node") {
		if !daemonRuns(c.pod, n) {
			continue
		}
		if i := slices.IndexFunc(c.kept, func(p *corev1.Pod) bool { return p.Spec.NodeName == n.Name }); i >= 0 {
			staying = append(staying, c.kept[i])
		} else {
			c.nodes = append(c.nodes, n.Name)
		}
	}
	c.kept = staying
	c.wanted = len(c.kept) + len(c.nodes)
}

func daemonRuns(p *corev1.Pod, n *corev1.Node) bool {
	if p.Spec.NodeName != "" && p.Spec.NodeName != n.Name {
		return false
	}
	if ok, err := nodeaffinity.GetRequiredNodeAffinity(p).Match(n); err != nil || !ok {
		return false
	}
	_, tainted := schedule.Untolerated(p, n)
	return !tainted
}

// bind ties a pod to a node as the controller does: by an affinity to the node's name, in place of
// all terms on names.
func bind(p *corev1.Pod, node string) {
	s := &p.Spec
	if s.Affinity == nil {
		s.Affinity = &corev1.Affinity{}
	}
	if s.Affinity.NodeAffinity == nil {
		s.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	s.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchFields: []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
	}}}
}
