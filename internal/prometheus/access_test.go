package prometheus

import (
	"strings"
	"testing"
)

func TestServicePath(t *testing.T) {
	for address, want := range map[string]string{
		"svc:monitoring/prometheus:9090":        "/api/v1/namespaces/monitoring/services/prometheus:9090/proxy",
		"svc:monitoring/prometheus":             "/api/v1/namespaces/monitoring/services/prometheus/proxy",
		"svc:https:monitoring/prometheus:web":   "/api/v1/namespaces/monitoring/services/https:prometheus:web/proxy",
		"svc:https:monitoring/prometheus":       "/api/v1/namespaces/monitoring/services/https:prometheus:/proxy",
		"svc:mimir/mimir-gateway:80/prometheus": "/api/v1/namespaces/mimir/services/mimir-gateway:80/proxy/prometheus",
	} {
		if got, err := (&Access{}).ServicePath(address); err != nil || got != want {
			t.Errorf("%s is %s, %v, want %s", address, got, err, want)
		}
	}
	for _, address := range []string{"svc:prometheus", "svc:monitoring/", "svc:ftp:monitoring/prometheus", "svc:a/b:9090:1", "svc:a/../b"} {
		if _, err := (&Access{}).ServicePath(address); err == nil || !strings.Contains(err.Error(), "svc:NAMESPACE/NAME[:PORT]") {
			t.Errorf("%s: error is %v", address, err)
		}
	}
}
