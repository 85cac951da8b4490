package schedule

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// spread is a topology spread constraint that must hold (DoNotSchedule).
type spread struct {
	key        string
	namespace  string
	selector   labels.Selector
	skew       int
	minDomains int
	// affinity and taints say that nodes which the pod may not use are not counted.
	affinity, taints bool
	id               string
}

// counts says whether a pod counts. An empty selector counts nobody, though a pod is said
// to match it: so does the scheduler.
func (s *spread) counts(pod *corev1.Pod) bool {
	return !s.selector.Empty() && pod.Namespace == s.namespace && s.selector.Matches(labels.Set(pod.Labels))
}

// readSpread takes the constraints out of a candidate. The scheduler's own defaults are
// only preferences.
func (g *clusterState) readSpread(c *candidate) {
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
		s := &spread{key: t.TopologyKey, namespace: c.pod.Namespace, selector: selector, skew: int(t.MaxSkew), minDomains: 1, affinity: true}
		if t.MinDomains != nil {
			s.minDomains = int(*t.MinDomains)
		}
		if t.NodeAffinityPolicy != nil {
			s.affinity = *t.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor
		}
		if t.NodeTaintsPolicy != nil {
			s.taints = *t.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
		}
		s.id = fmt.Sprintf("%s\x00%s\x00%s\x00%v\x00%d\x00%d\x00%v\x00%v", s.key, s.namespace, selector, given == nil, s.skew, s.minDomains, s.affinity, s.taints)
		c.spread = append(c.spread, s)
	}
}

// counted returns, for each constraint of a candidate, the nodes whose pods count: those
// with all of the keys that its policies do not leave out.
func (g *clusterState) countedNodes(c *candidate) []nodeSet {
	out := make([]nodeSet, len(c.spread))
	required := nodeaffinity.GetRequiredNodeAffinity(c.pod)
	for i := range c.spread {
		out[i] = newNodeSet(len(g.nodes))
	}
	for n, node := range g.nodes {
		if g.missingKey(c.spread, n) != "" {
			continue
		}
		suits, _ := required.Match(node)
		_, tainted := untolerated(c.pod, node)
		for i, s := range c.spread {
			if (!s.affinity || suits) && (!s.taints || !tainted) {
				out[i].add(n)
			}
		}
	}
	return out
}

// missingKey returns the topology key that a node lacks, of those of all constraints.
func (g *clusterState) missingKey(spread []*spread, node int) string {
	for _, s := range spread {
		if _, ok := g.nodes[node].Labels[s.key]; !ok {
			return s.key
		}
	}
	return ""
}

func labelsOf(pod *corev1.Pod) labels.Set { return labels.Set(pod.Labels) }
