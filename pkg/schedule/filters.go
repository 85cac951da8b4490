package schedule

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
)

// rejection is why a node does not pass a filter. The message is empty where it has to be
// written for the node.
type rejection struct {
	reason, message string
	// dim is the dimension of which a node has not enough, plus one.
	dim int
}

// passes is the rejection of a node that passes.
var passes = rejection{}

const (
	reasonName     = "NodeName"
	reasonSelector = "NodeSelector"
	reasonCordon   = "Cordoned"
	reasonTaint    = "Taint"
	reasonPort     = "Port"
	reasonDisk     = "DiskConflict"
	reasonClaim    = "ClaimInUse"
	reasonVolume   = "NoVolume"
	reasonLabel    = "TopologyLabel"
	reasonAnti     = "AntiAffinity"
	reasonAffinity = "Affinity"
	reasonSpread   = "Spread"
)

// filterNode runs the filters that depend on a node alone, not on its pods. Labels come first,
// unlike in the scheduler: a node that the pod does not select is out, whatever its taints.
func (g *clusterState) filterNode(c *candidate, n int) rejection {
	node, direct := g.nodes[n], c.bypasses()
	if c.foreign {
		return passes
	}
	if direct && c.pod.Spec.NodeName != node.Name {
		return rejection{reason: reasonName, message: "the pod is for node " + c.pod.Spec.NodeName}
	}
	// A term that is not valid matches nothing, as in the scheduler.
	if selected, _ := c.required.Match(node); !selected {
		return rejection{reason: reasonSelector}
	}
	if !direct && node.Spec.Unschedulable && !toleratesCordon(c.pod) {
		return rejection{reason: reasonCordon, message: "the node is cordoned"}
	}
	if taint, ok := Untolerated(c.pod, node); ok && (!direct || taint.Effect == corev1.TaintEffectNoExecute) {
		return rejection{reason: reasonTaint}
	}
	if direct {
		return passes
	}
	if r := g.filterVolumes(c, node); r != passes {
		return r
	}
	if key := missingKey(c.spread, node); key != "" {
		return rejection{reason: reasonLabel, message: "lacks label " + key + " of its topology spread constraint"}
	}
	for _, t := range c.affinity {
		if _, ok := node.Labels[t.key]; !ok {
			return rejection{reason: reasonLabel, message: "lacks the topology label of its pod affinity"}
		}
	}
	return passes
}

// isIntended says that a rejection is not about labels and taints: the node is meant for the
// pod.
func (r rejection) isIntended() bool { return reached(r.reason) == 2 }

// Untolerated returns the first taint that keeps a pod off a node.
func Untolerated(pod *corev1.Pod, node *corev1.Node) (corev1.Taint, bool) {
	return schedulinghelpers.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, pod.Spec.Tolerations, func(t *corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	}, false)
}

func toleratesCordon(pod *corev1.Pod) bool {
	return schedulinghelpers.TolerationsTolerateTaint(klog.Background(), pod.Spec.Tolerations, &corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}, false)
}

// podFilter runs the filters that depend on the pods of nodes: what the scheduler computes once for
// a pod (PreFilter), and then compares with each node.
type podFilter struct {
	o        *occupancy
	k        *class
	inUse    bool
	closed   []closedDomains
	affinity *affinityCounts
	spread   []spreadCounts
}

func (o *occupancy) podFilter(k *class) *podFilter {
	f := &podFilter{o: o, k: k}
	if k.foreign || k.bypasses() {
		return f
	}
	f.inUse = slices.ContainsFunc(k.single, func(key string) bool {
		return slices.ContainsFunc(o.inNamespace[k.pod.Namespace], func(b *boundPod) bool { return usesClaim(b.pod, key) })
	})
	f.closed = o.closedDomains(k.candidate)
	f.affinity = o.affinityCounts(k.candidate)
	if !o.certain {
		f.spread = o.spreadCounts(k)
	}
	return f
}

func (f *podFilter) filter(n int) rejection {
	for _, p := range f.o.onNode[n] {
		switch {
		case len(f.k.ports) > 0 && portsClash(f.k.ports, hostPorts(p)):
			return rejection{reason: reasonPort, message: "a port of the node is taken: " + portWords(f.k.ports)}
		case len(f.k.disks) > 0 && disksClash(f.k.disks, disksOf(p)):
			return rejection{reason: reasonDisk, message: "a disk that it uses is in use there"}
		}
	}
	if k, ok := f.o.shortage(f.k.candidate, n); ok {
		return rejection{reason: f.o.dims[k].reason, dim: k + 1}
	}
	if f.inUse {
		return rejection{reason: reasonClaim}
	}
	for i := range f.closed {
		c := &f.closed[i]
		if d := c.topology.domain[n]; d >= 0 && c.closed[d] {
			return rejection{reason: reasonAnti, message: c.message}
		}
	}
	if f.affinity != nil && !f.affinity.passes(n) {
		return rejection{reason: reasonAffinity, message: "no pod that its affinity requires runs there"}
	}
	for i := range f.spread {
		if !f.spread[i].passes(n) {
			return rejection{reason: reasonSpread, message: "the topology spread constraint would not hold"}
		}
	}
	return passes
}

// rejections returns for each node why it does not take the pod.
func (f *podFilter) rejections() []rejection {
	out := make([]rejection, len(f.o.nodes))
	for n := range out {
		if out[n] = f.o.filterNode(f.k.candidate, n); out[n] == passes {
			out[n] = f.filter(n)
		}
	}
	return out
}

// shortage returns the first dimension of which a node has too little for a candidate.
func (o *occupancy) shortage(c *candidate, n int) (dim int, ok bool) {
	free := o.free[n*len(o.dims):]
	for k, v := range c.want {
		if v > 0 && v > free[k] {
			return k, true
		}
	}
	return 0, false
}

// room is how many pods like a candidate a node has room for, and the dimension that ends.
func (o *occupancy) room(c *candidate, n int) (count int64, dim int) {
	free := o.free[n*len(o.dims):]
	count = 1 << 40
	for k, v := range c.want {
		if v > 0 && max(0, free[k])/v < count {
			count, dim = max(0, free[k])/v, k
		}
	}
	return count, dim
}
