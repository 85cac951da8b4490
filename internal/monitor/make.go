package monitor

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

const operatorVersion = OperatorGroup + "/v1"

// makeMonitor makes the monitor of a port: a ServiceMonitor where one Service alone has the port and the
// labels by which it is selected, else a PodMonitor.
func (m *maker) makeMonitor(a *monitored, w *workload, e endpoint) Target {
	t := Target{Object: w.ref, Port: e.port(), Path: e.path, Why: e.why}
	if svc, port, ok := m.serviceOf(w, e); ok {
		t.How = ServiceMonitor
		t.By = m.monitor(t.How, w.ref.Namespace, svc.GetName(), map[string]any{"matchLabels": anyMap(stableLabels(svc))}, m.endpoint(a, map[string]any{"port": port}, e))
	} else if w.selector == nil {
		m.gap(w.ref.String(), "write a PodMonitor for its pods: the catalog does not say how they are selected", "it serves metrics, and nothing selects its pods")
		t.How = NoEndpoint
		return t
	} else {
		t.How = PodMonitor
		port := map[string]any{"port": e.name}
		switch {
		case e.undeclared:
			port = nil
		case e.name == "":
			port = map[string]any{"targetPort": e.number} // deprecated, and known to every version
		}
		name := m.nameOf(w.ref)
		if w.owner != nil && w.ref.Group != "apps" {
			name = w.owner.GetName() // the catalog selects the pods of all that its operator made
		}
		t.By = m.monitor(t.How, w.ref.Namespace, name, w.selector, m.endpoint(a, port, e))
	}
	if e.https {
		m.gap(w.ref.String(), "set tlsConfig in a monitor of your own where that matters", t.By+" scrapes it by https, and does not verify its certificate")
	}
	if m.chosen != nil {
		kind := map[string]string{ServiceMonitor: "ServiceMonitor", PodMonitor: "PodMonitor"}[t.How]
		if m.takes(m.chosen, kind, w.ref.Namespace, m.labels(kind)) {
			t.Prometheus = m.chosen.ref.String()
		}
	}
	if t.Prometheus == "" && len(m.all) > 0 {
		m.gap(w.ref.String(), "let the selectors of "+m.all[0].ref.String()+" select it, or set spec.monitoring.labels", "no Prometheus selects the monitor "+t.By)
	}
	return t
}

// nameOf is the name of a workload; with its kind, where another one has the same name.
func (m *maker) nameOf(ref object.Ref) string {
	for i := range m.apps {
		for _, w := range m.apps[i].workloads {
			if w.ref != ref && w.ref.Name == ref.Name && w.ref.Namespace == ref.Namespace {
				return ref.Name + "-" + strings.ToLower(ref.Kind)
			}
		}
	}
	return ref.Name
}

// serviceOf finds the Service of a port, with the name of its own port. Another Service that the
// same labels select would be scraped as well, so there must be none.
func (m *maker) serviceOf(w *workload, e endpoint) (*unstructured.Unstructured, string, bool) {
	for _, svc := range m.serving(w) {
		stable := stableLabels(svc)
		if len(stable) == 0 || slices.ContainsFunc(m.services, func(other *unstructured.Unstructured) bool {
			return other != svc && other.GetNamespace() == svc.GetNamespace() && selects(map[string]any{"matchLabels": anyMap(stable)}, true, other.GetLabels())
		}) {
			continue
		}
		for _, p := range list(svc, "spec", "ports") {
			name := textOf(p["name"])
			if _, number := w.targetOf(p); name != "" && number == e.number && number != 0 && m.servesOnly(svc, w) {
				return svc, name, true
			}
		}
	}
	return nil, "", false
}

// stableLabels are the labels of a Service that its own selector has too. Others, as the version of
// its chart, change with an upgrade, and a monitor that selects by them would match nothing.
func stableLabels(svc *unstructured.Unstructured) map[string]string {
	selector, _, _ := unstructured.NestedStringMap(svc.Object, "spec", "selector")
	out := svc.GetLabels()
	maps.DeleteFunc(out, func(k, v string) bool {
		selected, has := selector[k]
		return !has || selected != v
	})
	return out
}

// servesOnly says whether a Service selects the pods of no other workload, which would be scraped
// as if they were of this app.
func (m *maker) servesOnly(svc *unstructured.Unstructured, w *workload) bool {
	for i := range m.apps {
		for j := range m.apps[i].workloads {
			other := &m.apps[i].workloads[j]
			if other.ref != w.ref && slices.Contains(m.serving(other), svc) {
				return false
			}
		}
	}
	return true
}

// endpoint is an endpoint of a monitor. Its series carry the System and the app, so that alerts and
// dashboards find them.
func (m *maker) endpoint(a *monitored, port map[string]any, e endpoint) map[string]any {
	out := map[string]any{}
	maps.Copy(out, port)
	if e.path != "" {
		out["path"] = e.path
	}
	if e.https {
		out["scheme"], out["tlsConfig"] = "https", map[string]any{"insecureSkipVerify": true}
	}
	if i := m.Settings.Interval; i != 0 {
		out["interval"] = model.Duration(i).String()
	}
	label := func(name, value string) map[string]any {
		return map[string]any{"action": "replace", "targetLabel": name, "replacement": value}
	}
	relabelings := []any{label(NamespaceLabel, m.Namespace), label(SystemLabel, m.Name), label(AppLabel, a.Name)}
	if len(port) == 0 {
		relabelings = append(relabelings, atAddress(e.number)...)
	}
	out["relabelings"] = relabelings
	return out
}

// atAddress are relabelings that scrape a port of the pod which no container declares. The operator
// finds pods by their declared ports alone, so every port of every container becomes a target: with
// one address and no container among their labels they are one target.
func atAddress(number int64) []any {
	at := func(regex, host string) map[string]any {
		return map[string]any{
			"action": "replace", "sourceLabels": []any{"__meta_kubernetes_pod_ip"}, "regex": regex,
			"targetLabel": "__address__", "replacement": fmt.Sprintf("%s:%d", host, number),
		}
	}
	return []any{at("([^:]+)", "$1"), at("(.*:.*)", "[$1]"), map[string]any{"action": "labeldrop", "regex": "container"}}
}

// monitor adds an endpoint to a monitor of the plan, which is made for the first, and returns the
// monitor.
func (m *maker) monitor(how, namespace, name string, selector, endpoint map[string]any) string {
	kind, field := "ServiceMonitor", "endpoints"
	if how == PodMonitor {
		kind, field = "PodMonitor", "podMetricsEndpoints"
	}
	ref := object.Ref{Group: OperatorGroup, Kind: kind, Namespace: namespace, Name: clip(m.Name + "-" + name)}
	for _, o := range m.plan.Objects {
		if u := (&unstructured.Unstructured{Object: o}); object.RefOf(u) == ref {
			spec := o["spec"].(map[string]any)
			if all := spec[field].([]any); !slices.ContainsFunc(all, func(has any) bool { return reflect.DeepEqual(has, endpoint) }) {
				spec[field] = append(all, endpoint)
			}
			return ref.String()
		}
	}
	m.add(operatorVersion, kind, namespace, ref.Name, m.labels(kind), map[string]any{"spec": map[string]any{"selector": selector, field: []any{endpoint}}})
	return ref.String()
}

// clip keeps a name within what a label may have.
func clip(name string) string {
	const most = 63
	if len(name) <= most {
		return name
	}
	return strings.TrimRight(fmt.Sprintf("%s-%x", name[:most-9], sum(name)), "-.")
}
