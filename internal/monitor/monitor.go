// Package monitor plans how a System, or the stacks of some roots, are monitored: who scrapes what,
// with which monitors, alerts and dashboard. Make computes a plan from objects; package
// monitoring reads these from a cluster or a snapshot. It writes nothing: the objects of a plan are a System of their
// own (installer.Generated).
package monitor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Labels of the objects that are made, and of the series that they scrape or record.
const (
	OwnLabel    = "sysop.dev/monitoring"
	SystemLabel = check.SeriesSystem
	// NamespaceLabel is the namespace of the System: those of two namespaces may have one name.
	NamespaceLabel = check.SeriesNamespace
	AppLabel       = check.SeriesApp
)

// Suffix is that of the name of the installation which holds the objects.
const Suffix = "-monitoring"

// Scope is what a plan is made from.
type Scope struct {
	// Name is that of the System, or NameOf the first root, and Namespace where rules and dashboard are.
	Name, Namespace string
	// System says that it is a System, whose apps regulate watch observes.
	System   bool
	Settings system.Monitoring
	// Prices are those of the panel of costs; nil for none.
	Prices  *Prices
	Apps    []App
	Cluster Cluster
}

// Prices are what an hour costs, of a core and of a GiB of memory.
type Prices struct{ CPU, Memory, Currency string }

// App is an app of the System, a stack, or what several of them need.
type App struct {
	Name    string
	Setting system.AppMonitoring
	// UsedBy are the apps that need it, where it is a part of none, and Parts which of them need which
	// part of it.
	UsedBy []string
	Parts  map[object.Ref][]string
	// Objects are its workloads, pods, custom resources, Jobs, CronJobs and claims.
	Objects []*unstructured.Unstructured
}

// Cluster is what collects and shows metrics, and what leads to pods.
type Cluster struct {
	// Objects are Services, autoscalers, Namespaces, monitors, Prometheuses and Grafanas.
	Objects []*unstructured.Unstructured
	// Serves says whether a kind (Kind.group) is served.
	Serves func(kind string) bool
	// Gaps are what could not be read.
	Gaps []object.Gap
}

// Ways in which a target is scraped.
const (
	Collected      = "collected"      // by a monitor that exists
	Switch         = "switch"         // once the operator's own switch is set
	ServiceMonitor = "servicemonitor" // by one that the plan makes
	PodMonitor     = "podmonitor"
	Annotations    = "annotations" // by a Prometheus that reads annotations
	Unselected     = "unselected"  // by a monitor that no Prometheus selects
	NoEndpoint     = "unknown"     // nothing says that it serves metrics
	Off            = "off"
)

// Plan is how an installation is monitored. It is the document of monitor plan.
type Plan struct {
	// Name is that of the System or root, and Installation that of its monitors.
	Name         string       `json:"name"`
	Namespace    string       `json:"namespace"`
	Installation string       `json:"installation"`
	Apps         []PlanApp    `json:"apps"`
	Prometheuses []Prometheus `json:"prometheuses"`
	Alerts       []Alert      `json:"alerts"`
	// Objects are made by monitor apply.
	Objects []map[string]any `json:"objects"`
	Gaps    []Gap            `json:"gaps"`
	// pods are those that the apps have now, and serving is how many of them can be targets.
	pods    map[string][]object.Ref
	serving map[string]int
}

// Manifests returns the objects of a plan.
func (p *Plan) Manifests() []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, o := range p.Objects {
		out = append(out, &unstructured.Unstructured{Object: o})
	}
	return out
}

// PlanApp is an app, with the targets that have its metrics.
type PlanApp struct {
	Name    string   `json:"name"`
	UsedBy  []string `json:"usedBy,omitempty"`
	Targets []Target `json:"targets"`
}

// Target is a workload, or a custom resource whose operator runs pods.
type Target struct {
	Object object.Ref `json:"object"`
	How    string     `json:"how"`
	// By is the monitor that scrapes it, with the Prometheus that selects this one.
	By         string `json:"by,omitempty"`
	Prometheus string `json:"prometheus,omitempty"`
	Port       string `json:"port,omitempty"`
	Path       string `json:"path,omitempty"`
	// Why is the evidence: the field that says so.
	Why string `json:"why"`
	// Command sets the operator's switch.
	Command string `json:"command,omitempty"`

	interval string
}

// Interval is how often the monitor of others scrapes it; empty for the default of the Prometheus.
func (t *Target) Interval() string { return t.interval }

// Gap is something that the plan lacks, and the way out.
type Gap struct {
	Object  string `json:"object,omitempty"`
	Message string `json:"message"`
	Help    string `json:"help,omitempty"`
}

// String is a line for people.
func (g Gap) String() string {
	text := g.Message
	if g.Object != "" {
		text = g.Object + ": " + text
	}
	if g.Help != "" {
		text += "; " + g.Help
	}
	return text
}

// Make makes the plan of a scope. It is pure, and total: what it lacks are gaps.
func Make(s Scope) *Plan {
	m := &maker{Scope: s, plan: &Plan{
		Name: s.Name, Namespace: s.Namespace, Installation: Installation(s.Name),
		Apps: []PlanApp{}, Prometheuses: []Prometheus{}, Alerts: []Alert{}, Objects: []map[string]any{}, Gaps: []Gap{},
		pods: map[string][]object.Ref{}, serving: map[string]int{},
	}}
	m.operated = m.serves("ServiceMonitor") && m.serves("PodMonitor")
	m.services = m.ofKind("Service")
	apps := s.Apps
	if app, ok := s.regulation(); ok {
		m.watched = app.Name
		apps = append(slices.Clone(apps), app)
	}
	for _, app := range apps {
		m.apps = append(m.apps, m.read(app))
		for _, o := range app.Objects {
			if kindOf(o) == "Pod" {
				m.plan.pods[app.Name] = append(m.plan.pods[app.Name], object.RefOf(o))
				if !completes(o) {
					m.plan.serving[app.Name]++
				}
			}
		}
	}
	m.choose()
	for i := range m.apps {
		m.app(&m.apps[i])
	}
	for i := range m.all {
		m.describe(&m.all[i])
	}
	if !s.Settings.NoAlerts || !s.Settings.NoDashboard {
		m.alerts()
	}
	if !s.Settings.NoDashboard {
		m.dashboard()
	}
	m.addGaps()
	return m.plan
}

// completes says whether a pod ended, or is to end: no monitor scrapes those of Jobs.
func completes(pod *unstructured.Unstructured) bool {
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	owner := metav1.GetControllerOf(pod)
	return phase == "Succeeded" || phase == "Failed" || owner != nil && owner.Kind == "Job"
}

// Installation is the name of the installation that has the monitors of a scope.
func Installation(name string) string { return clip(strings.ReplaceAll(name, ".", "-") + Suffix) }

// systemRoot is the type of a root that is a System.
const systemRoot = "system"

// NameOf is the name of the scope of a root: its kind and name, since a Deployment and a StatefulSet
// may have one name; that of a System is its own.
func NameOf(kind, name string) string {
	if kind = strings.ToLower(kind); kind != systemRoot {
		return kind + "-" + name
	}
	return name
}

// maker makes a plan.
type maker struct {
	Scope
	plan     *Plan
	apps     []monitored
	services []*unstructured.Unstructured
	// operated says that monitors are served.
	operated bool
	// chosen is the Prometheus whose selectors the labels fit; nil for none.
	chosen *prometheus
	all    []prometheus
	// watched is the app of regulate watch; empty for none.
	watched string
}

// serves says whether a kind of prometheus-operator is served.
func (m *maker) serves(kind string) bool { return m.Cluster.Serves(kind + "." + OperatorGroup) }

// ofKind are the objects of a kind, which is written Kind.group.
func (m *maker) ofKind(kinds ...string) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, o := range m.Cluster.Objects {
		if slices.Contains(kinds, kindOf(o)) {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b *unstructured.Unstructured) int { return object.Compare(object.RefOf(a), object.RefOf(b)) })
	return out
}

func kindOf(o *unstructured.Unstructured) string { return object.RefOf(o).GroupKind().String() }

func (m *maker) gap(about, help, message string) {
	g := Gap{about, message, help}
	if !slices.Contains(m.plan.Gaps, g) {
		m.plan.Gaps = append(m.plan.Gaps, g)
	}
}

// addGaps adds what no object can make good.
func (m *maker) addGaps() {
	if !m.operated {
		m.gap("", "kubectl sysop install prometheus-operator, or let your Prometheus read the annotations of pods",
			"the cluster does not serve ServiceMonitor and PodMonitor of "+OperatorGroup+", so no monitors are made")
	}
	m.addRegulationGap()
	for _, g := range m.Cluster.Gaps {
		m.gap(g.Resource, "", "could not be read: "+g.Message)
	}
	slices.SortStableFunc(m.plan.Gaps, func(a, b Gap) int { return cmp.Compare(a.Object, b.Object) })
}

// add adds an object to the plan.
func (m *maker) add(apiVersion, kind, namespace, name string, labels map[string]string, body map[string]any) {
	marks := map[string]any{OwnLabel: clip(m.Name)}
	for k, v := range labels {
		marks[k] = v
	}
	o := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name, "namespace": namespace, "labels": marks}}
	maps.Copy(o, body)
	m.plan.Objects = append(m.plan.Objects, o)
}

// series are the matchers of the series of the System, or of one of its apps.
func (m *maker) series(app string) string {
	text := fmt.Sprintf("%s=%q,%s=%q", NamespaceLabel, m.Namespace, SystemLabel, m.Name)
	if app != "" {
		text += fmt.Sprintf(",%s=%q", AppLabel, app)
	}
	return text
}

// own says whether an object is one that an earlier run made for this scope.
func (m *maker) own(o *unstructured.Unstructured) bool { return IsOwn(m.Name, o.GetLabels()) }

// IsOwn says whether labels are those of an object that was made for the scope of a name.
func IsOwn(name string, labels map[string]string) bool { return labels[OwnLabel] == clip(name) }
