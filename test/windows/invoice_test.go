package windows

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/kubectl-sysop/kubectl-sysop/internal/pages"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// TestInvoice runs the commands of docs/invoice.md, with a server that has October of the cluster
// that the page describes.
func TestInvoice(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	plugin := filepath.Join(t.TempDir(), "kubectl-sysop")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", plugin, "./cmd/kubectl-sysop")
	build.Dir, build.Stderr = root, os.Stderr
	if err := build.Run(); err != nil {
		t.Fatal(err)
	}
	page, err := pages.Parse(root, "docs/invoice.md")
	if err != nil {
		t.Fatal(err)
	}
	for i := range page.Blocks {
		page.Blocks[i].Elsewhere = "" // it is here
	}
	server := cluster.StartPrometheus(t, cluster.PrometheusOptions{Ramps: october()})
	result, err := pages.Runner{Plugin: plugin, Env: []string{"PROMETHEUS=" + server.URL}}.Run(t.Context(), page)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Findings {
		t.Error(f)
	}
	if result.Ran != 11 {
		t.Errorf("%d commands were run", result.Ran)
	}
}

// october is what is scraped each minute of three pods and a node. The first one uses half of what
// it requests, the second one twice as much.
func october() []cluster.Ramp {
	from, to := time.Date(2026, 9, 30, 22, 0, 0, 0, time.UTC).Unix(), time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC).Unix()
	var all []cluster.Ramp
	add := func(name string, labels map[string]string, start, growth float64) {
		m := model.Metric{model.MetricNameLabel: model.LabelValue(name)}
		for k, v := range labels {
			m[model.LabelName(k)] = model.LabelValue(v)
		}
		all = append(all, cluster.Ramp{Metric: m, Shape: cluster.RampShape{From: from, To: to, Every: 60, Start: start, Growth: growth}})
	}
	const gib = 1 << 30
	for _, p := range []struct {
		namespace, name, uid      string
		requests, memory, of, use float64
	}{
		{"shop", "web", "11111111-1111-1111-1111-111111111111", 1, 2 * gib, 0.5, gib},
		{"data", "train", "22222222-2222-2222-2222-222222222222", 2, 4 * gib, 4, 8 * gib},
		{"monitoring", "agent", "33333333-3333-3333-3333-333333333333", 0.5, gib, 0.25, gib},
	} {
		state := with2(podLabels(p.namespace, p.name, p.uid), "node", "worker")
		for _, name := range []string{"kube_pod_info", "kube_pod_labels"} {
			add(name, state, 1, 0)
		}
		add("kube_pod_status_phase", with2(state, "phase", "Running"), 1, 0)
		add("kube_pod_created", state, float64(from)-86400, 0)
		add("kube_pod_start_time", state, float64(from)-86400, 0)
		add("kube_pod_owner", with2(state, "owner_kind", "<none>", "owner_name", "<none>"), 1, 0)
		add("kube_pod_container_status_running", with2(state, "container", "main"), 1, 0)
		add("kube_pod_container_resource_requests", with2(state, "container", "main", "resource", "cpu"), p.requests, 0)
		add("kube_pod_container_resource_requests", with2(state, "container", "main", "resource", "memory"), p.memory, 0)
		kubelet := cadvisor(p.namespace, p.name, "main", "/kubepods/pod"+p.uid+"/1")
		add("container_cpu_usage_seconds_total", kubelet, 0, p.of*60)
		add("container_memory_working_set_bytes", kubelet, p.use, 0)
		add("container_start_time_seconds", kubelet, float64(from)-86400, 0)
	}
	for resource, v := range map[string]float64{"cpu": 8, "memory": 32 * gib} {
		add("kube_node_status_capacity", map[string]string{"node": "worker", "resource": resource}, v, 0)
	}
	return all
}
