package metrics

import (
	"maps"
	"slices"
)

// begin starts the window: what came before it is remembered, and not counted.
func (p *windowState) begin() {
	for _, list := range p.pods {
		for _, q := range list {
			q.hours, q.traffic = amount{}, map[Resource]*amount{}
			q.used, q.requested, q.charged = map[Resource]*amount{}, map[Resource]*amount{}, map[Resource]*amount{}
			q.overhead = map[Resource]*amount{}
			for _, c := range q.containersByName {
				c.used, c.requested, c.limited = map[Resource]*amount{}, map[Resource]*amount{}, map[Resource]*amount{}
			}
		}
	}
	for _, c := range p.claims {
		c.hours, c.claimed, c.used, c.unmounted = amount{}, amount{}, amount{}, total{}
		c.mounted = map[*pod]total{}
	}
	for _, n := range p.nodes {
		n.hours, n.capacity = amount{}, map[Resource]*amount{}
	}
	for _, b := range p.balancers {
		b.hours = amount{}
	}
	for _, v := range p.volumes {
		v.hours, v.claimed = amount{}, amount{}
	}
	clear(p.holes)
	p.wild, p.early = 0, 0
}

// settle ends a piece: what its samples made known is added, and what can matter to no
// later one is forgotten.
func (p *windowState) settle(at int64) {
	for _, c := range p.claims { // before the pods forget when they ran
		p.settleClaim(c, at)
	}
	for _, list := range p.pods {
		for _, q := range list {
			q.settle(at)
		}
	}
	for name, v := range p.volumes {
		v.settle(p.capacities[name])
	}
	for _, s := range p.capacities {
		s.forget(at)
	}
	for _, s := range p.seen {
		s.forget(at)
	}
	for _, n := range p.nodes {
		n.settle()
	}
	// A day after its last sample nothing is known of a series any more.
	maps.DeleteFunc(p.counters, func(_ string, l *counter) bool { return l.last < at-24*reach })
	maps.DeleteFunc(p.gauges, func(_ string, l *gaugeLane) bool { return l.last.t < at-24*reach })
}

func (q *pod) settle(at int64) {
	tracks := []*intervalTrack{&q.run, &q.phase, &q.seen}
	if fresh(tracks...) {
		q.hours.plus(gained(presence, tracks...))
	}
	names := map[Resource]bool{}
	for _, m := range []map[Resource]*intervalTrack{q.use, q.scheduler, q.spec, q.containers} {
		for name := range m {
			names[name] = true
		}
	}
	for name := range names {
		use, asked := entry(q.use, name), []*intervalTrack{entry(q.scheduler, name), entry(q.spec, name), entry(q.containers, name)}
		if fresh(asked...) {
			entry(q.requested, name).plus(gained(first, asked...))
		}
		if fresh(append(asked, use)...) {
			entry(q.charged, name).plus(gained(paid, append([]*intervalTrack{use}, asked...)...))
		}
		tracks = append(tracks, append(asked, use)...)
	}
	for _, t := range tracks {
		t.settle(at)
	}
	for _, s := range []*steps{&q.running, &q.pending, &q.containerRuns} {
		s.forget(at)
	}
	for _, c := range q.containersByName {
		c.running.forget(at)
	}
}

func fresh(tracks ...*intervalTrack) bool {
	return slices.ContainsFunc(tracks, func(t *intervalTrack) bool { return len(t.fresh) > 0 })
}

// presence is the rule of a pod's hours: of what says best whether it ran. Containers
// that ran beside each other are there once.
func presence(ms int64, parts []uint64, say []int) uint64 {
	return min(first(ms, parts, say), uint64(ms))
}

// paid is the rule of what is charged: usage, or what was requested where that is more.
func paid(ms int64, parts []uint64, say []int) uint64 {
	return max(parts[0], first(ms, parts[1:], say[1:]))
}
