package metrics

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	to := time.Date(2026, 11, 8, 0, 0, 0, 0, time.UTC)
	f := &cannedServer{}
	var asked []string
	f.answer = func(w http.ResponseWriter, query string) bool {
		asked = append(asked, query)
		result := []any{}
		if !strings.Contains(query, "gone") {
			result = append(result, map[string]any{"metric": map[string]string{}, "value": []any{1, "250.4"}})
		}
		f.write(w, map[string]any{"resultType": "vector", "result": result})
		return true
	}
	h, err := NewHistory(f.start(t), HistoryOptions{Window: Window{From: to.AddDate(0, 0, -7), To: to}, Matchers: `cluster="eu"`})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		query QuantileQuery
		value int64
		known bool
		want  string
	}{
		{
			QuantileQuery{Resource: CPU, Quantile: 0.95, Namespace: "shop", Pods: []string{"web-1", "web.2"}},
			250, true,
			`quantile_over_time(0.95, sum(1000 * max by (namespace,pod,container,id,name) (rate(container_cpu_usage_seconds_total{pod=~"web-1|web\\.2",container!="",container!="POD",cpu=~"|total",cluster="eu",namespace=~"shop"}[5m])))[6d23h59m59s999ms:5m])`,
		},
		{
			QuantileQuery{Resource: Memory, Quantile: 0.5, Namespace: "shop", Pods: []string{"gone"}},
			0, false,
			`quantile_over_time(0.5, sum(max by (namespace,pod,container,id,name) (last_over_time(container_memory_working_set_bytes{pod=~"gone",container!="",container!="POD",cluster="eu",namespace=~"shop"}[5m])))[6d23h59m59s999ms:5m])`,
		},
		{
			QuantileQuery{Counter: "nginx_ingress_controller_requests", Matchers: []string{`ingress="web"`}, Quantile: 0.95},
			250, true,
			`quantile_over_time(0.95, sum(1000 * rate(nginx_ingress_controller_requests{ingress="web",cluster="eu"}[5m]))[6d23h59m59s999ms:5m])`,
		},
	} {
		value, known, err := h.Quantile(t.Context(), c.query)
		if err != nil || value != c.value || known != c.known {
			t.Errorf("%+v: %d, %t, %v", c.query, value, known, err)
		}
		if got := asked[len(asked)-1]; got != c.want {
			t.Errorf("asked\n%s\nwant\n%s", got, c.want)
		}
	}
}
