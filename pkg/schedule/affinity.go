package schedule

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// term is a required term of affinity or anti-affinity between pods.
type term struct {
	key        string
	namespaces []string
	// among selects namespaces by label; nil selects none.
	among    labels.Selector
	selector labels.Selector
	// id is equal for terms that mean the same.
	id string
}

// newTerm reads a term of a pod; nil where the selector is not valid, as the scheduler then
// has no term either.
func newTerm(namespace string, t *corev1.PodAffinityTerm) *term {
	selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil {
		return nil
	}
	out := &term{key: t.TopologyKey, namespaces: t.Namespaces, selector: selector}
	if t.NamespaceSelector != nil {
		if out.among, err = metav1.LabelSelectorAsSelector(t.NamespaceSelector); err != nil {
			return nil
		}
	}
	if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
		out.namespaces = []string{namespace}
	}
	among := ""
	if out.among != nil {
		among = "?" + out.among.String()
	}
	if t.LabelSelector == nil {
		out.id = "none"
	}
	out.id += strings.Join([]string{out.key, strings.Join(out.namespaces, ","), among, out.selector.String()}, "\x00")
	return out
}

// matches says whether a pod is meant. Where namespaces could not be read, those selected
// by label are taken as not meant; readAffinity says so.
func (g *clusterState) matches(t *term, pod *corev1.Pod) bool {
	in := slices.Contains(t.namespaces, pod.Namespace) || t.among != nil && (t.among.Empty() || !g.Unread.Namespaces && t.among.Matches(labels.Set(g.labels[pod.Namespace])))
	return in && t.selector.Matches(labels.Set(pod.Labels))
}

// readAffinity takes the terms out of a candidate.
func (g *clusterState) readAffinity(c *candidate) {
	a := c.pod.Spec.Affinity
	if a == nil {
		return
	}
	read := func(given []corev1.PodAffinityTerm) []*term {
		var out []*term
		for i := range given {
			t := newTerm(c.pod.Namespace, &given[i])
			if t == nil {
				c.open = append(c.open, "an affinity term is not valid")
				continue
			}
			if t.among != nil && !t.among.Empty() && g.Unread.Namespaces {
				c.open = append(c.open, "affinity selects namespaces by label, and namespaces could not be read")
			}
			out = append(out, t)
		}
		return out
	}
	if a.PodAffinity != nil {
		c.affinity = read(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	if a.PodAntiAffinity != nil {
		c.anti = read(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
}

// matchesAll says whether a pod is meant by all of the terms: only then does it count.
func (g *clusterState) matchesAll(terms []*term, pod *corev1.Pod) bool {
	if len(terms) == 0 {
		return false
	}
	for _, t := range terms {
		if !g.matches(t, pod) {
			return false
		}
	}
	return true
}

// settledTerm is a term of anti-affinity of pods on nodes, which keeps candidates away.
type settledTerm struct {
	*term
	at    []int
	stays []world
}

// gatherTerms finds the terms of anti-affinity of settled pods. Replicas share theirs.
func (g *clusterState) gatherTerms() {
	byID := map[string]*settledTerm{}
	for i := range g.settled {
		s := &g.settled[i]
		a := s.pod.Spec.Affinity
		if a == nil || a.PodAntiAffinity == nil {
			continue
		}
		required := a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		for j := range required {
			t := newTerm(s.pod.Namespace, &required[j])
			if t == nil {
				continue
			}
			known, ok := byID[t.id]
			if !ok {
				known = &settledTerm{term: t}
				byID[t.id] = known
				g.terms = append(g.terms, known)
			}
			known.at = append(known.at, s.node)
			known.stays = append(known.stays, s.stays)
		}
	}
}

// each settled pod in the namespaces that a term means.
func (g *clusterState) eachSelected(t *term, do func(*boundPod)) {
	visit := func(list []int) {
		for _, i := range list {
			if s := &g.settled[i]; g.matches(t, s.pod) {
				do(s)
			}
		}
	}
	if t.among == nil {
		for i, ns := range t.namespaces {
			if !slices.Contains(t.namespaces[:i], ns) {
				visit(g.inNamespace[ns])
			}
		}
		return
	}
	for ns := range g.inNamespace {
		visit(g.inNamespace[ns])
	}
}

// excludedNodes returns, for each world, the nodes which anti-affinity between a candidate and
// settled pods rules out: its own terms first, theirs after.
func (g *clusterState) excludedNodes(c *candidate) (own, others [worlds]nodeSet) {
	for _, t := range c.anti {
		p := g.part(t.key)
		var in [worlds]map[int32]bool
		g.eachSelected(t, func(s *boundPod) { noteDomain(&in, p.of[s.node], s.stays) })
		g.ruleOut(&own, p, in)
	}
	for _, t := range g.terms {
		if !g.matches(t.term, c.pod) {
			if t.among != nil && g.Unread.Namespaces && !t.among.Empty() && t.selector.Matches(labels.Set(c.pod.Labels)) {
				c.unsure("pods on nodes keep away from namespaces that they select by label, and namespaces could not be read")
			}
			continue
		}
		p := g.part(t.key)
		var in [worlds]map[int32]bool
		for i, node := range t.at {
			noteDomain(&in, p.of[node], t.stays[i])
		}
		g.ruleOut(&others, p, in)
	}
	return own, others
}

func noteDomain(in *[worlds]map[int32]bool, domain int32, stays world) {
	if domain < 0 {
		return
	}
	for w := now; w <= stays; w++ {
		if in[w] == nil {
			in[w] = map[int32]bool{}
		}
		in[w][domain] = true
	}
}

func (g *clusterState) ruleOut(out *[worlds]nodeSet, p *part, in [worlds]map[int32]bool) {
	for w := range worlds {
		if len(in[w]) == 0 {
			continue
		}
		if out[w] == nil {
			out[w] = newNodeSet(len(g.nodes))
		}
		for i, d := range p.of {
			if d >= 0 && in[w][d] {
				out[w].add(i)
			}
		}
	}
}

func (c *candidate) unsure(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if !slices.Contains(c.open, s) {
		c.open = append(c.open, s)
	}
}
