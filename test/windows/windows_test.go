// Package windows measures windows of small histories with a real Prometheus: each has one thing
// that goes wrong, and a truth that is known.
package windows

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

const (
	second = int64(1000) // milliseconds
	minute = 60 * second
	uidA   = "11111111-2222-3333-4444-555555555555"
	uidB   = "66666666-7777-8888-9999-000000000000"
)

// fakeBegin is the moment at which histories begin.
var fakeBegin = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC).UnixMilli() //nolint:gochecknoglobals // a constant

// truth is a server that is filled series by series, with a sample a minute, over the four hours
// from fakeBegin. Its window is the third and the fourth.
type truth struct {
	*testing.T
	series []model.SampleStream
	url    string
}

// fakeSample has its value as text.
type fakeSample struct {
	t int64
	v string
}

// add puts a series in. Where it ends before the history does, its scraper marks that.
func (f *truth) add(name string, labels map[string]string, samples ...fakeSample) {
	if len(samples) == 0 {
		return
	}
	s := model.SampleStream{Metric: model.Metric{model.MetricNameLabel: model.LabelValue(name)}}
	for name, value := range labels {
		s.Metric[model.LabelName(name)] = model.LabelValue(value)
	}
	for _, x := range samples {
		v, err := strconv.ParseFloat(x.v, 64)
		if err != nil {
			f.Fatal(err)
		}
		s.Values = append(s.Values, model.SamplePair{Timestamp: model.Time(x.t), Value: model.SampleValue(v)})
	}
	for i := range f.series { // it comes back
		if old := &f.series[i]; old.Metric.Equal(s.Metric) {
			last := len(old.Values) - 1
			if old.Values[last].Timestamp >= s.Values[0].Timestamp {
				old.Values = old.Values[:last]
			}
			s.Values = append(old.Values, s.Values...)
			f.series = slices.Delete(f.series, i, i+1)
			break
		}
	}
	if last := samples[len(samples)-1].t; last < at(240) {
		s.Values = append(s.Values, model.SamplePair{Timestamp: model.Time(last + minute), Value: model.SampleValue(math.NaN())})
	}
	f.series = append(f.series, s)
}

// read measures the minutes 120 to 240.
func (f *truth) read(seed *metrics.UsageReport, change ...func(*metrics.HistoryOptions)) *metrics.UsageReport {
	return f.measure(at(120), at(240), seed, change...)
}

func (f *truth) measure(from, to int64, seed *metrics.UsageReport, change ...func(*metrics.HistoryOptions)) *metrics.UsageReport {
	f.Helper()
	if f.url == "" {
		f.url = cluster.StartPrometheus(f.T, cluster.PrometheusOptions{Series: f.series}).URL
	}
	o := metrics.HistoryOptions{Window: metrics.Window{From: time.UnixMilli(from), To: time.UnixMilli(to)}}
	for _, c := range change {
		c(&o)
	}
	h, err := metrics.NewHistory(f.url, o)
	if err != nil {
		f.Fatal(err)
	}
	if seed == nil {
		seed = &metrics.UsageReport{}
	}
	if err := h.Measure(f.Context(), seed); err != nil {
		f.Fatal(err)
	}
	return seed
}

func note(r *metrics.UsageReport, reason string) metrics.Note {
	for _, n := range r.Notes {
		if n.Reason == reason {
			return n
		}
	}
	return metrics.Note{}
}

// at is a moment, in minutes.
func at(m int64) int64 { return fakeBegin + m*minute }

// over adds a constant from one minute to another, both in it.
func (f *truth) over(name string, labels map[string]string, from, to int64, v string) {
	f.add(name, labels, constant(v, grid(at(from), at(to), minute)...)...)
}

// ramp adds a counter that grows by perMinute from 0 at a minute on.
func (f *truth) ramp(name string, labels map[string]string, zero, from, to, perMinute int64) {
	var samples []fakeSample
	for m := from; m <= to; m++ {
		samples = append(samples, fakeSample{at(m), strconv.FormatInt((m-zero)*perMinute, 10)})
	}
	f.add(name, labels, samples...)
}

func podOf(t *testing.T, r *metrics.UsageReport, name, uid string) metrics.Pod {
	t.Helper()
	for _, p := range r.Pods {
		if p.Ref.Name == name && (uid == "" || string(p.UID) == uid) {
			return p
		}
	}
	t.Fatalf("no pod %s %s in %+v", name, uid, r.Pods)
	return metrics.Pod{}
}

// TestRestart has a container that restarts, as a new series: both count, and the
// first values of what started meanwhile.
func TestRestart(t *testing.T) {
	f := &truth{T: t}
	one, two := cadvisor("shop", "web", "app", "/kubepods/pod"+uidA+"/one"), cadvisor("shop", "web", "app", "/kubepods/pod"+uidA+"/two")
	f.ramp("container_cpu_usage_seconds_total", one, 0, 0, 150, 60)
	f.ramp("container_cpu_usage_seconds_total", two, 150, 151, 240, 60)
	f.over("container_start_time_seconds", two, 151, 240, strconv.FormatInt(at(150)/1000, 10))
	f.over("container_memory_working_set_bytes", one, 0, 150, "60")
	f.over("container_memory_working_set_bytes", two, 151, 240, "120")
	p := podOf(t, f.read(nil), "web", uidA)
	equal(t, "CPU", p.Used.Value(metrics.CPU), "2")
	equal(t, "CPU charged, without a request", p.Charged.Value(metrics.CPU), "2")
	// 60 for half an hour, 120 for one and a half, and 60 for the minute that a sample lingers.
	equal(t, "memory", p.Used.Value(metrics.Memory), "211")
	equal(t, "hours, which only cAdvisor tells", p.Hours, "2")
	if len(p.Containers) != 1 {
		t.Errorf("containers are %+v", p.Containers)
	}
}

// TestYoung has a pod that ran for a part of the window, and one whose start nobody
// knows: of that the first value does not count.
func TestYoung(t *testing.T) {
	f := &truth{T: t}
	f.ramp("container_cpu_usage_seconds_total", cadvisor("shop", "known", "app", "/kubepods/pod"+uidA+"/one"), 180, 181, 210, 60)
	f.ramp("container_cpu_usage_seconds_total", cadvisor("shop", "unknown", "app", "/kubepods/pod"+uidB+"/one"), 120, 181, 210, 60)
	f.over("kube_pod_start_time", podLabels("shop", "known", uidA), 181, 210, strconv.FormatInt(at(180)/1000, 10))
	f.over("kube_pod_status_phase", with2(podLabels("shop", "known", uidA), "phase", "Running"), 181, 210, "1")
	r := f.read(nil)
	equal(t, "CPU of the one that started", podOf(t, r, "known", "").Used.Value(metrics.CPU), "0.5")
	equal(t, "hours of it", podOf(t, r, "known", "").Hours, "0.5")
	equal(t, "CPU of the other", podOf(t, r, "unknown", "").Used.Value(metrics.CPU), "0.483333333333333333")
}

// TestCompleted has Jobs that ended at minute 150: kube-state-metrics tells their
// requests until minute 240. Of one the end is told, in the middle of a minute.
func TestCompleted(t *testing.T) {
	f := &truth{T: t}
	for name, uid := range map[string]string{"told": uidA, "not": uidB} {
		l := podLabels("shop", name, uid)
		f.over("kube_pod_info", with2(l, "node", "n1"), 0, 240, "1")
		f.over("kube_pod_status_phase", with2(l, "phase", "Running"), 0, 150, "1")
		f.over("kube_pod_status_phase", with2(l, "phase", "Running"), 151, 240, "0")
		f.over("kube_pod_status_phase", with2(l, "phase", "Pending"), 0, 240, "0")
		f.over("kube_pod_container_resource_requests", with2(l, "container", "app", "resource", "cpu"), 0, 240, "2")
	}
	f.over("kube_pod_completion_time", podLabels("shop", "told", uidA), 151, 240, strconv.FormatInt(at(150)/1000+36, 10))
	r := f.read(nil)
	equal(t, "requested until the last sample", podOf(t, r, "not", "").Requested.Value(metrics.CPU), "1")
	equal(t, "charged until the last sample", podOf(t, r, "not", "").Charged.Value(metrics.CPU), "1")
	equal(t, "hours until the last sample", podOf(t, r, "not", "").Hours, "0.5")
	equal(t, "requested until the last sample before the end", podOf(t, r, "told", "").Requested.Value(metrics.CPU), "1")
	equal(t, "hours until the last sample before the end", podOf(t, r, "told", "").Hours, "0.5")
}

// TestEndedBefore has a Job that ended before the window: it is not in it.
func TestEndedBefore(t *testing.T) {
	f := &truth{T: t}
	l := podLabels("shop", "job", uidA)
	f.over("kube_pod_status_phase", with2(l, "phase", "Running"), 0, 60, "1")
	f.over("kube_pod_status_phase", with2(l, "phase", "Running"), 61, 240, "0")
	f.over("kube_pod_container_status_running", with2(l, "container", "app"), 61, 240, "0")
	f.over("kube_pod_container_resource_requests", with2(l, "container", "app", "resource", "cpu"), 0, 240, "2")
	if r := f.read(nil); len(r.Pods) != 0 {
		t.Errorf("pods are %+v", r.Pods)
	}
}

// TestPending has pods that wait: for a node, which reserves nothing, and on one.
func TestPending(t *testing.T) {
	f := &truth{T: t}
	for name, node := range map[string]string{"waits": "", "pulls": "n1"} {
		l := podLabels("shop", name, map[string]string{"waits": uidA, "pulls": uidB}[name])
		f.over("kube_pod_info", with2(l, "node", node), 0, 240, "1")
		f.over("kube_pod_status_phase", with2(l, "phase", "Pending"), 0, 240, "1")
		f.over("kube_pod_status_phase", with2(l, "phase", "Running"), 0, 240, "0")
		f.over("kube_pod_container_resource_requests", with2(l, "container", "app", "resource", "cpu"), 0, 240, "2")
	}
	r := f.read(nil)
	if len(r.Pods) != 1 {
		t.Errorf("pods are %+v", r.Pods)
	}
	p := podOf(t, r, "pulls", "")
	equal(t, "charged on a node", p.Charged.Value(metrics.CPU), "4")
	equal(t, "hours", p.Hours, "0")
}

// TestReplicas has two kube-state-metrics and two scrapers of the kubelet, each with
// holes that the other one fills.
func TestReplicas(t *testing.T) {
	f := &truth{T: t}
	for i := range 2 {
		here := func(m int64) bool { return m%7 == 0 || (m/11)%2 == int64(i) }
		l := with2(podLabels("shop", "web", uidA), "instance", "10.0.0."+strconv.Itoa(i), "prometheus_replica", "r"+strconv.Itoa(i))
		c := with2(cadvisor("shop", "web", "app", "/kubepods/pod"+uidA+"/one"), "job", []string{"kubelet", "nodes"}[i], "service", strconv.Itoa(i), "endpoint", "https")
		var cpu, memory, request, phase []fakeSample
		for m := int64(0); m <= 240; m++ {
			if here(m) {
				cpu = append(cpu, fakeSample{at(m), strconv.FormatInt(m%100*30, 10)}) // falls at 100 and at 200
				memory = append(memory, fakeSample{at(m), "500"})
				request = append(request, fakeSample{at(m), "1"})
				phase = append(phase, fakeSample{at(m), "1"})
			}
		}
		f.add("container_cpu_usage_seconds_total", c, cpu...)
		f.add("container_memory_working_set_bytes", c, memory...)
		f.add("kube_pod_container_resource_requests", with2(l, "container", "app", "resource", "cpu", "unit", "core", "node", "n1"), request...)
		f.add("kube_pod_status_phase", with2(l, "phase", "Running"), phase...)
	}
	r := f.read(nil)
	p := podOf(t, r, "web", uidA)
	equal(t, "CPU", p.Used.Value(metrics.CPU), "0.975") // 117 half minutes: the steps of resets are lost, and two before, whose scraper missed them
	equal(t, "memory", p.Used.Value(metrics.Memory), "1000")
	equal(t, "requested", p.Requested.Value(metrics.CPU), "2")
	equal(t, "hours", p.Hours, "2")
	if n := note(r, "Gap"); n.LowersFigures {
		t.Errorf("note is %+v", n)
	}
}

// TestRequests has a pod with two containers, a sidecar, an init container and overhead;
// and one of which the scheduler tells more.
func TestRequests(t *testing.T) {
	f := &truth{T: t}
	for name, uid := range map[string]string{"plain": uidA, "known": uidB} {
		l := podLabels("shop", name, uid)
		f.over("kube_pod_container_status_running", with2(l, "container", "app"), 0, 240, "1")
		f.over("kube_pod_container_status_running", with2(l, "container", "log"), 0, 240, "1")
		f.over("kube_pod_status_phase", with2(l, "phase", "Running"), 0, 240, "1")
		f.over("kube_pod_init_container_status_running", with2(l, "container", "mesh"), 0, 240, "1")
		f.over("kube_pod_init_container_status_running", with2(l, "container", "migrate"), 0, 240, "0")
		for c, cpu := range map[string]string{"app": "1", "log": "0.5"} {
			f.over("kube_pod_container_resource_requests", with2(l, "container", c, "resource", "cpu", "unit", "core"), 0, 240, cpu)
			f.over("kube_pod_container_resource_limits", with2(l, "container", c, "resource", "cpu", "unit", "core"), 0, 240, "2")
		}
		f.over("kube_pod_container_resource_requests", with2(l, "container", "app", "resource", "nvidia_com_gpu", "unit", "integer"), 0, 240, "1")
		f.over("kube_pod_container_resource_limits", with2(l, "container", "app", "resource", "memory", "unit", "byte"), 0, 240, "1000")
		for _, c := range []string{"mesh", "migrate"} {
			f.over("kube_pod_init_container_resource_requests", with2(l, "container", c, "resource", "cpu", "unit", "core"), 0, 240, "0.25")
			f.over("kube_pod_init_container_resource_limits", with2(l, "container", c, "resource", "cpu", "unit", "core"), 0, 240, "0.5")
		}
		f.over("kube_pod_overhead_cpu_cores", l, 0, 240, "0.125")
	}
	f.over("kube_pod_created", podLabels("shop", "known", uidB), 0, 240, "1793491200")
	f.over("kube_pod_resource_request", map[string]string{"namespace": "shop", "pod": "known", "node": "n1", "resource": "cpu", "unit": "cores"}, 0, 240, "3")
	r := f.read(nil)
	p := podOf(t, r, "plain", "")
	equal(t, "CPU", p.Requested.Value(metrics.CPU), "3.75")
	equal(t, "GPU", p.Requested.Value("nvidia.com/gpu"), "2")
	equal(t, "GPU charged", p.Charged.Value("nvidia.com/gpu"), "2")
	equal(t, "memory, which it requests none of", p.Requested.Value(metrics.Memory), "0")
	equal(t, "limit, of three containers and the overhead", p.Limited.Value(metrics.CPU), "9.25")
	if _, ok := p.Limited.Lookup(metrics.Memory); ok {
		t.Error("one container has no limit of memory, and so the pod has none")
	}
	var names []string
	for _, c := range p.Containers {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "app log mesh" {
		t.Errorf("containers are %s", got)
	}
	equal(t, "CPU by the scheduler", podOf(t, r, "known", "").Requested.Value(metrics.CPU), "6")
}

// TestCharged has usage above and below the request in turns: the larger of each sample
// counts, and not the larger of the sums.
func TestCharged(t *testing.T) {
	f := &truth{T: t}
	var cpu, memory []fakeSample
	sum := int64(0)
	for m := int64(0); m <= 240; m++ {
		cpu = append(cpu, fakeSample{at(m), strconv.FormatInt(sum, 10)})
		memory = append(memory, fakeSample{at(m), strconv.FormatInt(m%2*400, 10)})
		sum += m % 2 * 120 // two cores, or none
	}
	c := cadvisor("shop", "web", "app", "/kubepods/pod"+uidA+"/one")
	f.add("container_cpu_usage_seconds_total", c, cpu...)
	f.add("container_memory_working_set_bytes", c, memory...)
	l := podLabels("shop", "web", uidA)
	for i, resource := range []string{"cpu", "memory"} {
		// kube-state-metrics is scraped half a minute later.
		var request []fakeSample
		for m := int64(0); m <= 240; m++ {
			request = append(request, fakeSample{at(m) + 30*second, []string{"1", "100"}[i]})
		}
		f.add("kube_pod_container_resource_requests", with2(l, "container", "app", "resource", resource), request...)
	}
	p := podOf(t, f.read(nil), "web", "")
	equal(t, "CPU used", p.Used.Value(metrics.CPU), "2")
	equal(t, "CPU requested", p.Requested.Value(metrics.CPU), "2")
	equal(t, "CPU charged", p.Charged.Value(metrics.CPU), "3")
	equal(t, "memory charged", p.Charged.Value(metrics.Memory), "500")
}

// TestNameReused has a StatefulSet whose pod is replaced at minute 180: by the cgroup, and
// where that is not told, by the time.
func TestNameReused(t *testing.T) {
	for _, cgroup := range []string{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod%s.slice/cri-containerd-%d.scope", "/kubepods/burstable/pod%s/%d", ""} {
		f := &truth{T: t}
		for i, uid := range []string{uidA, uidB} {
			from, to := int64(i*180), int64(i*60+180-1+i)
			l := podLabels("shop", "db-0", uid)
			for _, name := range []string{"kube_pod_start_time", "kube_pod_created"} {
				f.over(name, l, max(from, 1), to, strconv.FormatInt(at(from)/1000, 10))
			}
			f.over("kube_pod_info", with2(l, "node", "n1"), from, to, "1")
			f.over("kube_pod_status_phase", with2(l, "phase", "Running"), from, to, "1")
			id := ""
			if cgroup != "" {
				id = fmt.Sprintf(cgroup, strings.ReplaceAll(uid, "-", map[bool]string{true: "_", false: "-"}[strings.Contains(cgroup, "slice")]), i)
			}
			f.ramp("container_cpu_usage_seconds_total", cadvisor("shop", "db-0", "app", id), from, from, to, 60*int64(i+1))
		}
		r := f.read(nil)
		if cgroup == "" { // by the name alone: the pod that was created last has it
			equal(t, "CPU of the name", podOf(t, r, "db-0", uidB).Used.Value(metrics.CPU), "2.983333333333333333")
			continue
		}
		equal(t, cgroup+" CPU of the first", podOf(t, r, "db-0", uidA).Used.Value(metrics.CPU), "0.983333333333333333")
		equal(t, cgroup+" CPU of the second", podOf(t, r, "db-0", uidB).Used.Value(metrics.CPU), "2")
		equal(t, cgroup+" hours of the second, with both of its ends", podOf(t, r, "db-0", uidB).Hours, "1.016666666666666667")
	}
}

// TestTraffic adds interfaces up, and not the loopback; the same interface of two
// scrapers once.
func TestTraffic(t *testing.T) {
	f := &truth{T: t}
	for _, iface := range []string{"eth0", "net1", "lo"} {
		for _, job := range []string{"kubelet", "nodes"} {
			l := map[string]string{"namespace": "shop", "pod": "web", "container": "POD", "id": "/kubepods/pod" + uidA + "/x", "interface": iface, "job": job}
			f.ramp("container_network_receive_bytes_total", l, 0, 0, 240, 10)
			f.ramp("container_network_transmit_bytes_total", l, 0, 0, 240, 7)
		}
	}
	host := podLabels("shop", "proxy", uidB)
	f.over("kube_pod_info", with2(host, "host_network", "true", "node", "n1"), 0, 240, "1")
	f.ramp("container_network_receive_bytes_total", map[string]string{"namespace": "shop", "pod": "proxy", "id": "/kubepods/pod" + uidB, "interface": "eth0"}, 0, 0, 240, 1000)
	seed := &metrics.UsageReport{Pods: []metrics.Pod{{
		Ref: object.Ref{Kind: "Pod", Namespace: "shop", Name: "web"}, UID: uidA, Counters: amountsFrom(metrics.Received, "5", metrics.Sent, "6"),
	}}}
	r := f.read(seed)
	p := podOf(t, r, "web", uidA)
	equal(t, "received", p.Used.Value(metrics.Received), "2400")
	equal(t, "sent", p.Used.Value(metrics.Sent), "1680")
	if len(p.Counters) != 0 || p.HostNetwork || p.Unmeasured == "" {
		t.Errorf("pod is %+v", p)
	}
	if !podOf(t, r, "proxy", "").HostNetwork {
		t.Error("the pod on the network of its host is not told")
	}
}

func amountsFrom(pairs ...any) metrics.Amounts {
	out := metrics.Amounts{}
	for i := 0; i < len(pairs); i += 2 {
		out.Set(pairs[i].(metrics.Resource), decimalOf(pairs[i+1].(string)))
	}
	return out
}

// TestExported has a scraper that puts its own labels in the place of those of
// kube-state-metrics.
func TestExported(t *testing.T) {
	f := &truth{T: t}
	l := map[string]string{"namespace": "monitoring", "pod": "ksm-0", "container": "ksm", "exported_namespace": "shop", "exported_pod": "web", "uid": uidA}
	f.over("kube_pod_status_phase", with2(l, "phase", "Running"), 0, 240, "1")
	f.over("kube_pod_container_resource_requests", with2(l, "exported_container", "app", "resource", "cpu"), 0, 240, "1")
	p := podOf(t, f.read(nil), "web", uidA)
	equal(t, "requested", p.Requested.Value(metrics.CPU), "2")
	if p.Ref.Namespace != "shop" || len(p.Containers) != 1 || p.Containers[0].Name != "app" {
		t.Errorf("pod is %+v", p)
	}
}

// TestExportedScheduler has a scraper that honours the labels of kube-state-metrics, and not those
// of kube-scheduler.
func TestExportedScheduler(t *testing.T) {
	f := &truth{T: t}
	l := podLabels("shop", "web", uidA)
	f.over("kube_pod_status_phase", with2(l, "phase", "Running"), 0, 240, "1")
	f.over("kube_pod_created", l, 0, 240, "1793491200")
	f.over("kube_pod_container_resource_requests", with2(l, "container", "app", "resource", "cpu"), 0, 240, "1")
	f.over("kube_pod_resource_request", map[string]string{
		"namespace": "kube-system", "pod": "kube-scheduler-0", "exported_namespace": "shop", "exported_pod": "web", "node": "n1", "resource": "cpu",
	}, 0, 240, "3")
	for _, namespaces := range [][]string{nil, {"shop"}} {
		r := f.read(nil, func(o *metrics.HistoryOptions) { o.Namespaces = namespaces })
		equal(t, "requested by the scheduler", podOf(t, r, "web", uidA).Requested.Value(metrics.CPU), "6")
	}
}

// TestQuietNamespace has a namespace without pods in a cluster with samples: there is no gap.
func TestQuietNamespace(t *testing.T) {
	f := &truth{T: t}
	f.over("kube_pod_status_phase", with2(podLabels("shop", "web", uidA), "phase", "Running"), 0, 240, "1")
	r := f.read(nil, func(o *metrics.HistoryOptions) { o.Namespaces = []string{"quiet"} })
	if n := note(r, "Gap"); n.Message != "" {
		t.Errorf("note is %+v", n)
	}
}

// TestManyMounts has a claim that 17 pods share: it is mounted all of the time.
func TestManyMounts(t *testing.T) {
	f := &truth{T: t}
	claim := map[string]string{"namespace": "shop", "persistentvolumeclaim": "data"}
	f.over("kube_persistentvolumeclaim_resource_requests_storage_bytes", claim, 0, 240, "100")
	for i := range 17 {
		l := podLabels("shop", "web-"+strconv.Itoa(i), uidA[:34]+strconv.Itoa(10+i))
		f.over("kube_pod_spec_volumes_persistentvolumeclaims_info", with2(l, "persistentvolumeclaim", "data"), 0, 240, "1")
		f.over("kube_pod_status_phase", with2(l, "phase", "Running"), 0, 240, "1")
	}
	c := f.read(nil).Claims[0]
	if !c.Unmounted.IsZero() || len(c.Mounts) != 17 {
		t.Errorf("claim is %+v", c)
	}
	equal(t, "hours", c.Hours, "2")
	sum := c.Unmounted
	for _, m := range c.Mounts {
		sum = sum.Add(m.Hours)
	}
	if !sum.Equal(c.Hours) {
		t.Errorf("parts add up to %s of %s", sum, c.Hours)
	}
}

// TestOwners has pods that are gone: their owners, nearest first, and their labels.
func TestOwners(t *testing.T) {
	f := &truth{T: t}
	gone := func(name, uid, kind, owner string) map[string]string {
		l := podLabels("shop", name, uid)
		f.over("kube_pod_status_phase", with2(l, "phase", "Running"), 0, 200, "1")
		f.over("kube_pod_owner", with2(l, "owner_kind", kind, "owner_name", owner, "owner_is_controller", "true"), 0, 200, "1")
		return l
	}
	l := gone("web-a-1", uidA, "ReplicaSet", "web-a")
	f.over("kube_pod_owner", with2(l, "owner_kind", "Backup", "owner_name", "b", "owner_is_controller", "false"), 0, 200, "1")
	f.over("kube_pod_labels", with2(l, "label_app_kubernetes_io_instance", "moodle-1", "label_my_tier", "front"), 0, 200, "1")
	f.over("kube_replicaset_owner", map[string]string{"namespace": "shop", "replicaset": "web-a", "owner_kind": "Deployment", "owner_name": "web"}, 0, 200, "1")
	gone("job-1", uidB, "Job", "nightly-7")
	f.over("kube_job_owner", map[string]string{"namespace": "shop", "job_name": "nightly-7", "owner_kind": "CronJob", "owner_name": "nightly"}, 0, 200, "1")
	gone("db-0", "c", "MySQLCluster", "db")
	gone("static", "d", "Node", "n1")
	gone("alone", "e", "<none>", "<none>")
	r := f.read(nil, func(o *metrics.HistoryOptions) {
		o.KindOf = func(kind string) (string, bool) { return "mysql.presslabs.org", kind == "MySQLCluster" }
	})
	for name, want := range map[string]string{
		"web-a-1": "[ReplicaSet.apps/shop/web-a Deployment.apps/shop/web]",
		"job-1":   "[Job.batch/shop/nightly-7 CronJob.batch/shop/nightly]",
		"db-0":    "[MySQLCluster.mysql.presslabs.org/shop/db]",
		"static":  "[Node/n1]",
		"alone":   "[]",
	} {
		if got := fmt.Sprint(podOf(t, r, name, "").Owners); got != want {
			t.Errorf("owners of %s are %s, want %s", name, got, want)
		}
	}
	labels := podOf(t, r, "web-a-1", "").Labels
	for key, want := range map[string]string{"app.kubernetes.io/instance": "moodle-1", "my/tier": "front", "myTier": "front", "my_tier": "front", "other": ""} {
		if got, _ := metrics.Label(labels, key); got != want {
			t.Errorf("label %s is %q, want %q", key, got, want)
		}
	}
}

// TestPresent matches pods of the cluster, by UID and a static one by name, and keeps
// those that no sample is of.
func TestPresent(t *testing.T) {
	f := &truth{T: t}
	hash := strings.Repeat("0123456789abcdef", 2)
	f.ramp("container_cpu_usage_seconds_total", cadvisor("shop", "web", "app", "/kubepods/pod"+uidA+"/1"), 0, 0, 240, 60)
	f.ramp("container_cpu_usage_seconds_total", cadvisor("shop", "api", "app", "/kubepods/pod"+hash+"/1"), 0, 0, 240, 120)
	f.ramp("container_cpu_usage_seconds_total", cadvisor("shop", "web", "app", "/kubepods/pod"+uidB+"/1"), 0, 0, 200, 60)
	ref := func(name string) object.Ref { return object.Ref{Kind: "Pod", Namespace: "shop", Name: name} }
	seed := &metrics.UsageReport{Hours: windowHour(), Pods: []metrics.Pod{
		{Ref: ref("web"), UID: uidA, Node: "n1", Hours: windowHour(), Requested: amountsFrom(metrics.CPU, "1")},
		{Ref: ref("api"), UID: "an-uid-of-the-api"},
		{Ref: ref("young"), UID: "young", Hours: windowHour(), Requested: amountsFrom(metrics.CPU, "1"), Charged: amountsFrom(metrics.CPU, "1")},
	}}
	r := f.read(seed)
	if len(r.Pods) != 4 || !slices.IsSortedFunc(r.Pods, func(a, b metrics.Pod) int { return object.Compare(a.Ref, b.Ref) }) {
		t.Errorf("pods are %+v", r.Pods)
	}
	web, api, young, gone := podOf(t, r, "web", uidA), podOf(t, r, "api", ""), podOf(t, r, "young", ""), podOf(t, r, "web", uidB)
	equal(t, "web", web.Used.Value(metrics.CPU), "2")
	equal(t, "api", api.Used.Value(metrics.CPU), "4")
	if web.Gone || api.Gone || young.Gone || !gone.Gone || web.Node != "n1" || web.Requested != nil || r.Instant() {
		t.Errorf("pods are %+v", r.Pods)
	}
	if young.Unmeasured == "" || young.Used != nil || young.Requested != nil || young.Charged != nil || !young.Hours.IsZero() {
		t.Errorf("a pod without samples is %+v", young)
	}
	equal(t, "hours of the window", r.Hours, "2")
	if n := note(r, "NotServed"); !n.LowersFigures {
		t.Errorf("that kube-state-metrics is missing is not told: %+v", r.Notes)
	}
}

// TestClaims has a claim that two pods mount, for a part of the time both; of a volume
// that is larger than it asked for, and stays when the claim goes.
func TestClaims(t *testing.T) {
	f := &truth{T: t}
	claim := map[string]string{"namespace": "shop", "persistentvolumeclaim": "data", "instance": "k"}
	f.over("kube_persistentvolumeclaim_resource_requests_storage_bytes", claim, 0, 210, "100")
	f.over("kube_persistentvolumeclaim_info", with2(claim, "volumename", "pv-1", "storageclass", "ssd"), 150, 210, "1")
	f.over("kube_persistentvolume_capacity_bytes", map[string]string{"persistentvolume": "pv-1"}, 0, 240, "200")
	f.over("kubelet_volume_stats_used_bytes", claim, 150, 210, "50")
	mount := func(name, uid string, from, to int64) {
		l := podLabels("shop", name, uid)
		f.over("kube_pod_spec_volumes_persistentvolumeclaims_info", with2(l, "persistentvolumeclaim", "data", "volume", "a"), from, 240, "1")
		f.over("kube_pod_spec_volumes_persistentvolumeclaims_info", with2(l, "persistentvolumeclaim", "data", "volume", "b"), from, 240, "1")
		f.over("kube_pod_status_phase", with2(l, "phase", "Running"), from, to, "1")
		f.over("kube_pod_status_phase", with2(l, "phase", "Running"), to+1, 240, "0")
	}
	mount("one", uidA, 0, 180)
	mount("two", uidB, 165, 195)
	f.over("kube_persistentvolumeclaim_resource_requests_storage_bytes", map[string]string{"namespace": "other", "persistentvolumeclaim": "data"}, 0, 240, "7")
	r := f.read(&metrics.UsageReport{Claims: []metrics.Claim{{Ref: object.Ref{Kind: "PersistentVolumeClaim", Namespace: "other", Name: "data"}, UID: "u", Class: "hdd"}}})
	if len(r.Claims) != 2 || r.Claims[0].Gone || r.Claims[0].Class != "hdd" || !r.Claims[1].Gone {
		t.Fatalf("claims are %+v", r.Claims)
	}
	equal(t, "claimed in the other namespace", r.Claims[0].Claimed, "14")
	c := r.Claims[1]
	if c.Class != "ssd" || c.Volume != "pv-1" || !c.UsedKnown || len(c.Mounts) != 2 {
		t.Fatalf("claim is %+v", c)
	}
	equal(t, "hours", c.Hours, "1.5")
	// 29 minutes at 100, 61 at 200.
	equal(t, "claimed", c.Claimed, "251.666666666666667")
	equal(t, "used", c.Used, "50.833333333333333")
	// Alone from 120 to 164, both to 180, the other one alone to 195.
	equal(t, "of the first", c.Mounts[0].Hours, "0.866666666666667")
	equal(t, "of the second", c.Mounts[1].Hours, "0.383333333333333")
	equal(t, "unmounted", c.Unmounted, "0.25")
	if sum := c.Mounts[0].Hours.Add(c.Mounts[1].Hours).Add(c.Unmounted); !sum.Equal(c.Hours) {
		t.Errorf("parts add up to %s of %s", sum, c.Hours)
	}
}

// TestNodes has nodes and load balancers, of which some are gone.
func TestNodes(t *testing.T) {
	f := &truth{T: t}
	for i, node := range []string{"n1", "n2"} {
		to := int64(240 - 60*i)
		for resource, v := range map[string]string{"cpu": "4", "memory": "1000", "nvidia_com_gpu": "2", "pods": "110", "ephemeral_storage": "5"} {
			f.over("kube_node_status_capacity", map[string]string{"node": node, "resource": resource}, 0, to, v)
		}
		f.over("kube_node_info", map[string]string{"node": node, "provider_id": "kind://" + node}, 0, to, "1")
		f.over("kube_node_labels", map[string]string{"node": node, "label_spot": "true"}, 0, to, "1")
		f.over("kube_service_status_load_balancer_ingress", map[string]string{"namespace": "shop", "service": node, "ip": "192.0.2.1"}, 0, to, "1")
		f.over("kube_service_spec_type", map[string]string{"namespace": "shop", "service": node + "-pending", "type": "LoadBalancer"}, 0, to, "1")
	}
	seed := &metrics.UsageReport{
		Nodes:         []metrics.Node{{Name: "n1", Labels: map[string]string{"a": "b"}, Hours: windowHour(), Whole: true}},
		LoadBalancers: []metrics.LoadBalancer{{Service: object.Ref{Kind: "Service", Namespace: "shop", Name: "unknown"}, Hours: windowHour()}},
	}
	r := f.read(seed)
	if len(r.Nodes) != 2 || r.Nodes[0].Labels["a"] != "b" || r.Nodes[1].Labels["spot"] != "true" || r.Nodes[1].ProviderID != "kind://n2" || !r.Nodes[0].Whole || !r.Nodes[1].Whole {
		t.Fatalf("nodes are %+v", r.Nodes)
	}
	equal(t, "hours", r.Nodes[0].Hours, "2")
	equal(t, "hours of the one that went", r.Nodes[1].Hours, "1")
	equal(t, "cores", r.Nodes[1].Capacity.Value(metrics.CPU), "4")
	equal(t, "GPUs", r.Nodes[0].Capacity.Value("nvidia.com/gpu"), "4")
	equal(t, "ephemeral storage", r.Nodes[0].Capacity.Value(metrics.Ephemeral), "10")
	if _, ok := r.Nodes[0].Capacity.Lookup("pods"); ok || len(r.LoadBalancers) != 2 {
		t.Errorf("reading is %+v", r)
	}
	equal(t, "load balancer", r.LoadBalancers[1].Hours, "1")
	if r = f.read(nil, func(o *metrics.HistoryOptions) { o.Namespaces = []string{"shop"} }); len(r.Nodes) != 0 {
		t.Errorf("nodes of a namespace without pods are %+v", r.Nodes)
	}
}

// TestGap has a hole of twenty minutes: memory of it does not count, CPU does, and it is
// told.
func TestGap(t *testing.T) {
	f := &truth{T: t}
	c := cadvisor("shop", "web", "app", "/kubepods/pod"+uidA+"/1")
	for _, part := range [][2]int64{{0, 160}, {180, 240}} {
		f.ramp("container_cpu_usage_seconds_total", c, 0, part[0], part[1], 60)
		f.over("container_memory_working_set_bytes", c, part[0], part[1], "60")
	}
	r := f.read(nil)
	equal(t, "CPU", r.Pods[0].Used.Value(metrics.CPU), "2")
	equal(t, "memory", r.Pods[0].Used.Value(metrics.Memory), "102") // a sample stands two minutes
	if n := note(r, "Gap"); !n.LowersFigures || !strings.Contains(n.Message, "of 120 steps of the window have no samples") {
		t.Errorf("notes are %+v", r.Notes)
	}
}

// TestPodGap has a pod without usage for an hour, which its row tells, in a window of few steps as in
// one of many; one that is whole, and one whose usage comes a minute late, when long steps sample it.
func TestPodGap(t *testing.T) {
	f := &truth{T: t}
	for name, parts := range map[string][][2]int64{"hole": {{0, 130}, {191, 240}}, "whole": {{0, 240}}} {
		uid := map[string]string{"hole": uidA, "whole": uidB}[name]
		f.over("kube_pod_status_phase", with2(podLabels("shop", name, uid), "phase", "Running"), 0, 240, "1")
		for _, part := range parts {
			f.ramp("container_cpu_usage_seconds_total", cadvisor("shop", name, "app", "/kubepods/pod"+uid+"/1"), 0, part[0], part[1], 60)
			f.over("container_memory_working_set_bytes", cadvisor("shop", name, "app", "/kubepods/pod"+uid+"/1"), part[0], part[1], "60")
		}
	}
	f.over("kube_pod_status_phase", with2(podLabels("shop", "late", uidA[:35]+"9"), "phase", "Running"), 156, 240, "1")
	f.over("container_memory_working_set_bytes", cadvisor("shop", "late", "app", "/kubepods/pod"+uidA[:35]+"9/1"), 157, 240, "60")
	for step, want := range map[time.Duration]time.Duration{time.Minute: 59 * time.Minute, time.Hour: 48 * time.Minute} {
		r := f.read(nil, func(o *metrics.HistoryOptions) { o.Step = step })
		if got := podOf(t, r, "hole", "").Gap; got != want {
			t.Errorf("in steps of %s the gap is %s, want %s", step, got, want)
		}
		for _, name := range []string{"whole", "late"} {
			if got := podOf(t, r, name, "").Gap; got != 0 {
				t.Errorf("in steps of %s the gap of %s is %s", step, name, got)
			}
		}
		if n := note(r, metrics.PodGap); n.Subject != "shop/hole" || !n.LowersFigures || !strings.HasPrefix(n.Message, "samples of 1 pods have gaps of up to "+want.String()) {
			t.Errorf("the note is %+v", n)
		}
	}
}

// TestGapBefore has a hole across the beginning of the window: what was used in it became
// known in the window, which is told.
func TestGapBefore(t *testing.T) {
	f := &truth{T: t}
	c := cadvisor("shop", "web", "app", "/kubepods/pod"+uidA+"/1")
	for _, part := range [][2]int64{{0, 90}, {121, 240}} {
		f.ramp("container_cpu_usage_seconds_total", c, 0, part[0], part[1], 60)
	}
	r := f.read(nil)
	equal(t, "CPU", r.Pods[0].Used.Value(metrics.CPU), "2.5")
	if n := note(r, "Gap"); n.Message != "" {
		t.Errorf("notes are %+v", r.Notes)
	}
}

// TestClusters has a server with the series of two clusters.
func TestClusters(t *testing.T) {
	f := &truth{T: t}
	for i, cluster := range []string{"one", "two"} {
		l := map[string]string{"namespace": "shop", "persistentvolumeclaim": "data", "cluster": cluster}
		f.over("kube_persistentvolumeclaim_resource_requests_storage_bytes", l, 0, 240, strconv.Itoa(100*(i+1)))
	}
	if n := note(f.read(nil), "Ambiguous"); !n.LowersFigures {
		t.Error("that they are mixed up is not told")
	}
	r := f.read(nil, func(o *metrics.HistoryOptions) { o.Matchers = `cluster="one"` })
	equal(t, "claimed", r.Claims[0].Claimed, "200")
	if n := note(r, "Ambiguous"); n.LowersFigures {
		t.Errorf("note is %+v", n)
	}
}

func cadvisor(namespace, pod, container, id string) map[string]string {
	return map[string]string{
		"namespace": namespace, "pod": pod, "container": container, "image": "img",
		"id": id, "name": id, "cpu": "total", "job": "kubelet", "instance": "10.0.0.1:10250", "metrics_path": "/metrics/cadvisor",
	}
}

func podLabels(namespace, pod, uid string) map[string]string {
	return map[string]string{"namespace": namespace, "pod": pod, "uid": uid, "job": "kube-state-metrics", "instance": "10.1.1.1:8080"}
}

func with2(labels map[string]string, pairs ...string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, labels)
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = pairs[i+1]
	}
	return out
}

func equal(t *testing.T, what string, got decimal.Decimal, want string) {
	t.Helper()
	if w := decimal.RequireFromString(want); !got.Round(15).Equal(w.Round(15)) {
		t.Errorf("%s is %s, want %s", what, got, want)
	}
}

// TestResourceNames has the extended resources of a pod that is gone under the names that
// kube-state-metrics writes (SanitizeLabelName of the resource, in its internal/store/pod.go):
// they are those of the price book and of the nodes; a name that nobody knows stays as it is.
func TestResourceNames(t *testing.T) {
	f := &truth{T: t}
	l := podLabels("shop", "gone", uidA)
	f.over("kube_pod_status_phase", with2(l, "phase", "Running"), 0, 240, "1")
	for _, name := range []string{"google_com_tpu", "habana_ai_gaudi", "nvidia_com_mig_1g_5gb", "hugepages_2Mi", "example_com_unknown"} {
		f.over("kube_pod_container_resource_requests", with2(l, "container", "c", "resource", name), 0, 240, "3")
	}
	p := podOf(t, f.read(nil, func(o *metrics.HistoryOptions) {
		o.Resources = []metrics.Resource{"google.com/tpu", "habana.ai/gaudi", "nvidia.com/mig-1g.5gb"}
	}), "gone", "")
	for _, name := range []metrics.Resource{"google.com/tpu", "habana.ai/gaudi", "nvidia.com/mig-1g.5gb", "hugepages-2Mi", "example_com_unknown"} {
		equal(t, string(name), p.Charged.Value(name), "6")
	}
}

// TestUnclaimedVolumes has volumes in the phases of kube_persistentvolume_status_phase: one that
// lost its claim at minute 180, one that nobody ever claimed, and one that is bound.
func TestUnclaimedVolumes(t *testing.T) {
	f := &truth{T: t}
	for name, phases := range map[string]map[string][2]int64{
		"released": {"Bound": {0, 180}, "Released": {181, 240}},
		"waiting":  {"Available": {0, 240}},
		"bound":    {"Bound": {0, 240}},
	} {
		f.over("kube_persistentvolume_capacity_bytes", map[string]string{"persistentvolume": name}, 0, 240, "1000")
		f.over("kube_persistentvolume_info", map[string]string{"persistentvolume": name, "storageclass": "ssd"}, 0, 240, "1")
		for _, phase := range []string{"Available", "Bound", "Failed", "Pending", "Released"} {
			l := map[string]string{"persistentvolume": name, "phase": phase}
			f.add("kube_persistentvolume_status_phase", l, phaseSamples(phases[phase])...)
		}
	}
	r := f.read(nil)
	if len(r.Unclaimed) != 2 || r.Unclaimed[0].Name != "released" || r.Unclaimed[1].Name != "waiting" || r.Unclaimed[0].Class != "ssd" {
		t.Fatalf("the volumes are %+v", r.Unclaimed)
	}
	equal(t, "hours of the released one", r.Unclaimed[0].Hours, "1")
	equal(t, "its byte-hours", r.Unclaimed[0].Claimed, "1000")
	equal(t, "byte-hours of the one that waits", r.Unclaimed[1].Claimed, "2000")
	if r := f.read(nil, func(o *metrics.HistoryOptions) { o.Namespaces = []string{"shop"} }); len(r.Unclaimed) != 0 {
		t.Errorf("a question about a namespace has the volumes %+v", r.Unclaimed)
	}
}

// phaseSamples are 1 within the minutes, and 0 in all others.
func phaseSamples(minutes [2]int64) []fakeSample {
	var out []fakeSample
	for m := int64(0); m <= 240; m++ {
		v := "0"
		if m >= minutes[0] && m <= minutes[1] && minutes[1] > 0 {
			v = "1"
		}
		out = append(out, fakeSample{at(m), v})
	}
	return out
}

// constant is one value at several moments.
func constant(v string, times ...int64) []fakeSample {
	out := make([]fakeSample, len(times))
	for i, t := range times {
		out[i] = fakeSample{t, v}
	}
	return out
}

// grid is the moments from from to to, both in it.
func grid(from, to, step int64) []int64 {
	var out []int64
	for t := from; t <= to; t += step {
		out = append(out, t)
	}
	return out
}

func windowHour() decimal.Decimal { return decimal.NewFromInt(1) }

func decimalOf(s string) decimal.Decimal { return decimal.RequireFromString(s) }
