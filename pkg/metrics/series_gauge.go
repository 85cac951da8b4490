package metrics

import (
	"cmp"
	"slices"
)

// span is what is known of the life of a pod or a container, from what says so
// itself; 0 where it is not known.
type span struct{ start, end int64 }

// clip returns what of (a, b] is within the life. A start after it is of another life.
func (l span) clip(a, b int64) (from, to int64) {
	if l.start > 0 && l.start <= b {
		a = max(a, l.start)
	}
	if l.end > 0 {
		b = min(b, l.end)
	}
	return a, b
}

// gauge makes intervals of the samples of one thing: each stands for the time since
// the one before it.
//
// The first sample, and the first after a hole of more than staleness, reach back to
// the start of the thing where that is known and near. Else they stand for as long as
// the sample after them does, which is then known with that one. What is left of a
// hole is not counted.
type gauge struct {
	last    sample
	have    bool
	pending bool // the last sample waits for the next one
}

// feed takes samples, in order of time and one a moment. The intervals are clipped to
// the life of the thing. It returns how long the holes are, too.
func (g *gauge) feed(samples []sample, life span) (out []interval, holes int64) {
	emit := func(a, b, v int64) {
		if a, b = life.clip(a, b); a < b && v >= 0 {
			out = append(out, interval{a: a, b: b, n: uint64(v), flat: true})
		}
	}
	for _, s := range samples {
		if g.have && s.t <= g.last.t {
			continue
		}
		before, had := g.last, g.have
		g.last, g.have = s, true
		switch age := s.t - life.start; {
		case had && s.t-before.t <= staleness:
			if g.pending {
				emit(before.t-(s.t-before.t), before.t, before.v)
			}
			emit(before.t, s.t, s.v)
			g.pending = false
		case life.start > 0 && age >= 0 && age <= staleness:
			emit(life.start, s.t, s.v)
			g.pending = false
		default:
			g.pending = true
			if had { // what ended has no hole after its end
				_, until := life.clip(before.t, s.t)
				holes += max(until-before.t, 0)
			}
		}
	}
	return out, holes
}

// steps remembers what samples said, for a while: the latest at a moment.
type steps struct{ samples []sample }

// feed takes samples in order of time.
func (s *steps) feed(samples []sample) {
	for _, x := range samples {
		if n := len(s.samples); n == 0 || s.samples[n-1].t < x.t {
			s.samples = append(s.samples, x)
		}
	}
}

// at returns the latest value in (after, t].
func (s *steps) at(after, t int64) (int64, bool) {
	if s == nil {
		return 0, false
	}
	lo, hi := 0, len(s.samples)
	for lo < hi {
		if m := (lo + hi) / 2; s.samples[m].t <= t {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo == 0 || s.samples[lo-1].t <= after {
		return 0, false
	}
	return s.samples[lo-1].v, true
}

// before is the moment of the last sample before t; 0 if there is none.
func (s *steps) before(t int64) int64 {
	for _, x := range slices.Backward(s.samples) {
		if x.t < t {
			return x.t
		}
	}
	return 0
}

// forget drops what is older than staleness at a moment.
func (s *steps) forget(at int64) {
	i := 0
	for i < len(s.samples) && s.samples[i].t < at-staleness {
		i++
	}
	s.samples = append(s.samples[:0], s.samples[i:]...)
}

// unite puts the samples of several scrapers in order, one a moment: the largest.
func unite(lists ...[]sample) []sample {
	if len(lists) == 1 {
		return lists[0]
	}
	var out []sample
	for _, list := range lists {
		out = append(out, list...)
	}
	slices.SortFunc(out, func(a, b sample) int { return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(b.v, a.v)) })
	return slices.CompactFunc(out, func(a, b sample) bool { return a.t == b.t })
}
