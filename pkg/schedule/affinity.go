package schedule

import (
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

func affinity(p *corev1.Pod) []corev1.PodAffinityTerm {
	if a := p.Spec.Affinity; a != nil && a.PodAffinity != nil {
		return a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

func antiAffinity(p *corev1.Pod) []corev1.PodAffinityTerm {
	if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		return a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

// readTerms reads terms of a pod, and says what of them cannot be used: one that is not
// valid is no term for the scheduler either.
func (g *clusterState) readTerms(pod *corev1.Pod, given []corev1.PodAffinityTerm) (terms []*term, wrong []string) {
	for i := range given {
		t, err := newTerm(pod.Namespace, &given[i])
		if err != nil {
			wrong = append(wrong, "an affinity term is not valid")
			continue
		}
		if t.among != nil && !t.among.Empty() && g.Unread.Namespaces {
			wrong = append(wrong, "affinity selects namespaces by label, and namespaces could not be read")
		}
		terms = append(terms, t)
	}
	return terms, wrong
}

func newTerm(namespace string, t *corev1.PodAffinityTerm) (*term, error) {
	selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil {
		return nil, err
	}
	out := &term{key: t.TopologyKey, namespaces: t.Namespaces, selector: selector}
	among := ""
	if t.NamespaceSelector != nil {
		if out.among, err = metav1.LabelSelectorAsSelector(t.NamespaceSelector); err != nil {
			return nil, err
		}
		among = "?" + out.among.String()
	}
	if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
		out.namespaces = []string{namespace}
	}
	// No selector matches no pod, an empty one all: both are written as "".
	if t.LabelSelector == nil {
		among += "!"
	}
	out.id = strings.Join([]string{out.key, strings.Join(out.namespaces, ","), among, selector.String()}, "\x00")
	return out, nil
}

// matches says whether a term selects a pod. Where namespaces could not be read, those
// selected by label are taken as not selected; readTerms and closedDomains say so.
func (g *clusterState) matches(t *term, pod *corev1.Pod) bool {
	in := slices.Contains(t.namespaces, pod.Namespace) || t.among != nil && (t.among.Empty() || !g.Unread.Namespaces && t.among.Matches(labels.Set(g.labels[pod.Namespace])))
	return in && t.selector.Matches(labels.Set(pod.Labels))
}

// matchesAll says whether all of the terms select a pod: only then does it count.
func (g *clusterState) matchesAll(terms []*term, pod *corev1.Pod) bool {
	return !slices.ContainsFunc(terms, func(t *term) bool { return !g.matches(t, pod) })
}

// eachSelected visits the pods on nodes that a term selects.
func (o *occupancy) eachSelected(t *term, visit func(*boundPod)) {
	for ns, pods := range o.inNamespace {
		if t.among == nil && !slices.Contains(t.namespaces, ns) {
			continue
		}
		for _, b := range pods {
			if o.matches(t, b.pod) {
				visit(b)
			}
		}
	}
}

// closedDomains are domains of a topology that anti-affinity keeps a candidate off.
type closedDomains struct {
	topology *topology
	closed   []bool
	message  string
}

func (o *occupancy) closedDomains(c *candidate) []closedDomains {
	var out []closedDomains
	closing := func(key, message string) (add func(node int)) {
		t := o.topology(key)
		i := slices.IndexFunc(out, func(d closedDomains) bool { return d.topology == t && d.message == message })
		if i < 0 {
			i = len(out)
			out = append(out, closedDomains{t, make([]bool, t.count), message})
		}
		closed := out[i].closed
		return func(node int) {
			if d := t.domain[node]; d >= 0 {
				closed[d] = true
			}
		}
	}
	for _, t := range c.anti {
		add := closing(t.key, "its anti-affinity keeps away from pods on it")
		o.eachSelected(t, func(b *boundPod) { add(b.node) })
	}
	for _, t := range o.terms {
		if o.Unread.Namespaces && t.among != nil && !t.among.Empty() && t.selector.Matches(labels.Set(c.pod.Labels)) {
			c.unsure("pods on nodes keep away from namespaces that they select by label, and namespaces could not be read")
		}
		if !o.matches(t.term, c.pod) {
			continue
		}
		add := closing(t.key, "the anti-affinity of pods on it keeps it away")
		for _, n := range t.nodes {
			add(n)
		}
	}
	return out
}

// affinityCounts are the domains with a pod that all terms of a candidate select: a node
// passes if it is in such a domain for each term.
type affinityCounts struct {
	topologies []*topology
	has        [][]bool
	// first says that no pod is selected yet but the candidate itself: it may go anywhere.
	first bool
}

func (o *occupancy) affinityCounts(c *candidate) *affinityCounts {
	selected := func(p *corev1.Pod) bool { return o.matchesAll(c.affinity, p) }
	if len(c.affinity) == 0 || o.certain && o.mayChange(nil, selected) {
		return nil
	}
	a := &affinityCounts{first: selected(c.pod)}
	for _, t := range c.affinity {
		top := o.topology(t.key)
		a.topologies = append(a.topologies, top)
		a.has = append(a.has, make([]bool, top.count))
	}
	o.eachSelected(c.affinity[0], func(b *boundPod) {
		if !selected(b.pod) {
			return
		}
		for i, t := range a.topologies {
			if d := t.domain[b.node]; d >= 0 {
				a.has[i][d] = true
				a.first = false
			}
		}
	})
	return a
}

func (a *affinityCounts) passes(n int) bool {
	found := true
	for i, t := range a.topologies {
		d := t.domain[n]
		if d < 0 {
			return false
		}
		found = found && a.has[i][d]
	}
	return found || a.first
}
