package monitor

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// grafanaKind is the kind of dashboards of the grafana-operator.
const grafanaKind = "GrafanaDashboard.grafana.integreatly.org"

// dashboard makes the Grafana dashboard of the System: for the operator of Grafana where that is
// served, else a ConfigMap with the label by which the sidecar of Grafana finds it.
func (m *maker) dashboard() {
	d := &board{m: m}
	text, err := json.MarshalIndent(d.document(), "", " ")
	if err != nil {
		m.gap("", "", "the dashboard cannot be written: "+err.Error())
		return
	}
	name := clip(m.Name + "-dashboard")
	if !m.Cluster.Serves(grafanaKind) {
		m.add("v1", "ConfigMap", m.Namespace, name, map[string]string{"grafana_dashboard": "1"}, map[string]any{"data": map[string]any{m.Name + ".json": string(text)}})
		return
	}
	selector := map[string]any{}
	if all := m.ofKind("Grafana.grafana.integreatly.org"); len(all) > 0 {
		selector["matchLabels"] = anyMap(all[0].GetLabels())
	}
	m.add("grafana.integreatly.org/v1beta1", "GrafanaDashboard", m.Namespace, name, nil, map[string]any{
		"spec": map[string]any{"instanceSelector": selector, "allowCrossNamespaceImport": true, "json": string(text)},
	})
}

// columns is how wide a dashboard of Grafana is.
const columns = 24

// board lays panels out in rows.
type board struct {
	m      *maker
	panels []any
	y, id  int
}

// panel is what a panel shows.
type panel struct {
	title, unit string
	queries     []query
}

type query struct{ expr, legend string }

var source = map[string]any{"type": "prometheus", "uid": "${datasource}"}

func (d *board) document() map[string]any {
	m := d.m
	selector := "{" + m.series("") + "}"
	d.row("System " + m.Name)
	pods := podsRecord + selector
	stats := []panel{{"Targets down", "none", []query{{countOf("up"+selector+" == 0", "up"+selector), ""}}}}
	if !m.Settings.NoAlerts {
		stats = append(stats, panel{"Alerts firing", "none", []query{{countOf(fmt.Sprintf(`ALERTS{%s,alertstate="firing"}`, m.series("")), pods), ""}}})
	}
	if m.System {
		health := "sysop_regulate_app_health{" + fmt.Sprintf(`system_namespace=%q,system=%q`, m.Namespace, m.Name)
		stats = append(stats, panel{"Apps not Healthy", "none", []query{{countOf("max by (app) ("+health+`,health!~"Healthy|Suspended"})`, "max by (app) ("+health+"})"), ""}}})
	}
	d.line("stat", 4, append(stats,
		panel{"Pods not ready", "none", []query{{countOf(`kube_pod_status_ready{condition="false"} * on (namespace, pod) group_left () `+pods+` > 0`, pods), ""}}},
		panel{"Restarts in an hour", "none", []query{{`sum(increase(kube_pod_container_status_restarts_total[1h]) * on (namespace, pod) group_left () ` + pods + `)`, ""}}},
	)...)
	trends := []panel{
		{"CPU by app", "none", []query{{d.usage(cpuUsed, selector, AppLabel), "{{" + AppLabel + "}}"}}},
		{"Memory by app", "bytes", []query{{d.usage(memoryUsed, selector, AppLabel), "{{" + AppLabel + "}}"}}},
	}
	if p := m.Prices; p != nil {
		trends = append(trends, panel{"Cost by app, " + p.Currency + " a month", "none", []query{{d.cost(p, selector), "{{" + AppLabel + "}}"}}})
	}
	d.line("timeseries", 8, trends...)
	for i := range m.apps {
		d.app(&m.apps[i])
	}
	return map[string]any{
		"uid": fmt.Sprintf("sysop-%x", sum(m.Namespace+"/"+m.Name)), "title": "System " + m.Name, "tags": []any{"kubectl-sysop"},
		"schemaVersion": 39, "version": 1, "editable": true, "refresh": "30s", "time": map[string]any{"from": "now-6h", "to": "now"},
		"annotations": map[string]any{"list": []any{}},
		"templating":  map[string]any{"list": []any{map[string]any{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}}},
		"panels":      d.panels,
	}
}

// What containers use, request, and are limited to. Each has one series a container.
const (
	cpuUsed      = `max by (namespace, pod, container) (rate(container_cpu_usage_seconds_total{container!=""}[5m]))`
	memoryUsed   = `max by (namespace, pod, container) (container_memory_working_set_bytes{container!=""})`
	requested    = `max by (namespace, pod, container) (kube_pod_container_resource_requests{resource="%s"})`
	limited      = `max by (namespace, pod, container) (kube_pod_container_resource_limits{resource="%s"})`
	throttled    = `sum by (namespace, pod, container) (rate(container_cpu_cfs_throttled_periods_total{container!=""}[5m])) / sum by (namespace, pod, container) (rate(container_cpu_cfs_periods_total{container!=""}[5m]))`
	restartsHour = `increase(kube_pod_container_status_restarts_total[1h])`
)

// countOf counts series: 0 only where known ones exist, so that a lack of data does not look well.
func countOf(series, known string) string {
	return fmt.Sprintf("count(%s) or 0 * count(%s)", series, known)
}

// usage sums an amount of containers over the pods that a selector of the record has.
func (d *board) usage(amount, selector string, labels ...string) string {
	return fmt.Sprintf(`sum by (%s) (%s * on (namespace, pod) group_left (%s) %s%s)`, strings.Join(labels, ", "), amount, AppLabel, podsRecord, selector)
}

// cost is what the pods of each app cost a month at the usage and requests of the moment: the larger of both
// is charged, as by metrics.
func (d *board) cost(p *Prices, selector string) string {
	charged := func(used, resource string) string {
		request := fmt.Sprintf(requested, resource)
		return fmt.Sprintf("((%[1]s > %[2]s) or %[2]s or %[1]s)", used, request)
	}
	cpu := d.usage(charged(cpuUsed, "cpu"), selector, AppLabel) + " * " + p.CPU
	memory := d.usage(charged(memoryUsed, "memory"), selector, AppLabel) + " * " + p.Memory + " / 1024 ^ 3"
	// An app of which only one is known has that cost.
	return fmt.Sprintf("%d * (%[2]s + %[3]s or %[2]s or %[3]s)", cost.HoursPerMonth, cpu, memory)
}

// app draws the row of an app: usage against requests and limits, saturation, restarts.
func (d *board) app(a *monitored) {
	if a.Setting.Off || len(a.workloads) == 0 && len(a.Parts) == 0 {
		return
	}
	title := "App " + a.Name
	if len(a.UsedBy) > 0 {
		title = "Shared, used by " + strings.Join(a.UsedBy, ", ")
	}
	d.row(title)
	d.users(a)
	selector := "{" + d.m.series(a.Name) + "}"
	against := func(title, unit, used, resource string) panel {
		return panel{title, unit, []query{
			{d.usage(used, selector, AppLabel), "used"},
			{d.usage(fmt.Sprintf(requested, resource), selector, AppLabel), "requested"},
			{d.usage(fmt.Sprintf(limited, resource), selector, AppLabel), "limit"},
		}}
	}
	each := func(amount string) []query {
		return []query{{fmt.Sprintf(`max by (pod, container) (%s * on (namespace, pod) group_left () %s%s)`, amount, podsRecord, selector), "{{pod}} {{container}}"}}
	}
	if len(a.workloads) > 0 {
		d.line("timeseries", 7,
			against("CPU", "none", cpuUsed, "cpu"), against("Memory", "bytes", memoryUsed, "memory"),
			panel{"Throttled", "percentunit", each(throttled)}, panel{"Restarts in an hour", "none", each(restartsHour)})
	}
	claims := eachOf(a, `1 - kubelet_volume_stats_available_bytes{$S} / kubelet_volume_stats_capacity_bytes{$S}`)
	if claims != "" {
		d.line("timeseries", 6, panel{"Volumes full", "percentunit", []query{{claims, "{{persistentvolumeclaim}}"}}})
	}
}

// users draws which apps use which part of what they share.
func (d *board) users(a *monitored) {
	if len(a.Parts) == 0 {
		return
	}
	parts := slices.SortedFunc(maps.Keys(a.Parts), object.Compare)
	lines := []string{"| part | used by |", "| --- | --- |"}
	for _, ref := range parts {
		lines = append(lines, "| "+ref.Kind+"/"+ref.Name+" | "+strings.Join(a.Parts[ref], ", ")+" |")
	}
	const most = 8 // then it has a scroll bar
	height := min(2+len(parts), most)
	d.add(map[string]any{"type": "text", "title": "Who uses what", "options": map[string]any{"mode": "markdown", "content": strings.Join(lines, "\n")}}, 0, columns, height)
	d.y += height
}

func eachOf(a *monitored, expr string) string {
	return each(named(a.allClaims(), ""), "persistentvolumeclaim", "("+expr+")")
}

func (d *board) row(title string) {
	d.add(map[string]any{"type": "row", "title": title, "collapsed": false, "panels": []any{}}, 0, columns, 1)
	d.y++
}

// line draws panels beside each other.
func (d *board) line(kind string, height int, panels ...panel) {
	width := columns / len(panels)
	for i, p := range panels {
		var targets []any
		for n, q := range p.queries {
			targets = append(targets, map[string]any{"refId": string(rune('A' + n)), "expr": q.expr, "legendFormat": q.legend, "datasource": source})
		}
		d.add(map[string]any{
			"type": kind, "title": p.title, "datasource": source, "targets": targets,
			"fieldConfig": map[string]any{"defaults": map[string]any{"unit": p.unit, "min": 0}, "overrides": []any{}},
		}, i*width, width, height)
	}
	d.y += height
}

func (d *board) add(p map[string]any, x, width, height int) {
	d.id++
	p["id"], p["gridPos"] = d.id, map[string]any{"x": x, "y": d.y, "w": width, "h": height}
	d.panels = append(d.panels, p)
}

func sum(text string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(text))
	return h.Sum32()
}
