package windows

import (
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// TestQuantile has a second pod for the last quarter of the window: the median is that of the first
// alone, the 95th percentile that of both together; other pods do not count.
func TestQuantile(t *testing.T) {
	f := &truth{T: t}
	const cpu, memory = "container_cpu_usage_seconds_total", "container_memory_working_set_bytes"
	for name, c := range map[string]struct {
		uid           string
		from, seconds int64 // of CPU in a minute
		bytes         string
	}{"web-a": {uidA, 0, 6, "100"}, "web-b": {uidB, 210, 18, "300"}, "db-0": {uidA, 0, 60, "1000"}} {
		l := cadvisor("shop", name, "app", "/kubepods/pod"+c.uid+"/"+name)
		f.ramp(cpu, l, c.from, c.from, 240, c.seconds)
		f.over(memory, l, c.from, 240, c.bytes)
		f.ramp(cpu, with2(l, "instance", "twice"), c.from, c.from, 240, c.seconds) // another scraper of the same kubelet
	}
	url := cluster.StartPrometheus(t, cluster.PrometheusOptions{Series: f.series}).URL
	h, err := metrics.NewHistory(url, metrics.HistoryOptions{Window: metrics.Window{From: time.UnixMilli(at(120)), To: time.UnixMilli(at(240))}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of       metrics.Resource
		quantile float64
		want     int64
	}{{metrics.CPU, 0.5, 100}, {metrics.CPU, 0.95, 400}, {metrics.Memory, 0.5, 100}, {metrics.Memory, 0.95, 400}} {
		got, known, err := h.Quantile(t.Context(), metrics.QuantileQuery{Resource: c.of, Quantile: c.quantile, Namespace: "shop", Pods: []string{"web-a", "web-b"}})
		if err != nil || !known || got != c.want {
			t.Errorf("%s at %g: %d, %t, %v, want %d", c.of, c.quantile, got, known, err, c.want)
		}
	}
}
