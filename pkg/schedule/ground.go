package schedule

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
)

// A world is the pods that hold room. The verdicts look at different ones: what fits has to
// do so beside all of them, and what is impossible has to be so without those that may go.
type world uint8

const (
	// now has every pod that is on a node.
	now world = iota
	// gone is without those that are ending.
	gone
	// least is without those that are ending and those that may be evicted.
	least
	worlds
)

// boundPod is a pod on a node.
type boundPod struct {
	pod  *corev1.Pod
	node int
	// stays is the last world that it is part of.
	stays    world
	priority int32
}

// clusterState is the cluster with what is looked up often.
type clusterState struct {
	*Cluster
	nodes  []*corev1.Node
	byName map[string]int
	// settled are the pods on nodes, by node; inNamespace lists them by namespace.
	settled     []boundPod
	inNamespace map[string][]int
	candidates  []*candidate
	dims        []dimension
	dimOf       map[string]int
	// alloc is what each node has, free what each world leaves: node times len(dims).
	alloc []int64
	free  [worlds][]int64
	parts map[string]*part
	// terms are those of anti-affinity that settled pods have, each with where they are.
	terms   []*settledTerm
	labels  map[string]map[string]string
	volumes *volumeIndex
}

// part divides nodes into domains: by the value of a label; by node; or not at all.
type part struct {
	// of has the number of the domain of each node, -1 where it is in none.
	of []int32
	// domains counts them.
	domains int
	// single says that no domain has two nodes.
	single bool
	key    string
}

// The parts that are no label.
const (
	partNode    = "\x00node"
	partCluster = "\x00cluster"
)

func newClusterState(c *Cluster, pods []Pod) *clusterState {
	g := &clusterState{Cluster: c, byName: map[string]int{}, inNamespace: map[string][]int{}, parts: map[string]*part{}, labels: map[string]map[string]string{}}
	g.nodes = slices.Clone(c.Nodes)
	slices.SortFunc(g.nodes, func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	for i, n := range g.nodes {
		g.byName[n.Name] = i
	}
	for _, ns := range c.Namespaces {
		g.labels[ns.Name] = ns.Labels
		if ns.Labels == nil {
			g.labels[ns.Name] = map[string]string{}
		}
	}
	g.collect(pods)
	g.settle()
	g.volumes = newVolumeIndex(g)
	for _, c := range g.candidates {
		g.readVolumes(c)
	}
	g.contend()
	g.measure()
	g.gatherTerms()
	return g
}

// collect makes the candidates: the pods that are asked about, and those that wait.
func (g *clusterState) collect(pods []Pod) {
	for i, p := range pods {
		pod, open := g.completed(p.Pod)
		g.candidates = append(g.candidates, &candidate{name: p.Name, asked: i, pod: pod, open: open})
	}
	for _, p := range g.Pods {
		if p.Spec.NodeName != "" || ended(p) || p.DeletionTimestamp != nil || len(p.Spec.SchedulingGates) > 0 {
			continue
		}
		g.candidates = append(g.candidates, &candidate{name: "Pod/" + p.Namespace + "/" + p.Name, asked: -1, pod: p})
	}
	slices.SortStableFunc(g.candidates[len(pods):], func(a, b *candidate) int { return cmp.Compare(a.name, b.name) })
	for _, c := range g.candidates {
		g.readCandidate(c)
	}
}

func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// settle notes who is on which node. A pod may be evicted if any candidate may evict pods
// and has a higher priority: also one that is not asked about makes room in this way.
func (g *clusterState) settle() {
	reach := int32(minPriority)
	for _, c := range g.candidates {
		if c.evicts {
			reach = max(reach, c.priority)
		}
	}
	for _, p := range g.Pods {
		node, ok := g.byName[p.Spec.NodeName]
		if !ok || ended(p) {
			continue
		}
		s := boundPod{pod: p, node: node, stays: least, priority: schedulinghelpers.PodPriority(p)}
		switch {
		case p.DeletionTimestamp != nil:
			s.stays = now
		case s.priority < reach:
			s.stays = gone
		}
		g.settled = append(g.settled, s)
	}
	slices.SortStableFunc(g.settled, func(a, b boundPod) int { return cmp.Compare(a.node, b.node) })
	for i := range g.settled {
		ns := g.settled[i].pod.Namespace
		g.inNamespace[ns] = append(g.inNamespace[ns], i)
	}
}

const minPriority = -1 << 31

// part returns the domains of a topology key.
func (g *clusterState) part(key string) *part {
	if p, ok := g.parts[key]; ok {
		return p
	}
	p := &part{of: make([]int32, len(g.nodes)), single: true, key: key}
	seen := map[string]int32{}
	for i, n := range g.nodes {
		value, ok := n.Labels[key]
		switch key {
		case partNode:
			value, ok = n.Name, true
		case partCluster:
			value, ok = "", true
		}
		if !ok {
			p.of[i] = -1
			continue
		}
		d, old := seen[value]
		if !old {
			d = int32(len(seen))
			seen[value] = d
		}
		p.single = p.single && !old
		p.of[i] = d
	}
	p.domains = len(seen)
	g.parts[key] = p
	return p
}

// candidate is a pod that has no node yet.
type candidate struct {
	name string
	// asked is its index in the question, -1 for one that waits in the cluster.
	asked    int
	pod      *corev1.Pod
	priority int32
	// evicts says that it may have pods of a lower priority evicted.
	evicts bool
	// foreign says that another scheduler places it: no filter is sure.
	foreign bool
	// open says what of it cannot be judged; lost why it can run nowhere.
	open []string
	lost *Reason

	requests map[string]int64
	want     []int64
	ports    []hostPort
	affinity []*term
	anti     []*term
	spread   []*spread
	claims   []*claimUse
	// once are the claims that only one pod may use.
	once []string
}

// readCandidate takes out of the pod what does not depend on others.
func (g *clusterState) readCandidate(c *candidate) {
	c.priority = schedulinghelpers.PodPriority(c.pod)
	c.evicts = c.pod.Spec.PreemptionPolicy == nil || *c.pod.Spec.PreemptionPolicy != corev1.PreemptNever
	c.requests = requestsOf(c.pod, false)
	g.readDevices(c)
	c.ports = hostPorts(c.pod)
	g.readAffinity(c)
	g.readSpread(c)
	c.foreign = c.pod.Spec.SchedulerName != "" && c.pod.Spec.SchedulerName != corev1.DefaultSchedulerName
	if c.asked < 0 {
		return
	}
	c.open = append(c.open, heldBack(c.pod)...)
	if c.foreign {
		c.open = append(c.open, "placed by the scheduler "+c.pod.Spec.SchedulerName+", whose rules are unknown")
	}
}

// heldBack says what keeps the verdict on a pod open, of what its spec asks for.
func heldBack(pod *corev1.Pod) []string {
	var open []string
	for _, gate := range pod.Spec.SchedulingGates {
		open = append(open, "held by the scheduling gate "+gate.Name)
	}
	if len(pod.Spec.ResourceClaims) > 0 {
		open = append(open, "devices are requested (resourceClaims), which were not checked")
	}
	if pod.Spec.SchedulingGroup != nil {
		open = append(open, "scheduled together with a group (schedulingGroup), which was not checked")
	}
	if pod.Spec.HostNetwork && pod.Spec.HostUsers != nil && !*pod.Spec.HostUsers {
		open = append(open, "needs nodes that give pods with user namespaces the network of the host, which was not checked")
	}
	for _, c := range pod.Spec.Containers {
		if len(c.RestartPolicyRules) > 0 {
			open = append(open, "has restart rules that a node has to support, which was not checked")
			break
		}
	}
	return open
}
