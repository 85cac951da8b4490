package autoscale_test

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/autoscale"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// TestRequests: KEDA scales by the HTTP requests that an ingress controller counts, at as many a pod as the
// window shows that one serves at the target utilization; where something is lacking, it is said.
func TestRequests(t *testing.T) {
	const (
		service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n"
		ingress = "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web, namespace: shop}\nspec: {defaultBackend: {service: {name: web, port: {number: 80}}}}\n"
	)
	seen := autoscale.Requests{Series: `nginx_ingress_controller_requests{ingress="web"}`, Server: "http://prometheus.monitoring.svc:9090", Peak: 60_000}
	unreachable := seen
	unreachable.Problem = "KEDA needs the address"
	few := seen
	few.Peak = 100
	for name, c := range map[string]struct {
		more      string
		requests  autoscale.Requests
		window    bool
		threshold string // empty for an HPA
		says      string
	}{
		// 60 a second used 280m; a pod has 100m x 70%
		"counted":           {keda + service + ingress, seen, true, "15.0", "KEDA scales it by the HTTP requests of Ingress/web as well: 15.0 a second a pod, since 60.0 a second used 280m of CPU at the peak, and a pod has 100m x 70%"},
		"of a moment":       {keda + service + ingress, seen, false, "", "--prometheus and --window read how many a second a pod serves"},
		"no series":         {keda + service + ingress, autoscale.Requests{}, true, "", "the Prometheus has no series of ingress-nginx or Traefik for it"},
		"no address":        {keda + service + ingress, unreachable, true, "", "KEDA needs the address"},
		"hardly a request":  {keda + service + ingress, few, true, "", "a pod serves fewer than 0.1 a second"},
		"without KEDA":      {service + ingress, seen, true, "", ""},
		"without a Service": {keda + ingress, seen, true, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := world(t, deployment("web", 1, requests, "")+c.more)
			w.Window, w.Usage[web] = c.window, used(1, 60, 280)
			w.Requests = map[object.Ref]autoscale.Requests{web: c.requests}
			p := autoscale.Propose(w)
			r, spec := p.Proposals[0], p.Objects()[0].Object["spec"].(map[string]any)
			if all := strings.Join(r.Reasons, "\n"); !strings.Contains(all, c.says) || c.says == "" && strings.Contains(all, "HTTP") {
				t.Errorf("no %q in %q", c.says, r.Reasons)
			}
			if c.threshold == "" {
				if r.Scaler != autoscale.Horizontal || len(r.Triggers) > 0 {
					t.Errorf("%s by %v", r.Scaler, r.Triggers)
				}
				return
			}
			triggers, _ := spec["triggers"].([]any)
			first, _ := triggers[0].(map[string]any)
			want := map[string]any{"serverAddress": seen.Server, "query": `sum(rate(nginx_ingress_controller_requests{ingress="web"}[2m]))`, "threshold": c.threshold}
			got, _ := first["metadata"].(map[string]any)
			if first["type"] != "prometheus" || len(triggers) != 2 || len(got) != len(want) {
				t.Fatalf("triggers %v", triggers)
			}
			for k, v := range want {
				if got[k] != v {
					t.Errorf("%s is %v, want %v", k, got[k], v)
				}
			}
		})
	}
}
