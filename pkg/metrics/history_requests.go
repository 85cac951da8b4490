package metrics

import "slices"

// requestStreams are what pods ask for. CPU has a stream of its own, since its values
// are fractions.
func (p *windowState) requestStreams() []stream {
	var out []stream
	add := func(name string, take func(Resource) func([]series)) {
		out = append(out,
			stream{name: name, matchers: `resource="cpu"`, scale: 9, back: backRequest, take: take("")},
			stream{name: name, matchers: `resource!="cpu"`, back: backGauge, take: take("")})
	}
	plain := func(name string, resource Resource, scale int, take func(Resource) func([]series)) {
		out = append(out, stream{name: name, scale: scale, back: backRequest, take: take(resource)})
	}
	add("kube_pod_container_resource_requests", p.takeRequests(false))
	add("kube_pod_container_resource_limits", p.takeLimits(false))
	add("kube_pod_init_container_resource_limits", p.takeLimits(true))
	add("kube_pod_init_container_resource_requests", p.takeRequests(true))
	// The names of kube-state-metrics before version 2.
	plain("kube_pod_container_resource_requests_cpu_cores", CPU, 9, p.takeRequests(false))
	plain("kube_pod_container_resource_requests_memory_bytes", Memory, 0, p.takeRequests(false))
	plain("kube_pod_container_resource_limits_cpu_cores", CPU, 9, p.takeLimits(false))
	plain("kube_pod_container_resource_limits_memory_bytes", Memory, 0, p.takeLimits(false))
	plain("kube_pod_overhead_cpu_cores", CPU, 9, p.takeOverhead)
	plain("kube_pod_overhead_memory_bytes", Memory, 0, p.takeOverhead)
	add("kube_pod_resource_request", p.takeScheduler)
	return out
}

// reserves says whether a pod holds what it asks for at a moment: it is on a node, and
// has not ended. kube-state-metrics tells requests of what has ended, until it is
// deleted. Where the end is known, that says it better.
func (q *pod) reserves(at int64) bool {
	if q.life.end > 0 {
		return true
	}
	running, known := q.running.at(at-staleness, at)
	pending, waits := q.pending.at(at-staleness, at)
	switch {
	case running > 0:
		return true
	case pending > 0:
		return q.node != "" || q.life.start > 0
	case known || waits:
		return false
	}
	if runs, known := q.containerRuns.at(at-staleness, at); known {
		return runs > 0
	}
	return true
}

// ask feeds the samples of what is asked for, as far as it is held.
func (p *windowState) ask(key string, q *pod, samples []sample, holds func(at int64) bool, take func(interval)) {
	samples = slices.Clone(samples)
	for i := range samples {
		if !holds(samples[i].t) {
			samples[i].v = 0
		}
	}
	list, holes := entry(p.gauges, key).feed(samples, q.life)
	p.hole(q.namespace, q.name, holes)
	for _, v := range list {
		take(v)
	}
}

// asked groups series of requests by pod, container and resource.
func (p *windowState) asked(list []series, resource Resource, take func(g group, name Resource)) {
	for _, g := range groups(list, "namespace", "pod", "uid", "container", "resource") {
		name := resource
		if name == "" {
			var ok bool
			if name, ok = p.resource(g.labels["resource"]); !ok {
				continue
			}
		}
		take(g, name)
	}
}

func (p *windowState) takeRequests(init bool) func(Resource) func([]series) {
	return p.takeOfContainers("requests", init, func(q *pod, c *container, name Resource, v interval) {
		entry(q.containers, name).add(v)
		entry(c.requested, name).area(v)
	})
}

func (p *windowState) takeLimits(init bool) func(Resource) func([]series) {
	return p.takeOfContainers("limits", init, func(_ *pod, c *container, name Resource, v interval) {
		entry(c.limited, name).area(v)
	})
}

// takeOfContainers takes what containers ask for, or are held to; of init containers as
// long as they run beside the others.
func (p *windowState) takeOfContainers(what string, init bool, take func(*pod, *container, Resource, interval)) func(Resource) func([]series) {
	return func(resource Resource) func([]series) {
		return func(list []series) {
			p.asked(list, resource, func(g group, name Resource) {
				p.served[what] = true
				samples := g.samples()
				q := p.podFor(g.labels, samples[0].t)
				c := q.container(g.labels["container"])
				if init {
					c.init = true
				} else {
					c.main = true
				}
				holds := func(at int64) bool { return q.reserves(at) && (!init || q.runsAsSidecar(c, at)) }
				key := what + string(name) + keyOf(g.labels, []string{"namespace", "pod", "uid", "container"})
				p.ask(key, q, samples, holds, func(v interval) { take(q, c, name, v) })
			})
		}
	}
}

// runsAsSidecar says that an init container runs beside the others, as a sidecar does: it
// is one, or is seen running while they do.
func (q *pod) runsAsSidecar(c *container, at int64) bool {
	if c.sidecar {
		return true
	}
	own, _ := c.running.at(at-staleness, at)
	others, _ := q.containerRuns.at(at-staleness, at)
	if own == 0 || others == 0 {
		return false
	}
	c.ran = true
	return true
}

func (p *windowState) takeOverhead(resource Resource) func([]series) {
	return func(list []series) {
		for _, g := range groups(list, podNames...) {
			samples := g.samples()
			q := p.podFor(g.labels, samples[0].t)
			p.ask("overhead"+string(resource)+g.key, q, samples, q.reserves, func(v interval) {
				entry(q.containers, resource).add(v)
				entry(q.overhead, resource).area(v)
			})
		}
	}
}

// takeScheduler takes the effective requests of pods that kube-scheduler tells: it
// knows init containers, overhead and what is asked for pods as a whole. They have no
// UID, and of a pod that is on no node yet no node.
func (p *windowState) takeScheduler(Resource) func([]series) {
	return func(list []series) {
		list = slices.DeleteFunc(list, func(s series) bool { return s.labels["node"] == "" })
		for _, g := range groups(list, "namespace", "pod", "node", "resource") {
			name, ok := p.resource(g.labels["resource"])
			if !ok {
				continue
			}
			p.served["requests"] = true
			// A name may have been used again: each sample goes to the pod of its time.
			for _, part := range p.byPod(g) {
				q := part.pod
				key := "scheduler" + string(name) + g.key + q.id
				p.ask(key, q, part.samples, q.reserves, func(v interval) { entry(q.scheduler, name).add(v) })
			}
		}
	}
}

type podSamples struct {
	pod     *pod
	samples []sample
}

// byPod splits the samples of a name among the pods that had it.
func (p *windowState) byPod(g group) []podSamples {
	var out []podSamples
	for _, s := range g.samples() {
		q := p.podFor(g.labels, s.t)
		if n := len(out); n == 0 || out[n-1].pod != q {
			out = append(out, podSamples{pod: q})
		}
		out[len(out)-1].samples = append(out[len(out)-1].samples, s)
	}
	return out
}
