package schedule

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// candidate is a pod that has no node yet.
type candidate struct {
	name string
	// asked is its index among the pods to place, -1 for one that is pending in the cluster.
	asked int
	pod   *corev1.Pod
	class *class
	// node is where it was placed.
	node     int
	priority int32
	// evicts says that it may have pods of a lower priority evicted.
	evicts bool
	// foreign says that another scheduler places it: no filter is sure.
	foreign bool
	// unknown says what is unknown about it; lost why it can run nowhere.
	unknown []string
	lost    *Reason

	required nodeaffinity.RequiredNodeAffinity
	requests map[string]int64
	want     []int64
	ports    []hostPort
	disks    []*corev1.Volume
	affinity []*term
	anti     []*term
	spread   []*spread
	claims   []*claimUse
	// single are the claims that only one pod may use.
	single []string
}

// bypasses says that the pod names its node: the scheduler does not see it, and its kubelet checks
// less.
func (c *candidate) bypasses() bool { return c.pod.Spec.NodeName != "" }

func (c *candidate) unsure(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(c.unknown, s) {
		c.unknown = append(c.unknown, s)
	}
}

func (c *candidate) lose(reason, format string, args ...any) {
	if c.lost == nil {
		c.lost = &Reason{Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
}

// readCandidate reads what depends on the pod alone.
func (g *clusterState) readCandidate(c *candidate) {
	var wrong []string
	c.priority = schedulinghelpers.PodPriority(c.pod)
	c.evicts = c.pod.Spec.PreemptionPolicy == nil || *c.pod.Spec.PreemptionPolicy != corev1.PreemptNever
	c.required = nodeaffinity.GetRequiredNodeAffinity(c.pod)
	c.requests = requestsOf(c.pod, false)
	g.readDevices(c)
	c.ports, c.disks = hostPorts(c.pod), disksOf(c.pod)
	c.affinity, wrong = g.readTerms(c.pod, affinity(c.pod))
	c.unknown = append(c.unknown, wrong...)
	c.anti, wrong = g.readTerms(c.pod, antiAffinity(c.pod))
	c.unknown = append(c.unknown, wrong...)
	readSpread(c)
	g.readVolumes(c)
	c.foreign = c.pod.Spec.SchedulerName != "" && c.pod.Spec.SchedulerName != corev1.DefaultSchedulerName
	if c.asked < 0 {
		return
	}
	spec := &c.pod.Spec
	for _, gate := range spec.SchedulingGates {
		c.unsure("held by the scheduling gate %s", gate.Name)
	}
	if len(spec.ResourceClaims) > 0 {
		c.unsure("devices are requested (resourceClaims), which were not checked")
	}
	if spec.SchedulingGroup != nil {
		c.unsure("scheduled together with a group (schedulingGroup), which was not checked")
	}
	if spec.HostNetwork && spec.HostUsers != nil && !*spec.HostUsers {
		c.unsure("needs nodes that give pods with user namespaces the network of the host, which was not checked")
	}
	if slices.ContainsFunc(spec.Containers, func(c corev1.Container) bool { return len(c.RestartPolicyRules) > 0 }) {
		c.unsure("has restart rules that a node has to support, which was not checked")
	}
	if c.foreign {
		c.unsure("placed by the scheduler %s, whose rules are unknown", spec.SchedulerName)
	}
}

// class is candidates that are equal to every filter: the replicas of a workload.
type class struct {
	*candidate
	members []*candidate
	// nodes are those that pass the filters that do not depend on other pods.
	nodes []int
	// domains are those that count for each of its spread constraints.
	domains []spreadDomains
}

func (k *class) names() []string {
	out := make([]string, 0, len(k.members))
	for _, m := range k.members {
		out = append(out, m.name)
	}
	return out
}

// classes groups equal candidates, in their order.
func (g *clusterState) classes() []*class {
	byKey := map[string]*class{}
	var out []*class
	for _, c := range g.candidates {
		key := c.key()
		k := byKey[key]
		if k == nil || len(c.claims) > 0 {
			nodes := newNodeSet(len(g.nodes))
			for n := range g.nodes {
				if g.filterNode(c, n) == passes {
					nodes.add(n)
				}
			}
			if len(c.claims) > 0 {
				key += fmt.Sprint(nodes)
				k = byKey[key]
			}
			if k == nil {
				k = &class{candidate: c, nodes: nodes.list(), domains: g.spreadDomains(c)}
				byKey[key] = k
				out = append(out, k)
			}
		}
		c.class = k
		k.members = append(k.members, c)
	}
	return out
}

// key is equal for candidates that are written alike but for the names of their claims: of
// those the nodes have to be equal too.
func (c *candidate) key() string {
	spec := c.pod.Spec
	if len(c.claims) > 0 {
		spec.Volumes = c.disksAsVolumes()
	}
	text, err := json.Marshal(&spec)
	if err != nil || c.lost != nil {
		return c.name
	}
	return fmt.Sprintf("%v %s %v %q %v %q %s", c.asked >= 0, c.pod.Namespace, c.pod.Labels, c.unknown, c.want, c.single, text)
}

func (c *candidate) disksAsVolumes() []corev1.Volume {
	var out []corev1.Volume
	for _, v := range c.disks {
		out = append(out, *v)
	}
	return out
}
