package autoscaler

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/prometheus"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// TestInCluster: KEDA gets the address by which a pod reaches the Prometheus, or it is said why there is none.
func TestInCluster(t *testing.T) {
	for address, want := range map[string]string{
		"svc:monitoring/prometheus-k8s:9090":          "http://prometheus-k8s.monitoring.svc:9090",
		"svc:https:monitoring/thanos:9091/select":     "https://thanos.monitoring.svc:9091/select",
		"http://prometheus.monitoring.svc:9090":       "http://prometheus.monitoring.svc:9090",
		"http://prometheus.m.svc.cluster.local:9090":  "http://prometheus.m.svc.cluster.local:9090",
		"svc:monitoring/prometheus-k8s":               "",
		"svc:monitoring/prometheus-k8s:web":           "",
		"http://localhost:9090":                       "",
		"http://me:secret@prometheus.monitoring.svc/": "",
	} {
		r := &reading{req: Request{History: app.HistorySource{Address: address}}}
		if got, problem := r.inCluster(); got != want || (problem == "") != (want != "") || strings.Contains(problem, "secret") {
			t.Errorf("%s: %q, %q, want %q", address, got, problem, want)
		}
	}
	r := &reading{req: Request{History: app.HistorySource{Address: "svc:monitoring/x:9090", Access: prometheus.Access{Token: "t"}}}}
	if got, problem := r.inCluster(); got != "" || !strings.Contains(problem, "TriggerAuthentication") {
		t.Errorf("with a token: %q, %q", got, problem)
	}
}

func TestCounters(t *testing.T) {
	var got []string
	for _, c := range countersOf(object.Ref{Kind: "Ingress", Namespace: "shop", Name: "front"}, object.Ref{Kind: "Service", Namespace: "shop", Name: "web.x"}) {
		got = append(got, c.text(`cluster="eu"`))
	}
	want := []string{
		`nginx_ingress_controller_requests{namespace="shop",ingress="front",service="web.x",cluster="eu"}`,
		`traefik_service_requests_total{service=~"shop-web\\.x-[^-@]+@kubernetes",cluster="eu"}`,
		`nginx_ingress_controller_requests{exported_namespace="shop",ingress="front",exported_service="web.x",cluster="eu"}`,
		`traefik_service_requests_total{exported_service=~"shop-web\\.x-[^-@]+@kubernetes",cluster="eu"}`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
