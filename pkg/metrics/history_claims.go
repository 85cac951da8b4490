package metrics

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// claimStreams are volume claims, what they have and who mounts them.
func (p *windowState) claimStreams() []stream {
	return []stream{
		{name: "kube_persistentvolume_capacity_bytes", everywhere: true, back: backGauge, take: func(list []series) {
			for _, g := range groups(list, "persistentvolume") {
				entry(p.capacities, g.labels["persistentvolume"]).feed(g.samples())
			}
		}},
		{name: "kube_persistentvolumeclaim_resource_requests_storage_bytes", back: backGauge, take: func(list []series) {
			for _, g := range groups(list, "namespace", "persistentvolumeclaim") {
				p.claim(g.labels).requests.feed(g.samples())
			}
		}},
		{name: "kube_pod_spec_volumes_persistentvolumeclaims_info", back: backGauge, take: p.takeMounts},
		{name: "kube_persistentvolumeclaim_info", back: backGauge, take: p.takeBindings},
		{name: "kubelet_volume_stats_used_bytes", back: backGauge, take: func(list []series) {
			for _, g := range groups(list, "namespace", "persistentvolumeclaim") {
				c := p.claim(g.labels)
				got, _ := c.stats.feed(g.samples(), span{start: c.started})
				for _, v := range got {
					c.used.area(v)
				}
			}
		}},
	}
}

func (p *windowState) claim(labels map[string]string) *claim {
	key := podName{labels["namespace"], labels["persistentvolumeclaim"]}
	c := p.claims[key]
	if c == nil {
		c = &claim{podName: key, volumes: map[string]*steps{}, mounts: map[*pod]*steps{}, mounted: map[*pod]total{}}
		p.claims[key] = c
	}
	return c
}

func (p *windowState) takeMounts(list []series) {
	// A pod can mount a claim under several names: that is once.
	for _, g := range groups(list, "namespace", "pod", "uid", "persistentvolumeclaim") {
		if g.labels["persistentvolumeclaim"] == "" {
			continue
		}
		for _, part := range p.byPod(g) {
			entry(p.claim(g.labels).mounts, part.pod).feed(part.samples)
		}
	}
}

func (p *windowState) takeBindings(list []series) {
	for _, g := range groups(list, "namespace", "persistentvolumeclaim", "volumename") {
		if volume := g.labels["volumename"]; volume != "" {
			entry(p.claim(g.labels).volumes, volume).feed(g.samples())
		}
	}
}

// settleClaim ends a piece: it adds up what its samples say together.
func (p *windowState) settleClaim(c *claim, at int64) {
	got, holes := c.lane.feed(p.sizes(c), span{start: c.started})
	p.hole(c.namespace, c.name, holes)
	for _, v := range got {
		c.claimed.area(v)
		c.hours.add(uint64(v.b - v.a))
		c.split(v)
	}
	c.requests.forget(at)
	for _, s := range c.volumes {
		s.forget(at)
	}
	for _, s := range c.mounts {
		s.forget(at)
	}
}

func compareNames(a, b podName) int {
	return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
}

// sizes are the samples of how large a claim is: the capacity of its volume, or what
// it requests where it is bound to none that is known. A released volume outlives its
// claim, so that the samples are those of the claim.
func (p *windowState) sizes(c *claim) []sample {
	times := slices.Clone(c.requests.samples)
	for _, s := range c.volumes {
		times = append(times, s.samples...)
	}
	slices.SortFunc(times, func(a, b sample) int { return cmp.Compare(a.t, b.t) })
	times = slices.CompactFunc(times, func(a, b sample) bool { return a.t == b.t })
	out := make([]sample, 0, len(times))
	for _, at := range times {
		if c.lane.have && at.t <= c.lane.last.t {
			continue
		}
		size, known := c.requests.at(at.t-staleness, at.t)
		for _, volume := range slices.Sorted(maps.Keys(c.volumes)) {
			if _, bound := c.volumes[volume].at(at.t-staleness, at.t); !bound {
				continue
			}
			if capacity, ok := p.capacities[volume].at(at.t-staleness, at.t); ok {
				size, known = capacity, true
			}
		}
		if known {
			out = append(out, sample{at.t, size})
		}
	}
	return out
}

// split gives the time of an interval to the pods that mounted the claim: at each
// moment in equal parts. It is in nanoseconds, of which the first pods get what
// remains.
func (c *claim) split(v interval) {
	type user struct {
		*pod
		a, b int64
	}
	var users []user
	cuts := []int64{v.a, v.b}
	for q, mounts := range c.mounts {
		if x, ok := mounts.at(v.a, v.b); !ok || x == 0 || !q.ranAt(v.a, v.b) {
			continue
		}
		u := user{pod: q, a: max(v.a, q.life.start), b: v.b}
		if q.life.end > 0 {
			u.b = min(u.b, q.life.end)
		}
		if u.a < u.b {
			users = append(users, u)
			cuts = append(cuts, u.a, u.b)
		}
	}
	slices.SortFunc(users, func(a, b user) int { return cmp.Or(compareNames(a.podName, b.podName), strings.Compare(a.uid, b.uid)) })
	slices.Sort(cuts)
	for i := range len(cuts) - 1 {
		ns := uint64(cuts[i+1]-cuts[i]) * 1_000_000
		if ns == 0 {
			continue
		}
		var now []*pod
		for _, u := range users {
			if u.a <= cuts[i] && u.b >= cuts[i+1] {
				now = append(now, u.pod)
			}
		}
		if len(now) == 0 {
			c.unmounted = c.unmounted.add(ns)
			continue
		}
		each, rest := ns/uint64(len(now)), ns%uint64(len(now))
		for at, q := range now {
			n := each
			if uint64(at) < rest {
				n++
			}
			c.mounted[q] = c.mounted[q].add(n)
		}
	}
}

// ranAt says whether a pod ran by the last sample in (a, b]; where nothing says so, one
// that mounts a claim does.
func (q *pod) ranAt(a, b int64) bool {
	if q.life.end > 0 {
		return true
	}
	for _, s := range []*steps{&q.running, &q.containerRuns} {
		if v, ok := s.at(a, b); ok {
			return v > 0
		}
	}
	return true
}
