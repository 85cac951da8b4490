package e2e

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// The history that is measured here is made: what every container used in every
// second is known, so that the truth of any window is a sum of whole numbers.
//
// Time goes in blocks of five minutes. Within a block a container uses the same
// cores and the same memory all the time, so that the truth does not depend on when
// a scraper looked. Lives of pods, restarts and resets of counters end at the end of
// a block, when every first scraper looks; they begin at any second.
const (
	tick      = 30 * time.Second // of every scraper
	block     = 5 * time.Minute
	historyOf = 7 * time.Hour
)

// historyStart is a Sunday, at midnight.
func historyStart() time.Time { return time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC) }

// at is so many blocks after the start of the history.
func at(blocks int) time.Time { return historyStart().Add(time.Duration(blocks) * block) }

// span is a time of a thing, (from, to].
type span struct{ from, to time.Time }

// seconds is how long the span is within (from, to].
func (s span) seconds(from, to time.Time) int64 {
	if s.from.After(from) {
		from = s.from
	}
	if s.to.Before(to) {
		to = s.to
	}
	return max(0, int64(to.Sub(from)/time.Second))
}

// levels is what is used at a time, of each block: nanocores, bytes, bytes a second.
type levels []int64

func randomLevels(r *rand.Rand, low, high int64) levels {
	l := make(levels, historyOf/block+1)
	for i := range l {
		l[i] = low + r.Int64N(high-low)
	}
	return l
}

// sum is the integral, in units times seconds, of f of the levels over the part of
// the span within (from, to].
func (l levels) sum(s span, from, to time.Time, f func(int64) int64) int64 {
	var sum int64
	for i, v := range l {
		if n := s.seconds(latest(from, at(i)), earliest(to, at(i+1))); n > 0 {
			sum += f(v) * n
		}
	}
	return sum
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func plain(v int64) int64 { return v }

// at is the level at a moment, which belongs to the block before it.
func (l levels) at(t time.Time) int64 { return l[(t.Sub(historyStart())-1)/block] }

// launch is a container from a start to its end, with a series of its own.
type launch struct {
	span
	id          string
	cpu, memory levels
	resets      []time.Time // of its counter, while it runs
}

// counter is what the counter of the run shows.
func (r launch) counter(t time.Time) int64 {
	from := r.from
	for _, reset := range r.resets {
		if reset.Before(t) {
			from = reset
		}
	}
	return r.cpu.sum(r.span, from, t, plain)
}

// container is a container of a pod, with a launch for each start.
type container struct {
	name       string
	cores      int64 // requested, in thousandths
	bytes      int64 // requested
	launches   []launch
	sidecar    bool // an init container that runs on
	unmeasured bool
	hole       span // in which no scraper sees it
}

// podLife is one pod, by UID.
type podLife struct {
	span
	namespace, name, uid, node string
	owner                      [2]string // kind and name; none if empty
	deployment                 string    // of the ReplicaSet
	hostNetwork                bool
	completed                  bool // stays, as Succeeded, for an hour after its end
	claims                     []string
	containers                 []container
	setup                      bool // has an init container that has ended
	overhead                   container
	received, sent             levels // bytes a second
}

// history is the world that is measured.
type history struct {
	rand   *rand.Rand
	pods   []podLife
	claims []claim
	series map[model.Fingerprint]*model.SampleStream
	lost   map[string]bool // scrapes, by target and time
}

// scraper looks every tick, at its own second. The first of a kind sees the end of
// every block; apart from that, samples are lost.
type scraper struct {
	labels model.Metric
	phase  time.Duration // before the tick
	lost   float64
	out    span // when it did not work
	keep   bool // the ends of blocks
	marks  bool // the ends of series
}

// add writes the series of a thing as the scrapers see it in the span.
func (h *history) add(by []scraper, name string, l model.Metric, s span, hole span, value func(time.Time) float64) {
	for _, by := range by {
		m := maps.Clone(l)
		maps.Copy(m, by.labels)
		m[model.MetricNameLabel] = model.LabelValue(name)
		first := s.from.Truncate(tick).Add(-by.phase)
		var last time.Time
		for t := first; !t.After(s.to); t = t.Add(tick) {
			boundary := by.keep && t.Equal(t.Truncate(block))
			switch {
			case !t.After(s.from), inside(t, hole), inside(t, by.out), !boundary && h.loses(by, t):
				continue
			}
			h.sample(m, t, value(t))
			last = t
		}
		if gone := s.to.Add(tick - by.phase); !last.IsZero() && gone.Before(at(int(historyOf/block))) && (by.marks || h.rand.IntN(2) == 0) {
			h.sample(m, gone, math.NaN()) // kubelets send timestamps: their scrapers may miss the end
		}
	}
}

// loses says whether a scrape failed: all of a target's series miss it then.
func (h *history) loses(by scraper, t time.Time) bool {
	scrape := fmt.Sprint(by.labels, t.Unix())
	lost, known := h.lost[scrape]
	if !known {
		lost = h.rand.Float64() < by.lost
		h.lost[scrape] = lost
	}
	return lost
}

func inside(t time.Time, s span) bool { return t.After(s.from) && !t.After(s.to) }

func (h *history) sample(m model.Metric, t time.Time, v float64) {
	s := h.series[m.Fingerprint()]
	if s == nil {
		s = &model.SampleStream{Metric: m}
		h.series[m.Fingerprint()] = s
	}
	s.Values = append(s.Values, model.SamplePair{Timestamp: model.TimeFromUnixNano(t.UnixNano()), Value: model.SampleValue(v)})
}

func constant(v float64) func(time.Time) float64 { return func(time.Time) float64 { return v } }

// all is the series, for a Prometheus server.
func (h *history) all() []model.SampleStream {
	out := make([]model.SampleStream, 0, len(h.series))
	for _, s := range h.series {
		out = append(out, *s)
	}
	return out
}

// kubelets are two jobs that scrape every kubelet: a ServiceMonitor's and a scrape
// configuration by node.
func kubelets(node, path string) []scraper {
	return []scraper{
		{
			labels: model.Metric{"job": "kubelet", "instance": "10.0.0.1:10250", "endpoint": "https-metrics", "metrics_path": model.LabelValue(path), "service": "kubelet", "node": model.LabelValue(node)},
			lost:   0.2, keep: true,
		},
		{
			labels: model.Metric{"job": "kubernetes-cadvisor", "instance": model.LabelValue(node)},
			phase:  13 * time.Second, lost: 0.4, out: span{at(20), at(33)},
		},
	}
}

// stateMetrics are two replicas of kube-state-metrics.
func stateMetrics() []scraper {
	return []scraper{
		{labels: model.Metric{"job": "kube-state-metrics", "instance": "10.1.0.7:8080"}, marks: true, lost: 0.2, keep: true},
		{labels: model.Metric{"job": "kube-state-metrics", "instance": "10.1.3.9:8080"}, marks: true, phase: 8 * time.Second, lost: 0.2, out: span{at(40), at(60)}},
	}
}

// whole is all the time that there is.
func whole() span { return span{historyStart(), at(int(historyOf / block))} }

// uid makes UIDs and the names of containers.
func (h *history) uid() string {
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", h.rand.Uint32(), h.rand.IntN(1<<16), h.rand.IntN(1<<12), h.rand.IntN(1<<12), h.rand.Int64N(1<<48))
}

func (h *history) hex() string {
	var b strings.Builder
	for range 4 {
		fmt.Fprintf(&b, "%016x", h.rand.Uint64())
	}
	return b.String()
}

// newLaunch is a container that runs in the span.
func (h *history) newLaunch(s span, resets ...time.Time) launch {
	return launch{
		span: s, id: h.hex(), resets: resets,
		cpu: randomLevels(h.rand, 1_000_000, 900_000_000), memory: randomLevels(h.rand, 1<<20, 1<<29),
	}
}
