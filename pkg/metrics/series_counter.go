package metrics

import (
	"cmp"
	"slices"
)

// late is how much later than it says a sample may have been taken: a scrape is
// marked with the moment at which it began, and may take that long.
const late = 10 * second

// scrapedSample is a sample and who stored it.
type scrapedSample struct {
	sample
	by string
}

// counter makes intervals of the samples of one cumulative value, whoever stored
// them: the differences of consecutive ones. A value that falls was reset, and counts
// in full. Of two scrapers one can be a little late, so that its value is less than
// what the other one had already: that is no reset, and adds nothing.
type counter struct {
	have  bool
	last  int64 // the time of the last sample that was taken
	high  int64 // its value
	epoch int   // how many resets there were
	// since is when the epoch began, and before the value that it began after.
	since, before int64
	recent        []sample // of the epoch, of the last moments
	own           map[string]lastSample
}

// lastSample is what a scraper saw last.
type lastSample struct {
	v     int64
	epoch int
	t     int64
}

// merge puts the samples of several scrapers in order: of one moment the larger first.
func merge(lists map[string][]sample) []scrapedSample {
	var out []scrapedSample
	for by, list := range lists {
		for _, s := range list {
			out = append(out, scrapedSample{s, by})
		}
	}
	slices.SortFunc(out, func(a, b scrapedSample) int {
		return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(b.v, a.v), cmp.Compare(a.by, b.by))
	})
	return out
}

// feed takes samples in the order of merge. start says when the thing started, as far
// as that is known (0) at a sample: where it started less than reach before its first
// sample, the first value was used since. It returns how long the holes are, too,
// over which nothing can be said.
func (c *counter) feed(samples []scrapedSample, start func(at int64) int64) (out []interval, holes int64) {
	emit := func(a, b, n int64) { out = append(out, interval{a: min(a, b-1), b: b, n: uint64(n)}) }
	for _, s := range samples {
		switch {
		case c.have && s.t-c.last <= reach:
			if c.stray(s) {
				if n := s.v - c.before; n > 0 {
					emit(c.last, s.t, n)
					c.before, c.last = s.v, s.t
				}
				continue
			}
			if n, taken := c.grow(s); taken && (n > 0 || s.t > c.last) {
				emit(c.last, s.t, n)
				c.last = s.t
			}
		default:
			if c.have {
				holes += s.t - c.last
			}
			if from := start(s.t); from > 0 && from <= s.t && s.t-from <= reach && from > c.last {
				emit(from, s.t, s.v)
				holes = 0
			}
			*c = counter{have: true, last: s.t, high: s.v, since: s.t, own: map[string]lastSample{}}
			c.recent = append(c.recent, s.sample)
		}
		c.own[s.by] = lastSample{s.v, c.epoch, s.t}
	}
	return out, holes
}

// stray says that s was taken before the reset that another scraper has seen, though
// it is marked with a later time.
func (c *counter) stray(s scrapedSample) bool {
	_, own := c.seen(s)
	return c.epoch > 0 && s.t-c.since <= late && !own && s.v >= c.before
}

// grow returns by how much a sample raises the counter; false if it is a late one,
// that says nothing new.
func (c *counter) grow(s scrapedSample) (n int64, taken bool) {
	n = s.v - c.high
	if n < 0 {
		mine, seen := c.seen(s)
		if fell := seen && s.v < mine; !fell && (s.t-c.since <= late || s.v >= c.floor(s.t)) {
			return 0, false
		}
		c.before, c.since = c.high, s.t
		c.epoch++
		c.recent = c.recent[:0]
		n = s.v
	}
	c.high = s.v
	c.recent = append(c.recent, s.sample)
	for len(c.recent) > 1 && c.recent[1].t <= s.t-late {
		c.recent = c.recent[1:]
	}
	return n, true
}

// seen is what who stored s saw last in this epoch.
func (c *counter) seen(s scrapedSample) (int64, bool) {
	o, ok := c.own[s.by]
	return o.v, ok && o.epoch == c.epoch && s.t-o.t <= reach
}

// floor is the value that the counter had longer ago than a sample can be late.
func (c *counter) floor(t int64) int64 {
	v := c.high
	for _, s := range slices.Backward(c.recent) {
		v = s.v
		if s.t <= t-late {
			break
		}
	}
	return v
}
