package e2e

import (
	"maps"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

const (
	historyNamespace = "shop"
	shelfCapacity    = 10 << 30 // of the volumes; their claims ask for less
	shelfClaim       = 8 << 30
)

// claim is a volume claim, which is there all the time.
type claim struct {
	name, uid, volume, class string
	used                     levels
}

func shelfClaims(r *rand.Rand) []claim {
	return []claim{
		{"data-db-0", "c1a10000-0000-4000-8000-000000000001", "pv-data", "fast", randomLevels(r, 1<<30, 2<<30)},
		{"shelf", "c1a10000-0000-4000-8000-000000000002", "pv-shelf", "slow", randomLevels(r, 1<<30, 2<<30)},
	}
}

// newHistory makes the world: the same seed, the same world.
func newHistory(seed uint64) *history {
	h := &history{rand: rand.New(rand.NewPCG(seed, seed)), series: map[model.Fingerprint]*model.SampleStream{}, lost: map[string]bool{}} //nolint:gosec // a test's numbers
	h.claims = shelfClaims(h.rand)
	h.makePods()
	for i := range h.pods {
		h.describe(&h.pods[i])
		h.measure(&h.pods[i])
	}
	h.describeOthers()
	return h
}

// makePods makes the pods of a Deployment that come and go, a StatefulSet's pod that
// comes again with its name, a Job's, and some with a mishap each.
func (h *history) makePods() {
	second := func(block int) time.Time { return at(block).Add(time.Duration(h.rand.IntN(290)) * time.Second) }
	for slot := range 3 {
		for from, n := slot, 0; ; n++ {
			to := min(84, from+10+h.rand.IntN(25))
			suffix := string(rune('a'+slot)) + string(rune('a'+n))
			p := podLife{
				span: span{second(from), at(to)}, name: "web-6d4cf56db6-x" + suffix, owner: [2]string{"ReplicaSet", "web-6d4cf56db6"},
				deployment: "web", containers: []container{{name: "app", cores: 250, bytes: 1 << 28}, {name: "proxy", cores: 50, bytes: 1 << 25, sidecar: true}},
			}
			if slot < 2 {
				p.claims = []string{"shelf"}
			}
			h.pods = append(h.pods, p)
			if from = to; to > 80 {
				break
			}
		}
	}
	db := podLife{name: "db-0", setup: true, owner: [2]string{"StatefulSet", "db"}, claims: []string{"data-db-0"}}
	for _, s := range []span{{second(0), at(30)}, {second(34), at(58)}, {second(58), at(84)}} {
		db.span, db.containers = s, []container{{name: "mysql", cores: 500, bytes: 1 << 29}}
		h.pods = append(h.pods, db)
	}
	app := func(cores, bytes int64) []container { return []container{{name: "app", cores: cores, bytes: bytes}} }
	h.pods = append(h.pods,
		podLife{
			name: "report-29384720-m4x2k", span: span{second(20), at(31)}, owner: [2]string{"Job", "report-29384720"}, completed: true,
			containers: app(1000, 1<<27), overhead: container{cores: 100, bytes: 1 << 25},
		},
		podLife{name: "agent-7zq9d", span: span{second(0), at(84)}, owner: [2]string{"DaemonSet", "agent"}, hostNetwork: true, containers: app(10, 1<<24)},
		podLife{name: "quiet", span: span{second(9), at(40)}, containers: []container{{name: "app", cores: 100, bytes: 1 << 26, unmeasured: true}}},
		podLife{
			name: "patchy", span: span{second(1), at(70)},
			containers: []container{{name: "app", cores: 100, bytes: 1 << 26, hole: span{at(41).Add(45 * time.Second), at(45).Add(-45 * time.Second)}}},
		},
		podLife{namespace: "elsewhere", name: "db-0", span: span{second(2), at(80)}, owner: [2]string{"StatefulSet", "db"}, containers: app(100, 1<<26)},
	)
	for i := range h.pods {
		h.fill(&h.pods[i], i)
	}
}

// fill gives the pod what every pod has. Each third container restarts, and the
// counter of each fourth is reset.
func (h *history) fill(p *podLife, i int) {
	p.uid, p.node = h.uid(), "node-"+string(rune('a'+i%3))
	if p.namespace == "" {
		p.namespace = historyNamespace
	}
	p.received, p.sent = randomLevels(h.rand, 100, 1_000_000), randomLevels(h.rand, 100, 1_000_000)
	for j := range p.containers {
		c := &p.containers[j]
		middle := p.from.Add(p.to.Sub(p.from) / 2).Truncate(block)
		switch {
		case i%3 == 1 && c.hole == (span{}):
			c.launches = []launch{h.newLaunch(span{p.from, middle}), h.newLaunch(span{middle, p.to})}
		case i%4 == 2:
			c.launches = []launch{h.newLaunch(p.span, middle)}
		default:
			c.launches = []launch{h.newLaunch(p.span)}
		}
	}
}

func (p *podLife) labels(more ...string) model.Metric {
	return pairs(append([]string{"namespace", p.namespace, "pod", p.name}, more...)...)
}

// pairs makes labels of names and values in turn.
func pairs(text ...string) model.Metric {
	m := model.Metric{}
	for i := 0; i < len(text); i += 2 {
		m[model.LabelName(text[i])] = model.LabelValue(text[i+1])
	}
	return m
}

// measure writes what cAdvisor shows of the pod: a series for each run of a
// container, the sums of the pod, and the traffic of its sandbox.
func (h *history) measure(p *podLife) {
	by := kubelets(p.node, "/metrics/cadvisor")
	slice := "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + strings.ReplaceAll(p.uid, "-", "_") + ".slice"
	network := p.labels("id", slice+"/cri-containerd-"+h.hex()+".scope", "image", "registry.k8s.io/pause:3.10", "name", h.hex(), "interface", "eth0")
	interfaces := map[string]int64{"eth0": 1, "lo": 1000} // what stays inside is no traffic
	for _, c := range p.containers {
		if c.unmeasured {
			return
		}
		for _, r := range c.launches {
			l := p.labels("container", c.name, "id", slice+"/cri-containerd-"+r.id+".scope", "image", "example.org/"+c.name+":1", "name", r.id)
			h.add(by, "container_cpu_usage_seconds_total", with(l, "cpu", "total"), r.span, c.hole, func(t time.Time) float64 { return float64(r.counter(t)) / 1e9 })
			h.add(by, "container_memory_working_set_bytes", l, r.span, c.hole, func(t time.Time) float64 { return float64(r.memory.at(t)) })
			h.add(by, "container_start_time_seconds", l, r.span, c.hole, constant(float64(r.from.Unix())))
		}
	}
	roll := with(p.labels("id", slice), "container", "")
	h.add(by, "container_cpu_usage_seconds_total", with(roll, "cpu", "total"), p.span, span{}, func(t time.Time) float64 { return t.Sub(p.from).Seconds() * 7 })
	h.add(by, "container_memory_working_set_bytes", roll, p.span, span{}, constant(1<<34))
	for name, factor := range interfaces {
		l := with(network, "interface", name)
		counts := func(of levels) func(time.Time) float64 {
			return func(t time.Time) float64 { return float64(factor * of.sum(p.span, p.from, t, plain)) }
		}
		h.add(by, "container_network_receive_bytes_total", l, p.span, span{}, counts(p.received))
		h.add(by, "container_network_transmit_bytes_total", l, p.span, span{}, counts(p.sent))
	}
}

func with(l model.Metric, name, value string) model.Metric {
	l = maps.Clone(l)
	l[model.LabelName(name)] = model.LabelValue(value)
	return l
}

// describe writes what kube-state-metrics shows of the pod. One that has completed
// is there, with its requests, for an hour more.
func (h *history) describe(p *podLife) {
	by, there := stateMetrics(), p.span
	if p.completed {
		there.to = p.to.Add(time.Hour)
		h.add(by, "kube_pod_completion_time", p.labels("uid", p.uid), span{p.to, there.to}, span{}, constant(float64(p.to.Unix())))
	}
	add := func(name string, value float64, more ...string) {
		h.add(by, name, p.labels(append([]string{"uid", p.uid}, more...)...), there, span{}, constant(value))
	}
	add("kube_pod_info", 1, "node", p.node, "host_network", map[bool]string{true: "true", false: "false"}[p.hostNetwork],
		"created_by_kind", orNone(p.owner[0]), "created_by_name", orNone(p.owner[1]))
	add("kube_pod_start_time", float64(p.from.Unix()))
	add("kube_pod_created", float64(p.from.Unix()))
	add("kube_pod_owner", 1, "owner_kind", orNone(p.owner[0]), "owner_name", orNone(p.owner[1]), "owner_is_controller", map[bool]string{true: "true", false: ""}[p.owner[0] != ""])
	add("kube_pod_labels", 1, "label_app_kubernetes_io_instance", strings.Split(p.name, "-")[0])
	while := func(phase string) func(time.Time) float64 {
		return func(t time.Time) float64 {
			ended := t.After(p.to)
			if phase == "Running" && !ended || phase == "Succeeded" && ended {
				return 1
			}
			return 0
		}
	}
	for _, phase := range []string{"Pending", "Running", "Succeeded", "Failed", "Unknown"} {
		h.add(by, "kube_pod_status_phase", p.labels("uid", p.uid, "phase", phase), there, span{}, while(phase))
	}
	for _, c := range p.containers {
		prefix := "kube_pod_container_"
		if c.sidecar {
			prefix = "kube_pod_init_container_"
			add(prefix+"info", 1, "container", c.name, "restart_policy", "Always")
		}
		h.add(by, prefix+"status_running", p.labels("uid", p.uid, "container", c.name), there, span{}, while("Running"))
		h.requests(p, prefix, c, there)
	}
	if c := (container{name: "setup", cores: 4000, bytes: 1 << 35}); p.setup {
		add("kube_pod_init_container_info", 1, "container", c.name)
		add("kube_pod_init_container_status_running", 0, "container", c.name)
		h.requests(p, "kube_pod_init_container_", c, there)
	}
	if p.overhead.cores > 0 {
		add("kube_pod_overhead_cpu_cores", float64(p.overhead.cores)/1000)
		add("kube_pod_overhead_memory_bytes", float64(p.overhead.bytes))
	}
	for _, claim := range p.claims {
		add("kube_pod_spec_volumes_persistentvolumeclaims_info", 1, "volume", "data", "persistentvolumeclaim", claim)
	}
}

// requests writes what a container asks for; its limits are the same.
func (h *history) requests(p *podLife, prefix string, c container, there span) {
	for _, name := range []string{"resource_requests", "resource_limits"} {
		l := p.labels("uid", p.uid, "container", c.name, "node", p.node)
		h.add(stateMetrics(), prefix+name, with(with(l, "resource", "cpu"), "unit", "core"), there, span{}, constant(float64(c.cores)/1000))
		h.add(stateMetrics(), prefix+name, with(with(l, "resource", "memory"), "unit", "byte"), there, span{}, constant(float64(c.bytes)))
	}
}

// orNone is how kube-state-metrics writes that there is none.
func orNone(s string) string {
	if s == "" {
		return "<none>"
	}
	return s
}

// describeOthers writes what there is beside pods.
func (h *history) describeOthers() {
	by := stateMetrics()
	add := func(name string, value float64, labels ...string) {
		h.add(by, name, pairs(labels...), whole(), span{}, constant(value))
	}
	add("kube_replicaset_owner", 1, "namespace", historyNamespace, "replicaset", "web-6d4cf56db6", "owner_kind", "Deployment", "owner_name", "web", "owner_is_controller", "true")
	add("kube_job_owner", 1, "namespace", historyNamespace, "job_name", "report-29384720", "owner_kind", "CronJob", "owner_name", "report", "owner_is_controller", "true")
	add("kube_service_spec_type", 1, "namespace", historyNamespace, "service", "web", "uid", "5e41ce00-0000-4000-8000-000000000001", "type", "LoadBalancer")
	add("kube_service_status_load_balancer_ingress", 1, "namespace", historyNamespace, "service", "web", "uid", "5e41ce00-0000-4000-8000-000000000001", "ip", "192.0.2.10")
	add("kube_service_spec_type", 1, "namespace", historyNamespace, "service", "pending", "uid", "5e41ce00-0000-4000-8000-000000000003", "type", "LoadBalancer")
	add("kube_service_spec_type", 1, "namespace", historyNamespace, "service", "db", "uid", "5e41ce00-0000-4000-8000-000000000002", "type", "ClusterIP")
	for _, node := range []string{"node-a", "node-b", "node-c"} {
		add("kube_node_info", 1, "node", node, "provider_id", "test://"+node)
		add("kube_node_status_capacity", 8, "node", node, "resource", "cpu", "unit", "core")
		add("kube_node_status_capacity", 1<<35, "node", node, "resource", "memory", "unit", "byte")
	}
	for _, c := range h.claims {
		add("kube_persistentvolumeclaim_info", 1, "namespace", historyNamespace, "persistentvolumeclaim", c.name, "storageclass", c.class, "volumename", c.volume)
		add("kube_persistentvolumeclaim_resource_requests_storage_bytes", shelfClaim, "namespace", historyNamespace, "persistentvolumeclaim", c.name)
		add("kube_persistentvolume_capacity_bytes", shelfCapacity, "persistentvolume", c.volume)
		add("kube_persistentvolume_claim_ref", 1, "persistentvolume", c.volume, "name", c.name, "claim_namespace", historyNamespace)
		h.add(kubelets("node-a", "/metrics"), "kubelet_volume_stats_used_bytes", pairs("namespace", historyNamespace, "persistentvolumeclaim", c.name), whole(), span{},
			func(t time.Time) float64 { return float64(c.used.at(t)) })
	}
}
