package stack

import (
	"fmt"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// TestAlerts: an alert is about an app if its labels or its query name an object of the app or its
// namespace, and no object of others.
func TestAlerts(t *testing.T) {
	const none = "no alert is about it: there are no rules of alerts in ns and home"
	const others = "no alert is about it: none of 1 alert in ns and home names one of its objects or its namespace"
	rule := func(namespace, rules string) string {
		return "---\napiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: r, namespace: " + namespace + ", uid: r}\nspec: {groups: [{name: g, rules: [" + rules + "]}]}\n"
	}
	alert := func(expr string) string { return rule("ns", fmt.Sprintf("{alert: A, expr: %q}", expr)) }
	labelled := func(labels string) string { return rule("ns", "{alert: A, expr: vector(1), labels: {"+labels+"}}") }
	for name, c := range map[string]struct {
		yaml, want string
		unread     []string
	}{
		"no rule":                         {"", none, nil},
		"no alert":                        {rule("ns", `{record: "ns:pods", expr: "kube_pod_info{namespace=\"ns\"}"}`), none, nil},
		"the namespace":                   {alert(`sum(kube_pod_status_ready{namespace="ns"}) == 0`), "", nil},
		"the namespace of a pattern":      {alert(`up{namespace=~"ns|other"} == 0`), "", nil},
		"every namespace":                 {alert(`up{namespace=~".+"} == 0`), others, nil},
		"another namespace":               {alert(`up{namespace="other"} == 0`), others, nil},
		"every other namespace":           {alert(`up{deployment="web",namespace!="ns"} == 0`), others, nil},
		"the workload":                    {alert(`kube_deployment_status_replicas{job="kube-state-metrics",namespace="ns",deployment="web"} == 0`), "", nil},
		"a workload of others":            {alert(`kube_deployment_status_replicas{job="kube-state-metrics",namespace="ns",deployment="db"} == 0`), others, nil},
		"the workload elsewhere":          {alert(`kube_deployment_status_replicas{namespace="other",deployment="web"} == 0`), others, nil},
		"its pods":                        {alert(`rate(restarts{pod=~"web-.{1,9}"}[5m]) > 0`), "", nil},
		"its pods in another quote":       {alert("up{pod=~`web-.*`} == 0"), "", nil},
		"the label of an exporter":        {alert(`kube_pod_info{exported_namespace="ns",exported_pod="web-0"} == 0`), "", nil},
		"its job":                         {alert(`up{job="web"} == 0`), "", nil},
		"no selector":                     {alert(`http_errors_total > 1`), others, nil},
		"a text with braces":              {alert(`label_replace(up, "a", "{namespace=\"ns\"}", "b", "") == 0`), others, nil},
		"one of two":                      {alert(`up{namespace="other"} == 0 or up{namespace="ns"} == 0`), "", nil},
		"its labels":                      {labelled("namespace: ns, severity: critical"), "", nil},
		"labels of others":                {labelled("deployment: db, namespace: ns"), others, nil},
		"labels of the app":               {labelled("sysop_namespace: home, sysop_system: shop, sysop_app: web"), "", nil},
		"labels of another app":           {labelled("sysop_namespace: home, sysop_system: shop, sysop_app: db, namespace: ns"), others, nil},
		"labels of another System":        {labelled("sysop_namespace: ns, sysop_system: shop, sysop_app: web"), others, nil},
		"in the namespace of the monitor": {rule("monitoring", `{alert: A, expr: "up{namespace=\"ns\"} == 0"}`), "", nil},
		"not read":                        {rule("ns", ""), "unread", []string{"PrometheusRule"}},
		"a rule of Grafana": {
			"---\napiVersion: grafana.integreatly.org/v1beta1\nkind: GrafanaAlertRuleGroup\nmetadata: {name: g, namespace: ns, uid: g}\n" +
				`spec: {rules: [{title: A, data: [{refId: A, model: {expr: "up{namespace=\"ns\"}"}}]}]}`, "", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := checktest.Read(t, operator.Find, checktest.App("web", 1, checktest.OneContainer, "n1")+c.yaml, c.unread...)
			w.System = &check.System{Name: "shop", Namespace: "home", Apps: []check.SystemApp{{Name: "web", Roots: []object.Ref{{Group: "apps", Kind: "Deployment", Namespace: "ns", Name: "web"}}}}}
			r := checktest.Only(t, Rules(), "stack-alerts", w.Stack(checktest.Web).Check)
			got := ""
			switch {
			case len(r.Findings) > 0:
				got = r.Findings[0].Message
			case len(r.Unknowns) > 0:
				got = "unread"
			case len(r.Passed) == 0:
				got = "nothing"
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
