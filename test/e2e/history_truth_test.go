package e2e

import (
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// truth is what a pod used in a window, in whole numbers: nanocore-seconds, byte-seconds,
// bytes, and seconds.
type truth struct {
	seconds                      int64
	cpu, memory, received, sent  int64
	requestedCPU, requestedBytes int64 // millicore-seconds, byte-seconds
	chargedCPU, chargedBytes     int64 // nanocore-seconds, byte-seconds
}

// of is the truth about a pod in (from, to].
func (p *podLife) of(from, to time.Time) truth {
	t := truth{seconds: p.seconds(from, to), received: p.received.sum(p.span, from, to, plain), sent: p.sent.sum(p.span, from, to, plain)}
	t.requestedCPU, t.requestedBytes = p.overhead.cores*t.seconds, p.overhead.bytes*t.seconds
	for _, c := range p.containers {
		t.requestedCPU += c.cores * t.seconds
		t.requestedBytes += c.bytes * t.seconds
		for _, l := range c.launches {
			t.cpu += l.cpu.sum(l.span, from, to, plain)
			t.memory += l.memory.sum(l.span, from, to, plain)
		}
	}
	t.chargedCPU, t.chargedBytes = p.charged(from, to)
	return t
}

// charged is what is paid for: of each block the larger of what was used and what was
// requested.
func (p *podLife) charged(from, to time.Time) (cpu, memory int64) {
	cores, bytes := p.overhead.cores, p.overhead.bytes
	for _, c := range p.containers {
		cores, bytes = cores+c.cores, bytes+c.bytes
	}
	for i := range int(historyOf / block) {
		begin, end := latest(from, at(i)), earliest(to, at(i+1))
		seconds := p.seconds(begin, end)
		if seconds <= 0 {
			continue
		}
		var usedCPU, usedBytes int64
		for _, c := range p.containers {
			for _, l := range c.launches {
				usedCPU += l.cpu.sum(l.span, begin, end, plain)
				usedBytes += l.memory.sum(l.span, begin, end, plain)
			}
		}
		cpu += max(usedCPU, cores*1e6*seconds)
		memory += max(usedBytes, bytes*seconds)
	}
	return cpu, memory
}

// lives are the pods of the namespace that ran in the window, by UID.
func (h *history) lives(from, to time.Time) map[types.UID]*podLife {
	lives := map[types.UID]*podLife{}
	for i := range h.pods {
		if p := &h.pods[i]; p.namespace == historyNamespace && p.seconds(from, to) > 0 {
			lives[types.UID(p.uid)] = p
		}
	}
	return lives
}

// checkTotal compares the sum of what all pods used with the truth. Pods that were not seen all the time are left out.
func (h *history) checkTotal(t *testing.T, r *metrics.UsageReport, lives map[types.UID]*podLife) {
	t.Helper()
	var cpu, memory decimal.Decimal
	var want truth
	for _, p := range r.Pods {
		life := lives[p.UID]
		if life == nil || life.name == "patchy" || life.name == "quiet" {
			continue
		}
		cpu, memory = cpu.Add(p.Used.Value(metrics.CPU)), memory.Add(p.Used.Value(metrics.Memory))
		one := life.of(r.From, r.To)
		want.cpu, want.memory = want.cpu+one.cpu, want.memory+one.memory
	}
	check := func(what string, got decimal.Decimal, units, want int64, bound float64) {
		t.Helper()
		off := got.Mul(decimal.NewFromInt(units)).InexactFloat64()/float64(want) - 1
		t.Logf("%s of all pods is off by %+.4f%%", what, 100*off)
		if want == 0 || off > bound || off < -bound {
			t.Errorf("%s of all pods is off by %+.4f%%, more than %.4f%%", what, 100*off, 100*bound)
		}
	}
	check("CPU", cpu, hour*1e9, want.cpu, 0.003)
	check("memory", memory, hour, want.memory, sampling)
}

// mounts goes through the window second by second: which pods mount the claim, each
// for half a second where there are two, and how many seconds there is none. At most
// two mount it at a time.
func (h *history) mounts(claim string, from, to time.Time) (half map[types.UID]int64, unmounted int64) {
	half = map[types.UID]int64{}
	for t := from.Add(time.Second); !t.After(to); t = t.Add(time.Second) {
		var by []types.UID
		for i := range h.pods {
			if p := &h.pods[i]; p.namespace == historyNamespace && slices.Contains(p.claims, claim) && inside(t, p.span) {
				by = append(by, types.UID(p.uid))
			}
		}
		if len(by) == 0 {
			unmounted++
		}
		for _, uid := range by {
			half[uid] += int64(2 / len(by))
		}
	}
	return half, unmounted
}

const hour = 3600 // seconds

// wholeOf is an amount of a reading in a smaller unit, of which there are so many in
// its own. It must be a whole number of them, but for what rounding quotients to 18
// places leaves.
func wholeOf(t *testing.T, what string, amount decimal.Decimal, units int64) int64 {
	t.Helper()
	n := amount.Mul(decimal.NewFromInt(units))
	if !n.Sub(n.Round(0)).Abs().LessThan(decimal.New(1, -4)) {
		t.Errorf("%s: %s is no whole number of 1/%d", what, amount, units)
	}
	return n.Round(0).IntPart()
}

// What the figures of a window in steps of a minute may be off by, as docs/chargeback.md says.
const (
	edges    = 2 * 60  // seconds: a minute at the start of a pod and one at its end
	lingers  = 3 * 60  // seconds that a sample of memory stands longer than its container, and an edge
	resetCPU = 120e9   // nanocore-seconds that a reset of a counter hides: two minutes of the largest usage
	sampling = 0.03    // of memory, which is sampled once a minute and changes at any time
	rounding = 500     // nanocore-seconds of a step
	steps    = 7 * 60  // of the longest window
	top      = 1 << 29 // bytes: the largest usage of memory
)

// checkPod compares a pod of a report with the truth, within the bounds of the method.
func checkPod(t *testing.T, p metrics.Pod, life *podLife, want truth) {
	t.Helper()
	name := p.Ref.Name + " " + string(p.UID)
	compare := func(what string, a metrics.Amounts, r metrics.Resource, units, want int64, bound float64) {
		t.Helper()
		amount, known := a.Lookup(r)
		if !known {
			t.Errorf("%s: %s of %s is not known, want %d", name, what, r, want)
			return
		}
		got := wholeOf(t, name, amount, units)
		if off := float64(got - want); off > bound || off < -bound {
			t.Errorf("%s: %s of %s is %d, want %d (%+.6f%%, bound %+.6f%%)", name, what, r, got, want, 100*off/float64(max(want, 1)), 100*bound/float64(max(want, 1)))
		}
	}
	var cores, bytes, hidden int64
	cores, bytes = life.overhead.cores, life.overhead.bytes
	for _, c := range life.containers {
		cores, bytes = cores+c.cores, bytes+c.bytes
		for _, l := range c.launches {
			hidden += int64(len(l.resets)) * resetCPU
		}
	}
	cpu := float64(hidden + steps*rounding*int64(2*len(life.containers)))
	memory := float64(want.memory)*sampling + lingers*top*float64(len(life.containers)+1)
	compare("usage", p.Used, metrics.CPU, hour*1e9, want.cpu, cpu)
	compare("usage", p.Used, metrics.Memory, hour, want.memory, memory)
	if !p.HostNetwork {
		compare("usage", p.Used, metrics.Received, 1, want.received, 0)
		compare("usage", p.Used, metrics.Sent, 1, want.sent, 0)
	}
	for what, a := range map[string]metrics.Amounts{"request": p.Requested, "limit": p.Limited} {
		compare(what, a, metrics.CPU, hour*1000, want.requestedCPU, float64(cores*edges))
		compare(what, a, metrics.Memory, hour, want.requestedBytes, float64(bytes*edges))
	}
	compare("charge", p.Charged, metrics.CPU, hour*1e9, want.chargedCPU, cpu+float64(cores*edges*1e6)+0.02*float64(want.chargedCPU))
	compare("charge", p.Charged, metrics.Memory, hour, want.chargedBytes, memory+float64(bytes*edges))
	if got := wholeOf(t, name, p.Hours, hour); got > want.seconds+edges || got < want.seconds-edges {
		t.Errorf("%s: ran for %d s, want %d", name, got, want.seconds)
	}
}

// figures are all figures of a report, in their smallest units times milliseconds.
func figures(t *testing.T, r *metrics.UsageReport) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	const ms = hour * 1000
	add := func(what string, d decimal.Decimal, units int64) { out[what] = wholeOf(t, what, d, units) }
	amounts := func(what string, a metrics.Amounts) {
		for r, d := range a.All() {
			switch r {
			case metrics.CPU:
				add(what+string(r), d, ms*1e6) // of usage, nanocore-seconds; of requests, finer than they are
			case metrics.Received, metrics.Sent:
				add(what+string(r), d, 1)
			default:
				add(what+string(r), d, ms)
			}
		}
	}
	for _, p := range r.Pods {
		about := p.Ref.String() + " " + string(p.UID)
		add(about+" hours", p.Hours, ms)
		amounts(about+" used ", p.Used)
		amounts(about+" requested ", p.Requested)
		amounts(about+" limited ", p.Limited)
		amounts(about+" charged ", p.Charged)
	}
	for _, c := range r.Claims {
		add(c.Ref.String()+" hours", c.Hours, ms)
		add(c.Ref.String()+" claimed", c.Claimed, ms)
		add(c.Ref.String()+" used", c.Used, ms)
	}
	for _, n := range r.Nodes {
		add(n.Name+" hours", n.Hours, ms)
		amounts(n.Name+" ", n.Capacity)
	}
	for _, b := range r.LoadBalancers {
		add(b.Service.String(), b.Hours, ms)
	}
	return out
}
