package schedule

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// code is why a node does not take a pod, whatever else is placed; the filters in the order
// in which the scheduler runs them, but for labels, which come first: a node that is not
// meant is out for that, whatever taints it has.
type code uint8

const (
	suits code = iota
	byName
	bySelector
	byCordon
	byTaint
	byPort
	byRoom // and byRoom+1 ... : the dimension
)

const (
	byDisk code = 200 + iota
	byClaimUse
	byVolume
	byVolumeNode
	byVolumeTopology
	byCapacity
	byZone
	bySpreadKey
	byAffinityKey
	byAnti
	byTheirAnti
)

// shut says that a node is not meant for a pod, by labels or taints.
func (c code) shut() bool { return c >= byName && c <= byTaint }

func room(dim int) code { return byRoom + code(min(dim, 180)) }

// reasons name the codes in one word.
func (g *clusterState) reason(c code) string {
	if c >= byRoom && c < byDisk {
		return g.dims[min(int(c-byRoom), len(g.dims)-1)].reason
	}
	return [256]string{
		byCordon: "Cordoned", byName: "NodeName", byTaint: "Taint", bySelector: "NodeSelector", byPort: "Port",
		byDisk: "DiskConflict", byClaimUse: "ClaimInUse", byVolume: "NoVolume", byVolumeNode: "VolumeNodeAffinity",
		byVolumeTopology: "VolumeTopology", byCapacity: "StorageCapacity", byZone: "VolumeZone", bySpreadKey: "TopologyLabel", byAffinityKey: "TopologyLabel",
		byAnti: "AntiAffinity", byTheirAnti: "AntiAffinity",
	}[c]
}

// untolerated returns the first taint that keeps a pod off a node.
func untolerated(pod *corev1.Pod, node *corev1.Node) (corev1.Taint, bool) {
	return schedulinghelpers.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, pod.Spec.Tolerations, func(t *corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	}, false)
}

// ofNode says why a node does not take a pod, by what is written in the two alone. A pod
// that names its node is not seen by the scheduler: its kubelet looks at fewer things.
func (g *clusterState) ofNode(pod *corev1.Pod, required nodeaffinity.RequiredNodeAffinity, n int) code {
	node := g.nodes[n]
	direct := pod.Spec.NodeName != ""
	switch {
	case direct && pod.Spec.NodeName != node.Name:
		return byName
	case !selected(required, node):
		return bySelector
	case !direct && node.Spec.Unschedulable && !toleratesCordon(pod):
		return byCordon
	}
	if taint, ok := untolerated(pod, node); ok && (!direct || taint.Effect == corev1.TaintEffectNoExecute) {
		return byTaint
	}
	return suits
}

// selected ignores errors, as the scheduler does: a term that is not valid matches nothing.
func selected(required nodeaffinity.RequiredNodeAffinity, node *corev1.Node) bool {
	match, _ := required.Match(node)
	return match
}

func toleratesCordon(pod *corev1.Pod) bool {
	return schedulinghelpers.TolerationsTolerateTaint(klog.Background(), pod.Spec.Tolerations, &corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}, false)
}

// nodeKey is equal for pods of which ofNode says the same.
func nodeKey(pod *corev1.Pod) string {
	var b strings.Builder
	keys := make([]string, 0, len(pod.Spec.NodeSelector))
	for k, v := range pod.Spec.NodeSelector {
		keys = append(keys, k+"="+v)
	}
	slices.Sort(keys)
	fmt.Fprintf(&b, "%s|%q|", pod.Spec.NodeName, keys)
	for _, t := range pod.Spec.Tolerations {
		fmt.Fprintf(&b, "%q %q %q %q;", t.Key, t.Operator, t.Value, t.Effect)
	}
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		fmt.Fprintf(&b, "|%v", a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms)
	}
	return b.String()
}

// filtered has what each node says to a candidate on its own: the first code of each world.
type filtered struct {
	code [worlds][]code
	in   [worlds]nodeSet
}

// filter runs all filters that do not depend on other candidates.
func (g *clusterState) filter(c *candidate, cache map[string][]code) *filtered {
	key := nodeKey(c.pod)
	base, ok := cache[key]
	if !ok {
		base = make([]code, len(g.nodes))
		required := nodeaffinity.GetRequiredNodeAffinity(c.pod)
		for n := range g.nodes {
			base[n] = g.ofNode(c.pod, required, n)
		}
		cache[key] = base
	}
	f := &filtered{}
	for w := range worlds {
		f.code[w] = slices.Clone(base)
		if c.foreign {
			clear(f.code[w])
		}
	}
	g.filterPorts(c, f)
	for w := range worlds {
		g.filterRoom(c, f.code[w], w)
	}
	if !c.foreign && c.pod.Spec.NodeName == "" {
		g.filterVolumes(c, f)
		g.filterKeys(c, f)
		g.filterAnti(c, f)
	}
	for w := range worlds {
		f.in[w] = newNodeSet(len(g.nodes))
		for n, code := range f.code[w] {
			if code == suits {
				f.in[w].add(n)
			}
		}
	}
	return f
}

func (g *clusterState) filterRoom(c *candidate, codes []code, w world) {
	d := len(g.dims)
	for n := range codes {
		if codes[n] != suits {
			continue
		}
		for k, v := range c.want {
			if v > 0 && v > g.free[w][n*d+k] {
				codes[n] = room(k)
				break
			}
		}
	}
}

// filterPorts and the two that follow look at the pods on the nodes.
func (g *clusterState) filterPorts(c *candidate, f *filtered) {
	disks := disksOf(c.pod)
	if len(c.ports) == 0 && len(disks) == 0 {
		return
	}
	for i := range g.settled {
		s := &g.settled[i]
		if f.code[now][s.node] != suits && f.code[least][s.node] != suits {
			continue
		}
		if portsClash(c.ports, hostPorts(s.pod)) {
			f.reject(s, byPort)
		}
		if len(disks) > 0 && disksClash(disks, disksOf(s.pod)) {
			f.reject(s, byDisk)
		}
	}
}

func (f *filtered) reject(s *boundPod, why code) {
	for w := now; w <= s.stays; w++ {
		if f.code[w][s.node] == suits {
			f.code[w][s.node] = why
		}
	}
}

func (g *clusterState) filterKeys(c *candidate, f *filtered) {
	if len(c.spread) == 0 && len(c.affinity) == 0 {
		return
	}
	for n := range g.nodes {
		why := suits
		if g.missingKey(c.spread, n) != "" {
			why = bySpreadKey
		}
		for _, t := range c.affinity {
			if _, ok := g.nodes[n].Labels[t.key]; !ok && why == suits {
				why = byAffinityKey
			}
		}
		f.set(n, why)
	}
}

func (f *filtered) set(n int, why code) {
	for w := range worlds {
		if f.code[w][n] == suits {
			f.code[w][n] = why
		}
	}
}

func (g *clusterState) filterAnti(c *candidate, f *filtered) {
	own, others := g.excludedNodes(c)
	for w := range worlds {
		for _, rule := range []struct {
			nodes nodeSet
			why   code
		}{{own[w], byAnti}, {others[w], byTheirAnti}} {
			rule.nodes.each(func(n int) {
				if f.code[w][n] == suits {
					f.code[w][n] = rule.why
				}
			})
		}
	}
}
