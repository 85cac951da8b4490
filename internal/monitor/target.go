package monitor

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// app plans the targets of an app, and makes the monitors that they lack.
func (m *maker) app(a *monitored) {
	p := PlanApp{Name: a.Name, UsedBy: a.UsedBy, Targets: []Target{}}
	running := map[object.Ref]bool{}
	for i := range a.workloads {
		w := &a.workloads[i]
		if w.owner != nil {
			running[object.RefOf(w.owner)] = true
		}
		for _, t := range m.targets(a, w) {
			if !slices.Contains(p.Targets, t) { // a custom resource may have several workloads, and one switch
				p.Targets = append(p.Targets, t)
			}
		}
	}
	for _, o := range a.custom {
		if ref := object.RefOf(o); !running[ref] {
			p.Targets = append(p.Targets, m.unstarted(a, o)...)
		}
	}
	for _, t := range p.Targets {
		if t.How == Switch {
			m.gap(t.Object.String(), t.Command, "the switch of its operator for metrics is not set")
		}
	}
	m.plan.Apps = append(m.plan.Apps, p)
}

// targets are those of one workload: what collects it already, else the operator's switch, else a
// monitor.
func (m *maker) targets(a *monitored, w *workload) []Target {
	if a.Setting.Off {
		return []Target{{Object: w.ref, How: Off, Why: "monitoring: false of app " + a.Name}}
	}
	endpoints, taken := w.endpoints(a), m.collected(w)
	if len(endpoints) == 0 {
		return m.unknown(a, w, taken)
	}
	existing, scraped := m.operatorScrapes(w.owner)
	var out []Target
	for _, e := range endpoints {
		at := slices.IndexFunc(taken, func(s scrape) bool { return s.number == e.number })
		switch t, changed := m.switchOf(w.owner); {
		case at >= 0:
			out = append(out, m.taken(w.ref, taken[at], e.port()))
		case changed && t.By != "": // pods that serve metrics need no switch by which they do
			out = append(out, t)
		case scraped && (existing.Port == e.name || existing.Port == strconv.FormatInt(e.number, 10)): // its operator makes the monitor
			out = append(out, existing)
		case w.isAnnotated(e) && a.Setting.Port == "" && m.readsAnnotations():
			m.unreadConfig(w, e)
			out = append(out, Target{Object: w.ref, How: Annotations, Port: e.port(), Path: e.path, Why: e.why})
		case !m.operated:
			m.gap(w.ref.String(), e.annotations()+" among the annotations of its pods let a Prometheus that reads them scrape it",
				"it serves metrics, and no monitor can be made")
			out = append(out, Target{Object: w.ref, How: NoEndpoint, Port: e.port(), Path: e.path, Why: e.why})
		default:
			out = append(out, m.makeMonitor(a, w, e))
		}
	}
	return out
}

// unknown are the targets of a workload of which nothing says where it serves metrics.
func (m *maker) unknown(a *monitored, w *workload, taken []scrape) []Target {
	var out []Target
	for _, s := range taken {
		out = append(out, m.taken(w.ref, s, s.port))
	}
	if len(out) > 0 {
		return out
	}
	if t, changed := m.switchOf(w.owner); changed {
		return []Target{t}
	}
	if t, scraped := m.operatorScrapes(w.owner); scraped {
		return []Target{t}
	}
	help := "name a port metrics in its pod template, or add an exporter"
	if a.Setting.Port != "" {
		m.gap(w.ref.String(), "correct monitoring.port of app "+a.Name, "no container has a port "+a.Setting.Port)
		return []Target{{Object: w.ref, How: NoEndpoint, Why: "no container has a port " + a.Setting.Port}}
	}
	m.gap(w.ref.String(), help+"; in a System, apps[].monitoring: {port: NUMBER} says where it serves them", "no metrics endpoint is known")
	return []Target{{Object: w.ref, How: NoEndpoint, Why: "no port, annotation or image says that it serves metrics"}}
}

// taken is a target that a monitor of others scrapes.
func (m *maker) taken(ref object.Ref, s scrape, port string) Target {
	t := Target{Object: ref, How: Collected, By: nameOf(s.by), Prometheus: m.takenBy(s.by), Port: port, Why: "the selector of " + nameOf(s.by) + " selects it", interval: intervalOf(s.by)}
	if t.Prometheus == "" && len(m.all) > 0 {
		t.How = Unselected
		m.gap(ref.String(), "give it labels that "+m.all[0].ref.String()+" selects", nameOf(s.by)+" would scrape it, and no Prometheus selects that monitor")
	}
	return t
}

// readsAnnotations says whether a Prometheus may scrape by annotations: one without an operator, or
// one that has scrape configurations of its own.
func (m *maker) readsAnnotations() bool {
	return len(m.all) == 0 || slices.ContainsFunc(m.all, additionalConfig)
}

// additionalConfig says whether a Prometheus has scrape configurations of its own. They are in a
// Secret, which is not read: they may be about anything.
func additionalConfig(p prometheus) bool {
	_, found, _ := unstructured.NestedFieldNoCopy(p.object.Object, "spec", "additionalScrapeConfigs")
	return found
}

// unreadConfig says that the annotations of a workload may have no reader.
func (m *maker) unreadConfig(w *workload, e endpoint) {
	if i := slices.IndexFunc(m.all, additionalConfig); i >= 0 {
		m.gap(w.ref.String(), fmt.Sprintf("unless they do, apps[].monitoring: {port: %d} in a System makes a monitor", e.number),
			"no monitor is made: "+m.all[i].ref.String()+" has additionalScrapeConfigs, which may read the annotations of pods")
	}
}

// switchOf is the operator's switch of a custom resource, unless it is set or there is none.
func (m *maker) switchOf(o *unstructured.Unstructured) (Target, bool) {
	if o == nil {
		return Target{}, false
	}
	ref := object.RefOf(o)
	c, known := catalog.MonitoringOf(ref.GroupKind())
	if !known || len(c.Set) == 0 || covers(o.Object, c.Set) {
		return Target{}, false
	}
	if c.Creates != "" && !m.Cluster.Serves(c.Creates) {
		return Target{}, false
	}
	patch, err := json.Marshal(c.Set)
	if err != nil {
		return Target{}, false
	}
	t := Target{
		Object: ref, How: Switch, Port: c.Port, Path: c.Path, Why: "catalog: " + c.Source,
		Command: fmt.Sprintf("kubectl patch %s %s -n %s --type merge -p '%s'", strings.ToLower(ref.GroupKind().String()), ref.Name, ref.Namespace, patch),
	}
	t.By = created(c)
	return t, true
}

// created is what an operator creates to have a custom resource scraped; empty for nothing.
func created(c catalog.Monitoring) string {
	switch c.Creates {
	case "":
		return ""
	case "Prometheus." + OperatorGroup:
		return "a scrape configuration that its operator adds to a Prometheus"
	}
	return "a " + c.Creates + " of its operator"
}

// operatorScrapes is the target of a custom resource whose operator makes a monitor, and was told to.
func (m *maker) operatorScrapes(o *unstructured.Unstructured) (Target, bool) {
	if o == nil {
		return Target{}, false
	}
	ref := object.RefOf(o)
	c, known := catalog.MonitoringOf(ref.GroupKind())
	if !known || c.Creates == "" || !covers(o.Object, c.Set) || !m.Cluster.Serves(c.Creates) {
		return Target{}, false
	}
	return Target{Object: ref, How: Collected, By: created(c), Port: c.Port, Path: c.Path, Why: "catalog: " + c.Source}, true
}

// covers says whether an object has all the fields of a patch. Another text than that of the patch is
// a choice of its own, and counts, unless the text is true or false.
func covers(o, patch map[string]any) bool {
	for k, v := range patch {
		inner, isMap := v.(map[string]any)
		if has, ok := o[k].(map[string]any); isMap && (!ok || !covers(has, inner)) {
			return false
		}
		text, isText := o[k].(string)
		if chosen := isText && text != "" && v != "true" && v != "false"; !isMap && !chosen && !reflect.DeepEqual(o[k], v) {
			return false
		}
	}
	return true
}

// unstarted are the targets of a custom resource that has no pods yet.
func (m *maker) unstarted(a *monitored, o *unstructured.Unstructured) []Target {
	ref := object.RefOf(o)
	c, known := catalog.MonitoringOf(ref.GroupKind())
	existing, scraped := m.operatorScrapes(o)
	switch t, changed := m.switchOf(o); {
	case !known:
		return nil
	case a.Setting.Off:
		return []Target{{Object: ref, How: Off, Why: "monitoring: false of app " + a.Name}}
	case changed:
		return []Target{t}
	case scraped:
		return []Target{existing}
	case c.Pods == "" || !m.operated:
		m.gap(ref.String(), "run the same command again once it runs", "its pods do not exist yet, so nothing is known of their ports")
		return []Target{{Object: ref, How: NoEndpoint, Why: "its operator has not created pods"}}
	}
	w := workload{ref: ref, owner: o, selector: filled(c.Pods, ref.Name)}
	return []Target{m.makeMonitor(a, &w, w.ofCatalog(c, "catalog: "+c.Source)[0])}
}
