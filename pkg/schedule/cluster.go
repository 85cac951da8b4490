package schedule

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
)

// clusterState is the cluster and the candidates, with what is looked up often. It does not
// change while pods are placed.
type clusterState struct {
	*Cluster
	nodes      []*corev1.Node
	byName     map[string]int
	labels     map[string]map[string]string
	topologies map[string]*topology
	volumes    *volumeIndex
	candidates []*candidate
	bound      []boundPod
	// leaves says that some bound pod may leave its node.
	leaves bool
	dims   []dimension
	dimOf  map[string]int
	// alloc is what each node has: node times len(dims).
	alloc []int64
}

// boundPod is a pod on a node.
type boundPod struct {
	pod  *corev1.Pod
	node int
	anti []*term
	uses []int64
	// leaves says that it may make room: it is terminating, or a candidate may evict it.
	leaves bool
}

// topology divides nodes into domains: by the value of a label, or by node.
type topology struct {
	// domain is the number of each node's domain, -1 where it is in none.
	domain []int
	// count is how many domains there are.
	count int
}

// byNode is the key of the topology in which each node is a domain.
const byNode = "\x00node"

func newClusterState(c *Cluster, pods []Pod) *clusterState {
	g := &clusterState{Cluster: c, byName: map[string]int{}, topologies: map[string]*topology{}, labels: map[string]map[string]string{}, dimOf: map[string]int{}}
	g.nodes = slices.Clone(c.Nodes)
	slices.SortFunc(g.nodes, func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	for i, n := range g.nodes {
		g.byName[n.Name] = i
	}
	for _, ns := range c.Namespaces {
		g.labels[ns.Name] = ns.Labels
	}
	g.volumes = newVolumeIndex(g)
	for i, p := range pods {
		pod, unknown := g.completed(p.Pod)
		g.candidates = append(g.candidates, &candidate{name: p.Name, asked: i, pod: pod, unknown: unknown})
	}
	for _, p := range g.Pods {
		if p.Spec.NodeName == "" && !ended(p) && p.DeletionTimestamp == nil && len(p.Spec.SchedulingGates) == 0 {
			g.candidates = append(g.candidates, &candidate{name: "Pod/" + p.Namespace + "/" + p.Name, asked: -1, pod: p})
		}
	}
	slices.SortStableFunc(g.candidates[len(pods):], func(a, b *candidate) int { return cmp.Compare(a.name, b.name) })
	for _, c := range g.candidates {
		g.readCandidate(c)
	}
	g.bindPods()
	g.contend()
	g.measure()
	return g
}

func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// bindPods notes which pods are on which node. A pod may be evicted if any candidate has a
// higher priority and may evict: also a pending one makes room in this way.
func (g *clusterState) bindPods() {
	reach := int32(-1 << 31)
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
		b := boundPod{pod: p, node: node, leaves: p.DeletionTimestamp != nil || schedulinghelpers.PodPriority(p) < reach}
		b.anti, _ = g.readTerms(p, antiAffinity(p))
		g.leaves = g.leaves || b.leaves
		g.bound = append(g.bound, b)
	}
}

// topology returns the domains of a topology key.
func (g *clusterState) topology(key string) *topology {
	if t, ok := g.topologies[key]; ok {
		return t
	}
	t := &topology{domain: make([]int, len(g.nodes))}
	seen := map[string]int{}
	for i, n := range g.nodes {
		value, ok := n.Labels[key]
		if key == byNode {
			value, ok = n.Name, true
		}
		if !ok {
			t.domain[i] = -1
			continue
		}
		d, old := seen[value]
		if !old {
			d = len(seen)
			seen[value] = d
		}
		t.domain[i] = d
	}
	t.count = len(seen)
	g.topologies[key] = t
	return t
}

// mayChange says that other pods than those of a class could add to, or take from, the pods
// that match: what a rule about them says now is not certain to stay.
func (g *clusterState) mayChange(k *class, matches func(*corev1.Pod) bool) bool {
	return g.Unread.Pods || g.Unread.Namespaces ||
		slices.ContainsFunc(g.bound, func(b boundPod) bool { return b.leaves && matches(b.pod) }) ||
		slices.ContainsFunc(g.Pods, func(p *corev1.Pod) bool { return p.Spec.NodeName == "" && !ended(p) && matches(p) }) ||
		slices.ContainsFunc(g.candidates, func(c *candidate) bool { return (k == nil || c.class != k) && matches(c.pod) })
}

// occupancy is which pods are on which node, and the room that this leaves.
type occupancy struct {
	*clusterState
	// certain leaves out the pods that may leave, and the rules that other pods may change:
	// a node that does not pass then never will.
	certain     bool
	free        []int64
	onNode      [][]*corev1.Pod
	inNamespace map[string][]*boundPod
	terms       map[string]*boundTerm
}

// boundTerm is an anti-affinity term of pods on nodes.
type boundTerm struct {
	*term
	nodes []int
}

func (g *clusterState) occupancy(certain bool) *occupancy {
	o := &occupancy{clusterState: g, certain: certain, free: slices.Clone(g.alloc), onNode: make([][]*corev1.Pod, len(g.nodes)), inNamespace: map[string][]*boundPod{}, terms: map[string]*boundTerm{}}
	for i := range g.bound {
		if b := &g.bound[i]; !certain || !b.leaves {
			o.bind(b)
		}
	}
	g.volumes.attach(o)
	return o
}

func (o *occupancy) bind(b *boundPod) {
	d := len(o.dims)
	for k, v := range b.uses {
		o.free[b.node*d+k] -= v
	}
	o.onNode[b.node] = append(o.onNode[b.node], b.pod)
	o.inNamespace[b.pod.Namespace] = append(o.inNamespace[b.pod.Namespace], b)
	for _, t := range b.anti {
		known, ok := o.terms[t.id]
		if !ok {
			known = &boundTerm{term: t}
			o.terms[t.id] = known
		}
		known.nodes = append(known.nodes, b.node)
	}
}
