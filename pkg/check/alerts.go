package check

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Labels of series and alerts that say which app they are of: the namespace and name of its System, and
// its own name.
const (
	SeriesNamespace = "sysop_namespace"
	SeriesSystem    = "sysop_system"
	SeriesApp       = "sysop_app"
)

// AlertKinds are the kinds of rules from which alerts fire.
var AlertKinds = []schema.GroupKind{
	{Group: "monitoring.coreos.com", Kind: "PrometheusRule"},
	{Group: "operator.victoriametrics.com", Kind: "VMRule"},
	{Group: "monitoring.googleapis.com", Kind: "Rules"},
	{Group: "grafana.integreatly.org", Kind: "GrafanaAlertRuleGroup"},
}

// Alert is a rule from which an alert fires.
type Alert struct {
	Name string
	// Exprs are its queries, and Labels those that it adds to the alert.
	Exprs  []string
	Labels map[string]string
}

// Alerts returns the alerts of an object of AlertKinds, without its recording rules; false where its
// content was not read.
func (c *Collector) Alerts(ref object.Ref) ([]Alert, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	alerts, read := c.alerts[ref]
	return alerts, read
}

// noteAlerts stores the alerts of an object. The caller holds the lock.
func (c *Collector) noteAlerts(o object.Object) {
	delete(c.alerts, o.Ref)
	fields := o.Fields()
	if fields == nil || !slices.Contains(AlertKinds, o.GroupKind()) {
		return
	}
	spec, _ := fields["spec"].(map[string]any)
	groups := append(mappings(spec["groups"]), spec)
	alerts := []Alert{}
	for _, group := range groups {
		for _, rule := range mappings(group["rules"]) {
			if a := alertOf(rule); a.Name != "" && len(a.Exprs) > 0 {
				alerts = append(alerts, a)
			}
		}
	}
	c.alerts[o.Ref] = alerts
}

// alertOf reads a rule: of Grafana it has a title and several queries.
func alertOf(rule map[string]any) Alert {
	a := Alert{Labels: map[string]string{}}
	if a.Name, _ = rule["alert"].(string); a.Name == "" {
		a.Name, _ = rule["title"].(string)
	}
	if expr, _ := rule["expr"].(string); expr != "" {
		a.Exprs = append(a.Exprs, expr)
	}
	for _, query := range mappings(rule["data"]) {
		model, _ := query["model"].(map[string]any)
		if expr, _ := model["expr"].(string); expr != "" {
			a.Exprs = append(a.Exprs, expr)
		}
	}
	labels, _ := rule["labels"].(map[string]any)
	for k, v := range labels {
		if text, isText := v.(string); isText {
			a.Labels[k] = text
		}
	}
	return a
}

// mappings are the items of a list that are mappings.
func mappings(list any) []map[string]any {
	items, _ := list.([]any)
	var out []map[string]any
	for _, item := range items {
		if m, isMap := item.(map[string]any); isMap {
			out = append(out, m)
		}
	}
	return out
}
