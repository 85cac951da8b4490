package schedule

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// spread is a topology spread constraint that must hold (DoNotSchedule).
type spread struct {
	key, namespace   string
	selector         labels.Selector
	skew, minDomains int
	// affinity and taints say that nodes which the pod may not use are not counted.
	affinity, taints bool
}

// counts says whether a pod counts. An empty selector counts no pod, though the candidate
// is said to match it: so does the scheduler.
func (s *spread) counts(pod *corev1.Pod) bool {
	return !s.selector.Empty() && pod.Namespace == s.namespace && s.selector.Matches(labels.Set(pod.Labels))
}

// readSpread takes the constraints out of a candidate. The scheduler's own defaults are
// only preferences.
func readSpread(c *candidate) {
	honors := func(p *corev1.NodeInclusionPolicy, otherwise bool) bool {
		if p == nil {
			return otherwise
		}
		return *p == corev1.NodeInclusionPolicyHonor
	}
	for i := range c.pod.Spec.TopologySpreadConstraints {
		t := &c.pod.Spec.TopologySpreadConstraints[i]
		if t.WhenUnsatisfiable != corev1.DoNotSchedule {
			continue
		}
		given := t.LabelSelector.DeepCopy()
		if given != nil {
			addLabelKeys(given, t.MatchLabelKeys, metav1.LabelSelectorOpIn, c.pod.Labels)
		}
		selector, err := metav1.LabelSelectorAsSelector(given)
		if err != nil {
			c.unsure("a topology spread constraint is not valid")
			continue
		}
		s := &spread{key: t.TopologyKey, namespace: c.pod.Namespace, selector: selector, skew: int(t.MaxSkew), minDomains: 1, affinity: honors(t.NodeAffinityPolicy, true), taints: honors(t.NodeTaintsPolicy, false)}
		if t.MinDomains != nil {
			s.minDomains = int(*t.MinDomains)
		}
		c.spread = append(c.spread, s)
	}
}

// missingKey returns the topology key that a node lacks, of those of all constraints.
func missingKey(spread []*spread, node *corev1.Node) string {
	for _, s := range spread {
		if _, ok := node.Labels[s.key]; !ok {
			return s.key
		}
	}
	return ""
}

// spreadDomains are the nodes whose pods count for a constraint, and their domains.
type spreadDomains struct {
	*spread
	topology *topology
	nodes    nodeSet
	domains  []int
}

// spreadDomains leaves out nodes that lack a key of any constraint, and those that the
// policies leave out.
func (g *clusterState) spreadDomains(c *candidate) []spreadDomains {
	var out []spreadDomains
	for _, s := range c.spread {
		d := spreadDomains{spread: s, topology: g.topology(s.key), nodes: newNodeSet(len(g.nodes))}
		seen := make([]bool, d.topology.count)
		for n, node := range g.nodes {
			if missingKey(c.spread, node) != "" {
				continue
			}
			if suits, _ := c.required.Match(node); s.affinity && !suits {
				continue
			}
			if _, tainted := Untolerated(c.pod, node); s.taints && tainted {
				continue
			}
			d.nodes.add(n)
			if at := d.topology.domain[n]; !seen[at] {
				seen[at] = true
				d.domains = append(d.domains, at)
			}
		}
		out = append(out, d)
	}
	return out
}

// spreadCounts are the pods of each domain of a constraint.
type spreadCounts struct {
	*spreadDomains
	counts []int
	// self is 1 where the candidate counts, lowest the count that others are measured by.
	self, lowest int
}

func (o *occupancy) spreadCounts(k *class) []spreadCounts {
	var out []spreadCounts
	for i := range k.domains {
		s := spreadCounts{spreadDomains: &k.domains[i], counts: make([]int, k.domains[i].topology.count)}
		for _, b := range o.inNamespace[s.namespace] {
			if b.pod.DeletionTimestamp == nil && s.nodes.has(b.node) && s.spread.counts(b.pod) {
				s.counts[s.topology.domain[b.node]]++
			}
		}
		if s.selector.Matches(labels.Set(k.pod.Labels)) {
			s.self = 1
		}
		s.lowest = s.least(s.counts)
		out = append(out, s)
	}
	return out
}

// least is the least count of a domain: 0 where there are too few domains.
func (s *spreadDomains) least(counts []int) int {
	if len(s.domains) < s.minDomains || len(s.domains) == 0 {
		return 0
	}
	least := counts[s.domains[0]]
	for _, d := range s.domains {
		least = min(least, counts[d])
	}
	return least
}

func (s *spreadCounts) passes(n int) bool {
	d := s.topology.domain[n]
	return d >= 0 && s.counts[d]+s.self-s.lowest <= s.skew
}
