package monitor

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// OperatorGroup is that of the kinds of prometheus-operator.
const OperatorGroup = "monitoring.coreos.com"

// Prometheus is a server of the cluster, and which of the planned objects it would select.
type Prometheus struct {
	Object object.Ref `json:"object"`
	// Monitors and Rules say whether it selects the planned monitors and rules.
	Monitors bool   `json:"monitors"`
	Rules    bool   `json:"rules"`
	Message  string `json:"message,omitempty"`
}

// prometheus is a Prometheus or PrometheusAgent.
type prometheus struct {
	ref    object.Ref
	object *unstructured.Unstructured
	// agent has no rules.
	agent bool
}

// Prefixes of the fields of a Prometheus that select objects.
const (
	bySelf    = "serviceMonitor"
	byPods    = "podMonitor"
	byRules   = "rule"
	byScrapes = "scrapeConfig"
)

// selectors are the fields by which a Prometheus selects the objects of a kind.
var selectors = map[string]string{"ServiceMonitor": bySelf, "PodMonitor": byPods, "PrometheusRule": byRules, "ScrapeConfig": byScrapes}

// prometheuses are those that were read.
func (m *maker) prometheuses() []prometheus {
	var out []prometheus
	for _, o := range m.ofKind("Prometheus."+OperatorGroup, "PrometheusAgent."+OperatorGroup) {
		out = append(out, prometheus{object.RefOf(o), o, o.GetKind() == "PrometheusAgent"})
	}
	slices.SortStableFunc(out, func(a, b prometheus) int { // a server before an agent
		if a.agent != b.agent && a.agent {
			return 1
		}
		return -1
	})
	return out
}

// takes says whether it selects an object of a kind with these labels: none without a selector,
// all for an empty one. Without a selector for namespaces, those in its own namespace.
func (m *maker) takes(p *prometheus, kind, namespace string, set map[string]string) bool {
	prefix := selectors[kind]
	selector, found, _ := unstructured.NestedMap(p.object.Object, "spec", prefix+"Selector")
	return (!p.agent || kind != "PrometheusRule") && selects(selector, found, set) && m.reaches(p, prefix, namespace)
}

// reaches says whether it selects objects of a namespace.
func (m *maker) reaches(p *prometheus, prefix, namespace string) bool {
	selector, found, _ := unstructured.NestedMap(p.object.Object, "spec", prefix+"NamespaceSelector")
	if !found {
		return namespace == p.ref.Namespace
	}
	return selects(selector, true, m.namespaceLabels(namespace))
}

// namespaceLabels are those of a namespace, of which its name is always one.
func (m *maker) namespaceLabels(namespace string) map[string]string {
	set := map[string]string{"kubernetes.io/metadata.name": namespace}
	for _, o := range m.ofKind("Namespace") {
		if o.GetName() == namespace {
			maps.Copy(set, o.GetLabels())
		}
	}
	return set
}

// choose chooses the Prometheus that the labels are for: the first that can select monitors in most
// of the namespaces of the apps.
func (m *maker) choose() {
	m.all = m.prometheuses()
	best := -1
	for i := range m.all {
		p := &m.all[i]
		n := 0
		for _, ns := range m.namespaces() {
			for _, kind := range []string{"ServiceMonitor", "PodMonitor"} {
				if set, ok := m.wanted(p, kind); ok && m.takes(p, kind, ns, set) {
					n += 2
				}
			}
		}
		if set, ok := m.wanted(p, "PrometheusRule"); ok && m.takes(p, "PrometheusRule", m.Namespace, set) {
			n++
		}
		if n > best && n > 0 {
			best, m.chosen = n, p
		}
	}
	switch {
	case len(m.all) == 0 && m.operated:
		m.gap("", "create a Prometheus whose serviceMonitorSelector and podMonitorSelector select them; docs/monitoring.md has an example",
			"no Prometheus was found that could select the monitors")
	case len(m.all) > 0 && m.chosen == nil:
		m.gap("", "set serviceMonitorSelector, podMonitorSelector and their namespace selectors of "+m.all[0].ref.String()+" ({} selects all)",
			"no Prometheus selects monitors in "+strings.Join(m.namespaces(), ", "))
	}
}

// planned are the kinds of the monitors of the plan with their namespaces. Where it makes none they
// are of both kinds in all namespaces, unless a Prometheus scrapes targets by monitors of others.
func (m *maker) planned(p *prometheus) (kinds, namespaces []string) {
	for _, o := range m.plan.Objects {
		u := &unstructured.Unstructured{Object: o}
		kinds, namespaces = append(kinds, u.GetKind()), append(namespaces, u.GetNamespace())
	}
	scrapes := func(t Target) bool { return t.Prometheus == p.ref.String() }
	if len(kinds) > 0 || slices.ContainsFunc(m.plan.Apps, func(a PlanApp) bool { return slices.ContainsFunc(a.Targets, scrapes) }) {
		return kinds, namespaces
	}
	for _, ns := range m.namespaces() {
		kinds, namespaces = append(kinds, "ServiceMonitor", "PodMonitor"), append(namespaces, ns, ns)
	}
	return kinds, namespaces
}

// describe adds a Prometheus to the plan, with what of the planned monitors and rules it selects.
func (m *maker) describe(p *prometheus) {
	shown := Prometheus{Object: p.ref, Monitors: true}
	var ignored []string
	kinds, namespaces := m.planned(p)
	for i, kind := range kinds {
		if about := kind + " in " + namespaces[i]; !m.takes(p, kind, namespaces[i], m.labels(kind)) && !slices.Contains(ignored, about) {
			shown.Monitors = false
			ignored = append(ignored, about)
		}
	}
	shown.Rules = m.takes(p, "PrometheusRule", m.Namespace, m.labels("PrometheusRule"))
	if !shown.Rules && !p.agent {
		ignored = append(ignored, "PrometheusRule in "+m.Namespace)
	}
	if len(ignored) > 0 {
		shown.Message = "does not select " + strings.Join(ignored, ", ")
	}
	m.plan.Prometheuses = append(m.plan.Prometheuses, shown)
}

// labels are those that the objects of a kind get: of the manifest, or what the chosen Prometheus
// selects.
func (m *maker) labels(kind string) map[string]string {
	if m.Settings.Labels != nil {
		return m.Settings.Labels
	}
	if m.chosen == nil {
		return nil
	}
	set, _ := m.wanted(m.chosen, kind)
	return set
}

// wanted are labels that a Prometheus selects; false where it selects none.
func (m *maker) wanted(p *prometheus, kind string) (map[string]string, bool) {
	if m.Settings.Labels != nil {
		return m.Settings.Labels, true
	}
	selector, found, _ := unstructured.NestedMap(p.object.Object, "spec", selectors[kind]+"Selector")
	var typed metav1.LabelSelector
	if !found || runtime.DefaultUnstructuredConverter.FromUnstructured(selector, &typed) != nil {
		return nil, false
	}
	set := map[string]string{}
	maps.Copy(set, typed.MatchLabels)
	for _, e := range typed.MatchExpressions {
		_, has := set[e.Key]
		switch {
		case has:
		case e.Operator == metav1.LabelSelectorOpIn && len(e.Values) > 0:
			set[e.Key] = e.Values[0]
		case e.Operator == metav1.LabelSelectorOpExists:
			set[e.Key] = "true"
		}
	}
	s, err := metav1.LabelSelectorAsSelector(&typed)
	return set, err == nil && s.Matches(labels.Set(set))
}

// namespaces are those of the workloads, in order.
func (m *maker) namespaces() []string {
	var out []string
	for i := range m.apps {
		for _, w := range m.apps[i].workloads {
			out = append(out, w.ref.Namespace)
		}
	}
	if len(out) == 0 {
		out = []string{m.Namespace}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
