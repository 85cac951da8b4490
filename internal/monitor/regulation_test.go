package monitor_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/monitor"
)

const watching = `apiVersion: apps/v1
kind: Deployment
metadata: {name: sysop-shop-watch, namespace: shop, labels: {sysop.dev/system: shop}}
spec:
  selector: {matchLabels: {sysop.dev/system: shop, app.kubernetes.io/component: regulate-watch}}
  template:
    metadata: {labels: {sysop.dev/system: shop, app.kubernetes.io/component: regulate-watch}}
    spec: {containers: [{name: watch, image: "example.com/sysop:1", ports: [{name: metrics, containerPort: 8080}]}]}`

// TestRegulation: the watch of a System is scraped as an app of its own, since its series say which apps
// are not Healthy or held; without one the plan says that these alerts cannot fire.
func TestRegulation(t *testing.T) {
	const gap = "SystemAppNotHealthy and SystemAppHeld cannot fire: no regulate watch of shop runs in the cluster"
	alerts := func(p *monitor.Plan, name string) []string {
		var apps []string
		for _, a := range p.Alerts {
			if a.Name == name {
				apps = append(apps, a.App)
			}
		}
		return apps
	}
	s := shop(t, watching)
	if text := told(monitor.Make(s)); strings.Contains(text, "regulation") || strings.Contains(text, gap) {
		t.Errorf("stacks of roots are no System:\n%s", text)
	}
	s.System = true
	p := monitor.Make(s)
	if text := told(p); !strings.Contains(text, "regulation Deployment.apps/shop/sysop-shop-watch podmonitor metrics PodMonitor/shop/shop-sysop-shop-watch Prometheus/monitoring/main") || strings.Contains(text, gap) {
		t.Errorf("the watch is not scraped:\n%s", text)
	}
	if got := alerts(p, "SystemAppHeld"); !slices.Equal(got, []string{"agent", "db", "quiet", "web", "worker"}) {
		t.Errorf("alerts about %v", got)
	}
	s = shop(t, "")
	s.System = true
	if p = monitor.Make(s); !strings.Contains(told(p), gap) || len(alerts(p, "SystemAppNotHealthy")) != 5 {
		t.Errorf("without a watch:\n%s", told(p))
	}
}
