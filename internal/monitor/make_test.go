package monitor_test

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/monitor"
)

// spec is the spec of an object of a plan as JSON; empty where the plan has no such object.
func spec(t *testing.T, p *monitor.Plan, kind, name string) string {
	t.Helper()
	for _, o := range p.Objects {
		if u := (&unstructured.Unstructured{Object: o}); u.GetKind() == kind && u.GetName() == name {
			text, err := json.Marshal(o["spec"])
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
	}
	return ""
}

// TestUndeclaredPort: a port that no container declares is scraped at the address of the pod, since
// the operator of Prometheus keeps no target of it; a declared one is selected by its number.
func TestUndeclaredPort(t *testing.T) {
	s := shop(t, "", "ServiceMonitor/db", "Service/db")
	s.Apps[2].Setting.Port = "8081"
	plan := monitor.Make(s)
	got := spec(t, plan, "PodMonitor", "shop-quiet")
	for _, want := range []string{
		`{"action":"replace","regex":"([^:]+)","replacement":"$1:8081","sourceLabels":["__meta_kubernetes_pod_ip"],"targetLabel":"__address__"}`,
		`"replacement":"[$1]:8081"`, `{"action":"labeldrop","regex":"container"}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if strings.Contains(got, "targetPort") {
		t.Errorf("a targetPort that no container has: %s", got)
	}
	if got := spec(t, plan, "PodMonitor", "shop-db"); !strings.Contains(got, `"targetPort":9104`) || strings.Contains(got, "__address__") {
		t.Errorf("declared: %s", got)
	}
}

// TestStableLabels: a ServiceMonitor selects by the labels that the selector of the Service has too;
// without such labels, or where they select a second Service, a PodMonitor is made.
func TestStableLabels(t *testing.T) {
	const web = "apiVersion: v1\nkind: Service\nmetadata: {name: NAME, namespace: shop, labels: LABELS}\nspec: {selector: SELECTOR, ports: [{name: metrics, port: 9113}]}"
	service := func(name, labels, selector string) string {
		return strings.NewReplacer("NAME", name, "LABELS", labels, "SELECTOR", selector).Replace(web)
	}
	for name, c := range map[string]struct{ more, want string }{
		"of a chart":   {service("front", "{app: web, helm.sh/chart: web-1.2.3, app.kubernetes.io/version: 1.2.3, team: t1}", "{app: web}"), `"selector":{"matchLabels":{"app":"web"}}`},
		"none is its":  {service("front", "{helm.sh/chart: web-1.2.3}", "{app: web}"), ""},
		"other values": {service("front", "{app: front}", "{app: web}"), ""},
		"two Services": {service("front", "{app: web, port: a}", "{app: web}") + "\n---\n" + service("back", "{app: web, port: b}", "{app: web}"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			plan := monitor.Make(shop(t, c.more, "Service/web"))
			got := spec(t, plan, "ServiceMonitor", "shop-front")
			if c.want == "" && (got != "" || spec(t, plan, "PodMonitor", "shop-web") == "") || !strings.Contains(got, c.want) {
				t.Errorf("the ServiceMonitor is %s, want %s\n%s", got, c.want, told(plan))
			}
		})
	}
}
