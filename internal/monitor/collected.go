package monitor

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// scrape is a port that a monitor of others scrapes.
type scrape struct {
	by   *unstructured.Unstructured
	port string
	// number is that of the container port; 0 where it is unknown.
	number int64
}

// collected finds the monitors that scrape a workload already.
func (m *maker) collected(w *workload) []scrape {
	var out []scrape
	for _, o := range m.ofKind("ServiceMonitor."+OperatorGroup, "PodMonitor."+OperatorGroup, "ScrapeConfig."+OperatorGroup) {
		if m.own(o) {
			continue
		}
		switch o.GetKind() {
		case "ServiceMonitor":
			out = append(out, m.byService(o, w)...)
		case "PodMonitor":
			out = append(out, byPod(o, w)...)
		default:
			out = append(out, m.byAddress(o, w)...)
		}
	}
	return out
}

func (m *maker) byService(o *unstructured.Unstructured, w *workload) []scrape {
	selector, found, _ := unstructured.NestedMap(o.Object, "spec", "selector")
	if !inNamespace(o, w.ref.Namespace) {
		return nil
	}
	var out []scrape
	for _, svc := range m.serving(w) {
		if !selects(selector, found, svc.GetLabels()) {
			continue
		}
		for _, e := range list(o, "spec", "endpoints") {
			name, target := textOf(e["port"]), textOf(e["targetPort"])
			for _, p := range list(svc, "spec", "ports") {
				if name != "" && textOf(p["name"]) == name {
					port, number := w.targetOf(p)
					out = append(out, scrape{o, port, number})
				}
			}
			if port, number, ok := w.hasPort(target); name == "" && ok {
				out = append(out, scrape{o, port, number})
			}
		}
	}
	return out
}

func byPod(o *unstructured.Unstructured, w *workload) []scrape {
	selector, found, _ := unstructured.NestedMap(o.Object, "spec", "selector")
	if !inNamespace(o, w.ref.Namespace) || !selects(selector, found, w.labels) {
		return nil
	}
	var out []scrape
	for _, e := range list(o, "spec", "podMetricsEndpoints") {
		for _, field := range []string{"port", "portNumber", "targetPort"} {
			if name, number, ok := w.hasPort(textOf(e[field])); ok {
				out = append(out, scrape{o, name, number})
				break
			}
		}
	}
	return out
}

// byAddress finds static targets that name a Service of the workload.
func (m *maker) byAddress(o *unstructured.Unstructured, w *workload) []scrape {
	var out []scrape
	for _, c := range list(o, "spec", "staticConfigs") {
		targets, _, _ := unstructured.NestedStringSlice(c, "targets")
		for _, target := range targets {
			host, port, _ := strings.Cut(target, ":")
			for _, svc := range m.serving(w) {
				at := svc.GetName() + "." + svc.GetNamespace()
				if host != at && !strings.HasPrefix(host, at+".svc") {
					continue
				}
				for _, p := range list(svc, "spec", "ports") {
					if textOf(p["port"]) == port {
						name, number := w.targetOf(p)
						out = append(out, scrape{o, name, number})
					}
				}
			}
		}
	}
	return out
}

// inNamespace says whether a monitor selects in a namespace: in its own, unless it says otherwise.
func inNamespace(o *unstructured.Unstructured, namespace string) bool {
	all, _, _ := unstructured.NestedBool(o.Object, "spec", "namespaceSelector", "any")
	names, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "namespaceSelector", "matchNames")
	return all || slices.Contains(names, namespace) || len(names) == 0 && o.GetNamespace() == namespace
}

// serving are the Services that select the pods of a workload.
func (m *maker) serving(w *workload) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, svc := range m.services {
		selector, found, _ := unstructured.NestedMap(svc.Object, "spec", "selector")
		if svc.GetNamespace() == w.ref.Namespace && len(selector) > 0 && selects(map[string]any{"matchLabels": selector}, found, w.labels) {
			out = append(out, svc)
		}
	}
	return out
}

// targetOf is the container port that a port of a Service leads to.
func (w *workload) targetOf(port map[string]any) (string, int64) {
	target := textOf(port["targetPort"])
	if target == "" || target == "0" {
		target = textOf(port["port"])
	}
	if name, number, ok := w.hasPort(target); ok {
		return name, number
	}
	number, _ := strconv.ParseInt(target, 10, 64)
	return "", number
}

// takenBy is the Prometheus that selects a monitor; empty for none.
func (m *maker) takenBy(o *unstructured.Unstructured) string {
	for i := range m.all {
		if m.takes(&m.all[i], o.GetKind(), o.GetNamespace(), o.GetLabels()) {
			return m.all[i].ref.String()
		}
	}
	return ""
}

// intervalOf is the interval of the endpoints of a monitor, or several.
func intervalOf(o *unstructured.Unstructured) string {
	var out []string
	for _, field := range []string{"endpoints", "podMetricsEndpoints"} {
		for _, e := range list(o, "spec", field) {
			if interval := textOf(e["interval"]); !slices.Contains(out, interval) {
				out = append(out, interval)
			}
		}
	}
	return strings.Join(out, ", ")
}

// list are the items of a field that are mappings.
func list(o *unstructured.Unstructured, path ...string) []map[string]any {
	all, _, _ := unstructured.NestedSlice(o.Object, path...)
	var out []map[string]any
	for _, item := range all {
		if fields, ok := item.(map[string]any); ok {
			out = append(out, fields)
		}
	}
	return out
}

// textOf is a name or a number.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

func nameOf(o *unstructured.Unstructured) string { return object.RefOf(o).String() }
