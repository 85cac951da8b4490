package metrics

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// containerNames are the labels that name a container of cAdvisor. A container that
// was restarted has another id and name.
var containerNames = []string{"namespace", "pod", "container", "id", "name", "image"} //nolint:gochecknoglobals // a constant

var containerName = containerNames[:3] //nolint:gochecknoglobals // a constant

// nanocore-milliseconds, in which CPU is added up, of a nanosecond of CPU time.
const nanosecond = 1000

// streams are the metrics that a window is read from. What says which pods ran comes
// before what depends on it.
func (p *windowState) streams() []stream {
	usage := `container!="",container!="POD"`
	out := []stream{
		{name: "kube_pod_status_phase", matchers: `phase=~"Pending|Running"`, back: backRequest + staleness, take: p.takePhase},
		{name: "kube_pod_container_status_running", back: backRequest + staleness, take: p.takeRunning},
		{name: "kube_pod_init_container_status_running", back: backRequest + staleness, take: p.takeInitRunning},
		{name: "kube_pod_container_state_started", scale: 3, back: lookBack, ahead: staleness, take: p.takeStarted},
		{name: "container_cpu_usage_seconds_total", matchers: usage, scale: 9, back: backCPU, take: p.takeCPU},
		{name: "container_memory_working_set_bytes", matchers: usage, back: backGauge, take: p.takeMemory},
		{name: "container_network_receive_bytes_total", matchers: `pod!="",interface!="lo"`, back: backCounter, take: p.takeTraffic(Received)},
		{name: "container_network_transmit_bytes_total", matchers: `pod!="",interface!="lo"`, back: backCounter, take: p.takeTraffic(Sent)},
	}
	out = append(out, p.requestStreams()...)
	out = append(out, p.claimStreams()...)
	out = append(out, p.volumeStreams()...)
	return append(out, p.nodeStreams()...)
}

// startOf is when a container started, as far as that is known, for its first sample
// at a moment: by itself, by its name, or not before its pod.
func (p *windowState) startOf(labels map[string]string, q *pod, at int64) int64 {
	if start := p.started[keyOf(labels, containerNames)]; start > 0 && start <= at {
		return start
	}
	var start int64
	for _, s := range p.startedByName[keyOf(labels, containerName)] {
		if s.v <= at {
			start = max(start, s.v)
		}
	}
	return cmp.Or(start, q.life.start)
}

func (p *windowState) takeStarted(list []series) {
	for _, s := range list {
		name := keyOf(s.labels, containerName)
		for _, x := range s.samples {
			known := p.startedByName[name]
			if x.v > 0 && (len(known) == 0 || known[len(known)-1].v != x.v) {
				p.startedByName[name] = append(known, sample{x.t, x.v})
			}
		}
	}
}

// count feeds a counter and gives each interval, with the pod that it is of.
func (p *windowState) count(g group, key string, start func(q *pod, at int64) int64, take func(*pod, interval)) {
	for _, part := range p.splitGroups(g) {
		list, holes := entry(p.counters, key+part.pod.id).feed(merge(part.lists), func(at int64) int64 { return start(part.pod, at) })
		for _, v := range list {
			p.early = max(p.early, p.options.Window.From.UnixMilli()-v.a)
			take(part.pod, v)
		}
		p.hole(part.pod.namespace, part.pod.name, holes)
	}
}

// podGroup is what a group has of one pod.
type podGroup struct {
	group
	pod *pod
}

// splitGroups splits a group of cAdvisor by pods. Mostly it is of one, which its cgroup says;
// else a name that was used again is split by time.
func (p *windowState) splitGroups(g group) []podGroup {
	namespace, name, uid := g.labels["namespace"], g.labels["pod"], uidOf(g.labels)
	if known := p.pods[podName{namespace, name}]; strings.Contains(uid, "-") || len(known) < 2 {
		return []podGroup{{g, p.pod(namespace, name, uid, g.begun())}}
	}
	var out []podGroup
	for _, by := range slices.Sorted(maps.Keys(g.lists)) {
		for _, s := range g.lists[by] {
			q := p.pod(namespace, name, uid, s.t)
			i := slices.IndexFunc(out, func(o podGroup) bool { return o.pod == q })
			if i < 0 {
				i = len(out)
				out = append(out, podGroup{group{g.key, g.labels, map[string][]sample{}}, q})
			}
			out[i].lists[by] = append(out[i].lists[by], s)
		}
	}
	return out
}

func (p *windowState) hole(namespace, name string, length int64) {
	if length > 0 {
		key := namespace + "/" + name
		p.holes[key] = max(p.holes[key], length)
	}
}

func (p *windowState) takeCPU(list []series) {
	for _, g := range groups(p.onlyTotal(list), append(slices.Clone(containerNames), "cpu")...) {
		name := g.labels["container"]
		p.count(g, "cpu"+g.key, func(q *pod, at int64) int64 { return p.startOf(g.labels, q, at) }, func(q *pod, v interval) {
			if v.n > math.MaxInt64/nanosecond {
				p.wild++
				return
			}
			v.n *= nanosecond
			entry(q.use, CPU).add(v)
			entry(q.used, CPU).add(v.n)
			entry(q.container(name).used, CPU).add(v.n)
		})
	}
}

// onlyTotal leaves out the series of the single CPUs of a container that has one of
// their sum as well.
func (p *windowState) onlyTotal(list []series) []series {
	total := map[string]bool{}
	for _, s := range list {
		if cpu := s.labels["cpu"]; cpu == "total" || cpu == "" {
			total[keyOf(s.labels, containerNames)] = true
		}
	}
	return slices.DeleteFunc(list, func(s series) bool {
		cpu := s.labels["cpu"]
		return cpu != "total" && cpu != "" && total[keyOf(s.labels, containerNames)]
	})
}

func (p *windowState) takeMemory(list []series) {
	for _, g := range groups(list, containerName...) {
		entry(p.seen, g.key).feed(g.samples())
	}
	for _, g := range groups(list, containerNames...) {
		for _, part := range p.splitGroups(g) {
			p.takeMemoryOf(part)
		}
	}
}

func (p *windowState) takeMemoryOf(g podGroup) {
	q, samples := g.pod, g.samples()
	lane := entry(p.gauges, "memory"+g.key+q.id)
	if !lane.begun {
		at := samples[0].t
		// Where the start of the pod alone is known, the container may have been
		// restarted since, and one of its name was seen meanwhile.
		start := p.startOf(g.labels, q, at)
		if start > 0 && at-start <= staleness {
			start = max(start, p.seen[keyOf(g.labels, containerName)].before(at))
		}
		lane.begun, lane.life.start = true, start
	}
	list, holes := lane.feed(samples, lane.life)
	p.hole(q.namespace, q.name, holes)
	for _, v := range list {
		entry(q.use, Memory).add(v)
		entry(q.used, Memory).area(v)
		entry(q.container(g.labels["container"]).used, Memory).area(v)
		q.seen.add(interval{a: v.a, b: v.b, n: 1, flat: true})
	}
}

// takeTraffic adds up the interfaces of a pod, which share one network among its
// containers.
func (p *windowState) takeTraffic(direction Resource) func([]series) {
	names := append(slices.Clone(containerNames), "interface")
	return func(list []series) {
		for _, g := range groups(list, names...) {
			start := func(q *pod, at int64) int64 {
				return cmp.Or(p.started[keyOf(g.labels, containerNames)], q.life.start, q.created)
			}
			p.count(g, string(direction)+g.key, start, func(q *pod, v interval) {
				entry(q.traffic, direction).add(v.n)
			})
		}
	}
}

// podNames are the labels that name a pod of kube-state-metrics.
var podNames = []string{"namespace", "pod", "uid"} //nolint:gochecknoglobals // a constant

func (p *windowState) takePhase(list []series) {
	for _, g := range groups(list, append(slices.Clone(podNames), "phase")...) {
		samples := g.samples()
		q := p.podFor(g.labels, samples[0].t)
		if g.labels["phase"] != "Running" {
			q.pending.feed(samples)
			continue
		}
		q.running.feed(samples)
		p.present("phase"+g.key, q, samples, &q.phase)
		p.takeSpec(g, q, samples)
	}
}

// takeSpec takes what the spec of a pod requests beyond its containers, for as long as the
// pod held it.
func (p *windowState) takeSpec(g group, q *pod, samples []sample) {
	for name, rate := range q.wants {
		held := slices.Clone(samples)
		for i := range held {
			held[i].v = rate
		}
		p.ask("spec"+string(name)+g.key, q, held, q.reserves, func(v interval) { entry(q.spec, name).add(v) })
	}
}

func (p *windowState) takeRunning(list []series) {
	for _, s := range list {
		p.podFor(s.labels, s.samples[0].t).container(s.labels["container"]).main = true
	}
	for _, g := range groups(list, podNames...) {
		samples := g.samples()
		q := p.podFor(g.labels, samples[0].t)
		q.containerRuns.feed(samples)
		p.present("run"+g.key, q, samples, &q.run)
	}
}

// present feeds a gauge that is 1 while a pod runs.
func (p *windowState) present(key string, q *pod, samples []sample, to *intervalTrack) {
	if q.life.end > 0 {
		// What ended is told as not running, of the time since the sample before too; its
		// end says better until when it ran.
		samples = slices.Clone(samples)
		for i := range samples {
			if samples[i].t > q.life.end {
				samples[i].v = 1
			}
		}
	}
	list, holes := entry(p.gauges, key).feed(samples, q.life)
	to.add(list...)
	p.hole(q.namespace, q.name, holes)
}

func (p *windowState) takeInitRunning(list []series) {
	for _, g := range groups(list, append(slices.Clone(podNames), "container")...) {
		samples := g.samples()
		c := p.podFor(g.labels, samples[0].t).container(g.labels["container"])
		c.init = true
		c.running.feed(samples)
	}
}
