package metrics

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/shopspring/decimal"
)

// mess is a cluster whose samples have everything that goes wrong: gaps of any length,
// resets, containers that restart, names that are used again, scrapers that come and
// go and are late, replicas that miss things.
type mess struct {
	*rand.Rand
	f        *fakeServer
	from, to int64
	step     int64
	holes    bool
}

func newMess(seed uint64) *mess {
	m := &mess{Rand: rand.New(rand.NewPCG(seed, 4)), f: &fakeServer{closed: seed%2 == 0}, from: fakeBegin}
	m.step = []int64{15, 30, 60}[m.IntN(3)] * second
	m.to = m.from + (4*60+m.Int64N(120))*minute
	for i := range 6 {
		m.pod(i)
	}
	m.others()
	return m
}

// times are the moments of a scraper between two moments, with holes.
func (m *mess) times(from, to int64) []int64 {
	var out []int64
	for t := from + m.Int64N(m.step); t <= to; t += m.step {
		if m.holes && m.IntN(40) == 0 {
			t += m.step * []int64{1, 3, 12, 30, 100}[m.IntN(5)]
		}
		if t <= to && m.IntN(30) != 0 {
			out = append(out, t+m.Int64N(500))
		}
	}
	return out
}

// scrape adds a series by one or two scrapers.
func (m *mess) scrape(name string, labels map[string]string, from, to int64, value func(t int64) string) {
	for i := range 1 + m.IntN(2) {
		var samples []fakeSample
		for _, t := range m.times(from, to) {
			samples = append(samples, fakeSample{t, value(t)})
		}
		if len(samples) > 0 {
			m.f.add(name, with2(labels, "prometheus_replica", strconv.Itoa(i)), samples...)
		}
	}
}

// cumulative is a counter of a random slope, that falls now and then.
func (m *mess) cumulative(from int64) func(t int64) string {
	rate, resets := 1+m.Int64N(3_000), []int64{from}
	for range m.IntN(3) {
		resets = append(resets, from+m.Int64N(m.to-m.from))
	}
	slices.Sort(resets)
	return func(t int64) string {
		i, _ := slices.BinarySearch(resets, t+1)
		return decimal.New(rate*(t-resets[max(i-1, 0)])*997, -9).String()
	}
}

func (m *mess) pod(i int) {
	name := fmt.Sprintf("web-%d", i%4) // of which two are used again
	uid := fmt.Sprintf("%08d-2222-3333-4444-555555555555", i)
	from := m.from + m.Int64N(90)*minute + int64(i/4)*130*minute
	to := from + (5+m.Int64N(100))*minute
	ksm := podLabels("shop", name, uid)
	at := strconv.FormatInt(from/1000, 10)
	// Pods of one name, and of unnamed cgroups, can be told apart by their starts alone.
	if m.IntN(4) > 0 || i%4 < 2 {
		m.holes = false // of what is told of a pod once and for all
		m.scrape("kube_pod_start_time", ksm, from, to, func(int64) string { return at })
		m.scrape("kube_pod_created", ksm, from, to, func(int64) string { return at })
	}
	m.holes = false
	if m.IntN(4) > 0 {
		m.scrape("kube_pod_info", with2(ksm, "node", "n"+strconv.Itoa(i%2)), from, to, func(int64) string { return "1" })
	}
	m.holes = true
	until := to + 20*minute
	if m.IntN(3) == 0 {
		m.holes = false
		m.scrape("kube_pod_completion_time", ksm, to, until, func(int64) string { return strconv.FormatInt(to/1000, 10) })
		m.holes = true
	}
	m.scrape("kube_pod_status_phase", with2(ksm, "phase", "Running"), from, until, func(t int64) string { return bit(t <= to) })
	if m.IntN(2) == 0 {
		m.scrape("kube_pod_container_status_running", with2(ksm, "container", "app"), from, until, func(t int64) string { return bit(t <= to) })
	}
	for _, c := range []string{"app", "side"} {
		m.container(name, uid, c, from, to)
		for _, resource := range []string{"cpu", "memory", "nvidia_com_gpu"} {
			v := strconv.Itoa(m.IntN(3))
			m.scrape("kube_pod_container_resource_requests", with2(ksm, "container", c, "resource", resource), from, until, func(int64) string { return v })
			m.scrape("kube_pod_container_resource_limits", with2(ksm, "container", c, "resource", resource), from, until, func(int64) string { return v })
		}
	}
	if m.IntN(3) == 0 {
		m.scrape("kube_pod_resource_request", map[string]string{"namespace": "shop", "pod": name, "node": "n1", "resource": "cpu", "unit": "cores"}, from, to, func(int64) string { return "0.7" })
	}
	m.scrape("kube_pod_overhead_cpu_cores", ksm, from, until, func(int64) string { return "0.125" })
	m.scrape("container_network_receive_bytes_total", map[string]string{"namespace": "shop", "pod": name, "id": "/kubepods/pod" + uid, "interface": "eth0"}, from, to, func(t int64) string { return strconv.FormatInt((t-from)*3, 10) })
	m.scrape("kube_pod_spec_volumes_persistentvolumeclaims_info", with2(ksm, "persistentvolumeclaim", "data", "volume", "v"), from, until, func(int64) string { return "1" })
}

// container adds a container that restarts once in three times.
func (m *mess) container(pod, uid, name string, from, to int64) {
	starts := []int64{from, to}
	if m.IntN(3) == 0 {
		starts = []int64{from, from + (to-from)/3, to}
	}
	for i := range len(starts) - 1 {
		id := fmt.Sprintf("/kubepods/pod%s/%s%d", uid, name, i)
		if m.IntN(8) == 0 && pod < "web-2" {
			id = ""
		}
		labels := cadvisor("shop", pod, name, id)
		if m.IntN(3) > 0 {
			m.holes = false
			m.scrape("container_start_time_seconds", labels, starts[i], starts[i+1], func(int64) string { return strconv.FormatInt(starts[i]/1000, 10) })
		}
		m.holes = true
		m.scrape("container_cpu_usage_seconds_total", labels, starts[i], starts[i+1], m.cumulative(starts[i]))
		m.scrape("container_memory_working_set_bytes", labels, starts[i], starts[i+1], func(int64) string { return strconv.Itoa(m.IntN(1 << 30)) })
	}
}

func (m *mess) others() {
	claim := map[string]string{"namespace": "shop", "persistentvolumeclaim": "data"}
	m.scrape("kube_persistentvolumeclaim_resource_requests_storage_bytes", claim, m.from, m.to, func(int64) string { return "1073741824" })
	m.scrape("kube_persistentvolumeclaim_info", with2(claim, "volumename", "pv-1", "storageclass", "ssd"), m.from+20*minute, m.to, func(int64) string { return "1" })
	m.scrape("kube_persistentvolume_capacity_bytes", map[string]string{"persistentvolume": "pv-1"}, m.from, m.to, func(int64) string { return "2147483648" })
	m.scrape("kubelet_volume_stats_used_bytes", claim, m.from, m.to, func(t int64) string { return strconv.FormatInt(t%1e6, 10) })
	m.scrape("kube_service_status_load_balancer_ingress", map[string]string{"namespace": "shop", "service": "web", "ip": "192.0.2.1"}, m.from, m.to, func(int64) string { return "1" })
	for _, n := range []string{"n0", "n1"} {
		m.scrape("kube_node_status_capacity", map[string]string{"node": n, "resource": "cpu", "unit": "core"}, m.from, m.to, func(int64) string { return "4" })
		m.scrape("kube_node_status_capacity", map[string]string{"node": n, "resource": "memory", "unit": "byte"}, m.from, m.to, func(int64) string { return "8e+09" })
	}
}

func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// figures are all amounts of a reading, by what they are of.
func figures(r *UsageReport) map[string]decimal.Decimal {
	out := map[string]decimal.Decimal{"hours": r.Hours}
	put := func(key string, a Amounts) {
		for name, v := range a {
			out[key+" "+string(name)] = out[key+" "+string(name)].Add(v)
		}
	}
	for _, p := range r.Pods {
		key := p.Ref.String() + " " + string(p.UID)
		out[key+" hours"] = p.Hours
		put(key+" used", p.Used)
		put(key+" requested", p.Requested)
		put(key+" charged", p.Charged)
		for _, c := range p.Containers {
			put(key+" "+c.Name+" used", c.Used)
			put(key+" "+c.Name+" requested", c.Requested)
			put(key+" "+c.Name+" limited", c.Limited)
		}
	}
	for _, c := range r.Claims {
		key := c.Ref.String()
		out[key+" hours"], out[key+" claimed"], out[key+" unmounted"] = c.Hours, c.Claimed, c.Unmounted
		for _, m := range c.Mounts {
			out[key+" "+string(m.UID)] = m.Hours
		}
	}
	for _, b := range r.LoadBalancers {
		out[b.Service.String()] = b.Hours
	}
	for _, n := range r.Nodes {
		out[n.Name] = n.Hours
		put(n.Name, n.Capacity)
	}
	return out
}

// TestWindowsAddUp measures random windows of random messes whole and in three parts
// of uneven length, cut anywhere, also at samples: the parts add up to the whole.
func TestWindowsAddUp(t *testing.T) {
	for seed := range uint64(5) {
		m := newMess(seed)
		target := m.f.start(t)
		from := m.from + m.Int64N(120*minute)
		to := from + minute + m.Int64N(m.to-from)
		cuts := []int64{from, from + m.Int64N(to-from-2) + 1, from + m.Int64N(to-from-2) + 1, to}
		if seed%3 == 0 { // a cut at a sample
			s := m.f.series[m.IntN(len(m.f.series))].samples
			if at := s[m.IntN(len(s))].t; at > from && at < to {
				cuts[1] = at
			}
		}
		slices.Sort(cuts)
		cuts = slices.Compact(cuts)
		whole := figures(measure(t, target, window(from, to), nil))
		sum := map[string]decimal.Decimal{}
		for i := range len(cuts) - 1 {
			for key, v := range figures(measure(t, target, window(cuts[i], cuts[i+1]), nil)) {
				sum[key] = sum[key].Add(v)
			}
		}
		for key, want := range whole {
			if got := sum[key]; !got.Sub(want).Abs().LessThan(decimal.New(1, -15)) {
				t.Errorf("seed %d, cuts %v: %s: parts add up to %s, the whole is %s", seed, cuts, key, got, want)
			}
			delete(sum, key)
		}
		for key, v := range sum {
			if !v.IsZero() {
				t.Errorf("seed %d, cuts %v: %s: parts add up to %s, and the whole has none", seed, cuts, key, v)
			}
		}
	}
}
