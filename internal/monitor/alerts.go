package monitor

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Alert is an alert of an app.
type Alert struct {
	Name     string `json:"name"`
	App      string `json:"app"`
	Severity string `json:"severity"`
	Expr     string `json:"expr"`
	For      string `json:"for,omitempty"`
	Summary  string `json:"summary"`
}

// podsRecord is the series that says which pods are an app's, of the value 1. The names of pods do
// not: those of a neighbour may begin in the same way.
const podsRecord = "sysop:pod:info"

// rule is an alert before it is about an app.
type rule struct {
	name, severity string
	minutes        float64
	expr           string
	summary        string
	description    string
}

// alerts makes one PrometheusRule, with a group an app: the record of its pods, which the dashboard
// needs as well, and its alerts.
func (m *maker) alerts() {
	effect := "no alerts are made"
	switch {
	case m.Settings.NoAlerts:
		effect = "most panels of the dashboard are empty"
	case !m.Settings.NoDashboard:
		effect += ", and most panels of the dashboard are empty"
	}
	if !m.serves("PrometheusRule") {
		m.gap("", "kubectl sysop install prometheus-operator", "the cluster does not serve PrometheusRule, so "+effect)
		return
	}
	var groups []any
	for i := range m.apps {
		a := &m.apps[i]
		if group := m.group(a); group != nil && !a.Setting.Off {
			groups = append(groups, group)
		}
	}
	if len(groups) == 0 {
		return
	}
	m.add(operatorVersion, "PrometheusRule", m.Namespace, clip(m.Name+"-alerts"), m.labels("PrometheusRule"), map[string]any{"spec": map[string]any{"groups": groups}})
	if len(m.all) > 0 && !slices.ContainsFunc(m.plan.Prometheuses, func(p Prometheus) bool { return p.Rules }) {
		m.gap("", "let the ruleSelector and ruleNamespaceSelector of "+m.all[0].ref.String()+" select it", "no Prometheus selects the PrometheusRule in "+m.Namespace+", so "+strings.Replace(effect, "are made", "fire", 1))
	}
}

// group is the rules of an app; nil where there is nothing to alert on.
func (m *maker) group(a *monitored) map[string]any {
	var rules []any
	labels := map[string]any{NamespaceLabel: m.Namespace, SystemLabel: m.Name, AppLabel: a.Name}
	if expr := podsExpr(a); expr != "" {
		rules = append(rules, map[string]any{"record": podsRecord, "expr": expr, "labels": labels})
	}
	alerts := m.rules(a, m.scrapes(a))
	if m.Settings.NoAlerts {
		alerts = nil
	}
	for _, r := range alerts {
		alert := Alert{Name: r.name, App: a.Name, Severity: r.severity, Expr: r.expr, Summary: r.summary}
		rule := map[string]any{
			"alert": r.name, "expr": r.expr,
			"labels": map[string]any{NamespaceLabel: m.Namespace, SystemLabel: m.Name, AppLabel: a.Name, "severity": r.severity},
			"annotations": map[string]any{
				"summary": a.Name + " of " + m.Name + ": " + r.summary, "description": r.description, "runbook": m.runbook(a),
			},
		}
		if r.minutes > 0 {
			alert.For = seconds(r.minutes * 60)
			rule["for"] = alert.For
		}
		rules = append(rules, rule)
		m.plan.Alerts = append(m.plan.Alerts, alert)
	}
	if len(rules) == 0 {
		return nil
	}
	return map[string]any{"name": "sysop." + m.Namespace + "." + m.Name + "." + a.Name, "rules": rules}
}

// scrapes says whether a monitor of the plan scrapes an app.
func (m *maker) scrapes(a *monitored) bool {
	return slices.ContainsFunc(m.plan.Apps, func(p PlanApp) bool {
		return p.Name == a.Name && slices.ContainsFunc(p.Targets, func(t Target) bool { return t.How == ServiceMonitor || t.How == PodMonitor })
	})
}

// runbook is the command of ours that explains the state of an app.
func (m *maker) runbook(a *monitored) string {
	refs := a.topRefs()
	if len(refs) == 0 {
		return "kubectl sysop health -n " + m.Namespace
	}
	return "kubectl sysop health " + strings.ToLower(refs[0].GroupKind().String()) + "/" + refs[0].Name + " -n " + refs[0].Namespace
}

// topRefs are the objects of an app that others of it may belong to.
func (a *monitored) topRefs() []object.Ref {
	var out []object.Ref
	for i := range a.workloads {
		ref := a.workloads[i].ref
		if o := a.workloads[i].owner; o != nil {
			ref = object.RefOf(o)
		}
		out = append(out, ref)
	}
	return slices.Concat(out, a.cronJobs, a.jobs, a.certs)
}

// threshold is that of the manifest, or the default.
func (m *maker) threshold(name string) float64 {
	if v, ok := m.Settings.Thresholds[name]; ok {
		return v
	}
	for _, t := range system.Thresholds() {
		if t.Name == name {
			return t.Default
		}
	}
	return 0
}

// number writes a number as PromQL reads it.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// seconds writes a duration as Prometheus reads it.
func seconds(s float64) string {
	return model.Duration(time.Duration(s * float64(time.Second))).String()
}

// named are names by their namespace, in order.
func named(refs []object.Ref, kind string) map[string][]string {
	out := map[string][]string{}
	for _, r := range refs {
		if kind == "" || r.Kind == kind {
			out[r.Namespace] = append(out[r.Namespace], r.Name)
		}
	}
	return out
}

// each writes an expression for each namespace, with $S for the matchers of namespace and names and
// $N for that of the namespace alone, and joins them.
func each(names map[string][]string, label, expr string) string {
	var all []string
	for _, ns := range sortedKeys(names) {
		list := slices.Compact(slices.Sorted(slices.Values(names[ns])))
		for i := range list {
			list[i] = regexp.QuoteMeta(list[i])
		}
		s := fmt.Sprintf("namespace=%s,%s=~%s", strconv.Quote(ns), label, strconv.Quote(strings.Join(list, "|")))
		all = append(all, strings.NewReplacer("$S", s, "$N", "namespace="+strconv.Quote(ns)).Replace(expr))
	}
	return strings.Join(all, " or ")
}

// either joins expressions that are not empty.
func either(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), " or ")
}

// podsExpr is the series of the pods of an app, of the value 1: by the owners of pods, and for
// Deployments by the owners of their ReplicaSets.
func podsExpr(a *monitored) string {
	var refs []object.Ref
	for i := range a.workloads {
		refs = append(refs, a.workloads[i].ref)
	}
	var all []string
	for _, kind := range sortedKeys(kindsOf(refs)) {
		names := named(refs, kind)
		switch kind {
		case "Deployment":
			all = append(all, each(names, "owner_name", `label_replace(kube_pod_owner{$N,owner_kind="ReplicaSet"}, "replicaset", "$1", "owner_name", "(.+)") * on (namespace, replicaset) group_left () max by (namespace, replicaset) (kube_replicaset_owner{$S,owner_kind="Deployment"})`))
		case "Pod":
			all = append(all, each(names, "pod", `kube_pod_info{$S}`))
		default:
			all = append(all, each(names, "owner_name", fmt.Sprintf(`kube_pod_owner{$S,owner_kind=%q}`, kind)))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "max by (namespace, pod) (" + either(all...) + ")"
}

func kindsOf(refs []object.Ref) map[string]bool {
	out := map[string]bool{}
	for _, r := range refs {
		out[r.Kind] = true
	}
	return out
}

// autoscalers are those of the workloads and custom resources of an app.
func (m *maker) autoscalers(a *monitored) []object.Ref {
	targets := a.topRefs()
	for i := range a.workloads {
		targets = append(targets, a.workloads[i].ref)
	}
	var out []object.Ref
	for _, o := range m.ofKind("HorizontalPodAutoscaler.autoscaling") {
		kind, _, _ := unstructured.NestedString(o.Object, "spec", "scaleTargetRef", "kind")
		name, _, _ := unstructured.NestedString(o.Object, "spec", "scaleTargetRef", "name")
		if slices.ContainsFunc(targets, func(r object.Ref) bool { return r.Kind == kind && r.Name == name && r.Namespace == o.GetNamespace() }) {
			out = append(out, object.RefOf(o))
		}
	}
	return out
}
