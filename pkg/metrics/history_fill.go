package metrics

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// overHours is an amount of so many units times a duration, in units times hours, rounded to
// 18 places.
func overHours(n decimal.Decimal, length time.Duration, units int64) decimal.Decimal {
	const hour = 3_600_000 // milliseconds
	return n.Mul(decimal.NewFromInt(length.Milliseconds())).DivRound(decimal.NewFromInt(units*hour), 18)
}

// integral writes sums: thousandths of CPU of a time, bytes of traffic, and all else of another time.
func integral(sums Amounts, ofCPU, unit time.Duration) Amounts {
	var out Amounts
	for name, v := range sums.All() {
		switch name {
		case CPU:
			v = overHours(v, ofCPU, 1000)
		case Received, Sent:
		default:
			v = overHours(v, unit, 1)
		}
		out = append(out, Amount{name, v})
	}
	return out
}

// fill writes what was measured into a report.
func (s *windowState) fill(r *UsageReport, f *fetcher) {
	r.From, r.To = s.window.From, s.window.To
	r.Hours = overHours(decimal.New(1, 0), s.window.Length(), 1)
	s.fillPods(r)
	s.endClaims()
	step := s.e.step
	for _, b := range s.balancers {
		b.Hours = overHours(b.Hours, step, 1)
	}
	for _, v := range s.volumes {
		v.Hours, v.Claimed = overHours(v.Hours, step, 1), overHours(v.Claimed, step, 1)
	}
	fillThings(f, "volume claims", &r.Claims, s.claims, func(c *Claim) (object.Ref, decimal.Decimal) { return c.Ref, c.Hours })
	fillThings(f, "load balancers", &r.LoadBalancers, s.balancers, func(b *LoadBalancer) (object.Ref, decimal.Decimal) { return b.Service, b.Hours })
	fillThings(f, "volumes without a claim", &r.Unclaimed, s.volumes, func(v *Volume) (object.Ref, decimal.Decimal) { return v.Ref(), v.Hours })
	s.fillNodes(r)
	s.addNotes(r, f)
}

// fillThings puts what was there within the window in the place of what is in the report, and notes
// what of that has no sample, and so no figures.
func fillThings[T any](f *fetcher, kind string, list *[]T, measured map[object.Ref]*T, identify func(*T) (object.Ref, decimal.Decimal)) {
	missing := 0
	for i := range *list {
		ref, _ := identify(&(*list)[i])
		if _, hours := identify(measured[ref]); hours.IsZero() {
			missing++
		}
	}
	*list = nil
	for _, ref := range sortedRefs(measured) {
		if _, hours := identify(measured[ref]); !hours.IsZero() {
			*list = append(*list, *measured[ref])
		}
	}
	if missing > 0 {
		f.note(Note{Reason: "NotServed", LowersFigures: true, Message: fmt.Sprintf("%d %s of the cluster have no samples in the window, and are omitted", missing, kind)})
	}
}

func (s *windowState) fillPods(r *UsageReport) {
	r.Pods = nil
	for _, list := range s.pods {
		for _, p := range list {
			if p.Gone && !p.measured() {
				continue
			}
			if p.Gone {
				p.Owners = s.chain(p)
			}
			s.endPod(p)
			r.Pods = append(r.Pods, p.Pod)
		}
	}
	slices.SortFunc(r.Pods, func(a, b Pod) int { return cmp.Or(object.Compare(a.Ref, b.Ref), cmp.Compare(a.UID, b.UID)) })
}

// measured says that a pod ran, used or held something. One that ended before the window has
// series as well.
func (p *pod) measured() bool {
	some := func(a Amount) bool { return a.Value.IsPositive() }
	return p.Hours.IsPositive() || slices.ContainsFunc(p.Used, some) || slices.ContainsFunc(p.Charged, some)
}

// endPod turns the sums of a pod into its figures.
func (s *windowState) endPod(p *pod) {
	p.Hours = overHours(p.Hours, s.e.sampling, 1)
	// A pod that ran and has no request requests nothing.
	if none := (Amounts{{Resource: CPU}, {Resource: Memory}}); s.e.has[requestsMetric] && p.ran {
		p.Requested, p.Charged = p.Requested.with(none), p.Charged.with(none)
	}
	p.Limited = p.limits()
	for _, a := range []*Amounts{&p.Used, &p.Requested, &p.Charged, &p.Limited} {
		*a = s.ofPods(*a)
	}
	for _, direction := range []Resource{Received, Sent} {
		if _, known := p.Used.Lookup(direction); known {
			p.Counters = p.Counters.Without(direction)
		}
	}
	_, cpu := p.Used.Lookup(CPU)
	_, memory := p.Used.Lookup(Memory)
	if p.Unmeasured = ""; !cpu && !memory {
		p.Unmeasured = "no samples in the window"
	} else if gap := time.Duration(s.gaps[p.Ref]) * s.e.sampling; gap > max(staleness, 2*s.e.sampling) { // not what its start and its end may be off by
		p.Gap = gap
	}
	slices.SortFunc(p.Containers, func(a, b Container) int { return strings.Compare(a.Name, b.Name) })
	for i := range p.Containers {
		c := &p.Containers[i]
		c.Used, c.Requested, c.Limited = s.ofPods(c.Used), s.ofPods(c.Requested), s.ofPods(c.Limited)
	}
}

// ofPods writes sums of pods: CPU in microseconds, traffic in bytes, all else in samples.
func (s *windowState) ofPods(sums Amounts) Amounts {
	return integral(sums, time.Millisecond, s.e.sampling)
}

// limits are the limits of the pod: those that every one of its containers has, and the
// overhead.
func (p *pod) limits() Amounts {
	count, limits, limited := len(p.regular), Amounts(nil), map[Resource]int{}
	for _, c := range p.Containers {
		if !p.regular[c.Name] {
			count++
		}
		for name, v := range c.Limited.All() {
			limits.Add(name, v)
			limited[name]++
		}
	}
	limits = slices.DeleteFunc(limits, func(a Amount) bool { return limited[a.Resource] < count })
	for i := range limits {
		limits[i].Value = limits[i].Value.Add(p.overhead.Value(limits[i].Resource))
	}
	return limits
}

// endClaims turns the sums of claims into their figures. A step is mounted or not: what is less
// than one was cut from the parts of the pods, and is the last one's. So the parts add up to the
// whole, rounded as they are.
func (s *windowState) endClaims() {
	step, parts := s.e.step, decimal.New(mountParts, 0)
	for _, c := range s.claims {
		if c.Hours.IsZero() {
			continue
		}
		c.Claimed, c.Used = overHours(c.Claimed, step, 1), overHours(c.Used, step, 1)
		var mounted decimal.Decimal
		for i := range c.Mounts {
			m := &c.Mounts[i]
			mounted, m.Hours = mounted.Add(m.Hours), overHours(m.Hours, step, mountParts)
		}
		all := decimal.Max(c.Hours.Mul(parts), mounted)
		unmounted, _ := all.Sub(mounted).QuoRem(parts, 0)
		c.Hours, c.Unmounted = overHours(all, step, mountParts), overHours(unmounted, step, 1)
		slices.SortFunc(c.Mounts, func(a, b Mount) int { return cmp.Or(object.Compare(a.Pod, b.Pod), cmp.Compare(a.UID, b.UID)) })
		last := len(c.Mounts) - 1
		if last < 0 {
			c.Unmounted = c.Hours
			continue
		}
		c.Mounts[last].Hours = c.Hours.Sub(c.Unmounted)
		for _, m := range c.Mounts[:last] {
			c.Mounts[last].Hours = c.Mounts[last].Hours.Sub(m.Hours)
		}
	}
}

// wholeCluster says that the question is about everything in the cluster.
func (o HistoryOptions) wholeCluster() bool { return len(o.Namespaces) == 0 }

// Ref is the volume as an object.
func (v *Volume) Ref() object.Ref { return object.Ref{Kind: "PersistentVolume", Name: v.Name} }

// fillNodes gives the nodes of a report their hours, and adds those that are gone: of a few
// namespaces those alone that pods of theirs ran on.
func (s *windowState) fillNodes(r *UsageReport) {
	whole, wanted := s.options.wholeCluster(), map[string]bool{}
	for i := range r.Pods {
		wanted[r.Pods[i].Node] = true
	}
	r.Nodes = nil
	for _, name := range slices.Sorted(maps.Keys(s.nodes)) {
		n := s.nodes[name]
		if n.Gone && (n.Hours.IsZero() || !whole && !wanted[name]) {
			continue
		}
		n.Hours, n.Capacity = overHours(n.Hours, s.e.step, 1), integral(n.Capacity, s.e.step, s.e.step)
		n.Whole = whole && (n.Gone || n.Whole && n.Capacity != nil)
		r.Nodes = append(r.Nodes, *n)
	}
}

// addNotes adds the notes: of the server, and of what is missing.
func (s *windowState) addNotes(r *UsageReport, f *fetcher) {
	f.note(Note{Reason: "Steps", Message: s.stepNote()})
	s.noteMissing(r, f)
	known := s.e.has[memoryMetric] || s.e.has[cpuMetric] || s.e.has[phaseMetric]
	if total := int64(s.window.Length() / s.e.step); known && s.steps < total {
		f.note(Note{Reason: "Gap", LowersFigures: true, Message: fmt.Sprintf(
			"%d of %d steps of the window have no samples at all: usage and requests in them are not counted", total-s.steps, total)})
	}
	s.noteGaps(r, f)
	own := slices.Collect(maps.Keys(f.notes))
	SortNotes(own)
	r.Notes = append(r.Notes, own...)
}

func (s *windowState) stepNote() string {
	text := fmt.Sprintf("the window is evaluated from %s to %s in steps of %s", s.window.From.Format(time.RFC3339), s.window.To.Format(time.RFC3339), lengthOf(s.e.step))
	if s.recorded {
		text += ", by recording rules"
	}
	return text
}

// noteMissing notes the metrics without which figures of all pods are less than the truth.
func (s *windowState) noteMissing(r *UsageReport, f *fetcher) {
	has := s.e.has
	for _, m := range required() {
		if m.essential && !has[m.Metric] {
			f.note(Note{Subject: m.Metric, Reason: "NotServed", LowersFigures: true, Message: "the server has no samples in the window: " + m.Consequence})
		}
	}
	gone := 0
	for i := range r.Pods {
		if p := &r.Pods[i]; p.Gone && len(p.Requested) > 0 {
			gone++
		}
	}
	if gone > 0 && has[requestsMetric] && !has[schedulerMetric] {
		f.note(Note{Reason: "Requests", Message: fmt.Sprintf(
			"requests of %d deleted pods are those of their containers: what a pod requested as a whole, or for init containers, is unknown without kube_pod_resource_request of kube-scheduler", gone)})
	}
}

// noteGaps notes pods that were measured for a part of the time that they ran.
func (s *windowState) noteGaps(r *UsageReport, f *fetcher) {
	var longest Pod
	pods := map[object.Ref]bool{}
	for i := range r.Pods {
		p := &r.Pods[i]
		if p.Gap == 0 {
			continue
		}
		if pods[p.Ref] = true; p.Gap > longest.Gap {
			longest = *p
		}
	}
	if len(pods) > 0 {
		f.note(Note{
			Subject: longest.Ref.Namespace + "/" + longest.Ref.Name, Reason: PodGap, LowersFigures: true,
			Message: fmt.Sprintf("samples of %d pods have gaps of up to %s in all: memory and requests in the gaps are not counted", len(pods), longest.Gap),
		})
	}
}
