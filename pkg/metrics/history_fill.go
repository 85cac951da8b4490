package metrics

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// overHours is an amount of so many units times a duration, in units times hours, rounded to
// 18 places.
func overHours(n int64, length time.Duration, units int64) decimal.Decimal {
	const hour = 3_600_000 // milliseconds
	return decimal.NewFromInt(n).Mul(decimal.NewFromInt(length.Milliseconds())).DivRound(decimal.NewFromInt(units*hour), 18)
}

// amounts writes sums of pods: CPU in microseconds, traffic in bytes, all else in samples.
func (s *windowState) amounts(m sums) Amounts {
	var out Amounts
	for name, v := range m {
		switch name {
		case CPU:
			out.Set(name, overHours(v, time.Millisecond, 1000))
		case Received, Sent:
			out.Set(name, decimal.NewFromInt(v))
		default:
			out.Set(name, overHours(v, s.e.sampling, 1))
		}
	}
	return out
}

// fill writes what was measured into a report.
func (s *windowState) fill(r *UsageReport, f *fetcher) {
	r.From, r.To = s.window.From, s.window.To
	r.Hours = overHours(1, s.window.Length(), 1)
	s.fillPods(r)
	s.fillClaims(r)
	s.fillBalancers(r)
	s.fillVolumes(r)
	s.fillNodes(r)
	slices.SortFunc(r.Pods, func(a, b Pod) int { return cmp.Or(object.Compare(a.Ref, b.Ref), cmp.Compare(a.UID, b.UID)) })
	slices.SortFunc(r.Claims, func(a, b Claim) int { return cmp.Or(object.Compare(a.Ref, b.Ref), cmp.Compare(a.UID, b.UID)) })
	slices.SortFunc(r.LoadBalancers, func(a, b LoadBalancer) int { return object.Compare(a.Service, b.Service) })
	slices.SortFunc(r.Unclaimed, func(a, b Volume) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(r.Nodes, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
	s.addNotes(r, f)
}

func (s *windowState) fillPods(r *UsageReport) {
	present := map[*pod]bool{}
	for i := range r.Pods {
		out := &r.Pods[i]
		p := s.pod(out.Ref.Namespace, out.Ref.Name, string(out.UID))
		present[p] = true
		s.fillPod(out, p)
	}
	for _, list := range s.pods {
		for _, p := range list {
			if present[p] || !p.measured() || s.options.Pods != nil && !s.options.Pods(p.namespace, p.name) {
				continue
			}
			out := Pod{
				Ref: object.Ref{Kind: "Pod", Namespace: p.namespace, Name: p.name}, UID: types.UID(p.uid),
				Gone: true, Owners: s.chain(p), Labels: p.labels,
			}
			s.fillPod(&out, p)
			r.Pods = append(r.Pods, out)
		}
	}
}

// measured says that a pod ran, used or held something. One that ended before the window has
// series as well.
func (p *pod) measured() bool {
	any := func(m sums) bool {
		for _, v := range m {
			if v > 0 {
				return true
			}
		}
		return false
	}
	return p.running > 0 || any(p.used) || any(p.charged)
}

func (s *windowState) fillPod(out *Pod, p *pod) {
	out.Node = cmp.Or(out.Node, p.node)
	out.HostNetwork = out.HostNetwork || p.hostNetwork
	out.Hours = overHours(p.running, s.e.sampling, 1)
	// A pod that ran and has no request requests nothing.
	if s.e.has[requestsMetric] && p.ran {
		for _, name := range []Resource{CPU, Memory} {
			p.requested[name] += 0
			p.charged[name] += 0
		}
	}
	out.Used, out.Requested, out.Charged = s.amounts(p.used), s.amounts(p.requested), s.amounts(p.charged)
	for _, direction := range []Resource{Received, Sent} {
		if _, known := p.used[direction]; known {
			out.Counters = out.Counters.Without(direction)
		}
	}
	_, cpu := p.used[CPU]
	_, memory := p.used[Memory]
	if out.Unmeasured = ""; !cpu && !memory {
		out.Unmeasured = "no samples in the window"
	}
	out.Containers = nil
	for _, name := range slices.Sorted(maps.Keys(p.containers)) {
		c := p.containers[name]
		out.Containers = append(out.Containers, Container{Name: name, Used: s.amounts(c.used), Requested: s.amounts(c.requested), Limited: s.amounts(c.limited)})
	}
	out.Limited = s.amounts(p.limits())
}

// limits are the limits of the pod: those that every one of its containers has, and the
// overhead.
func (p *pod) limits() sums {
	count, limits, limited := len(p.regular), sums{}, map[Resource]int{}
	for name, c := range p.containers {
		if !p.regular[name] {
			count++
		}
		for resource, v := range c.limited {
			limits[resource] += v
			limited[resource]++
		}
	}
	maps.DeleteFunc(limits, func(name Resource, _ int64) bool { return limited[name] < count })
	for name := range limits {
		limits[name] += p.overhead[name]
	}
	return limits
}

func (s *windowState) fillClaims(r *UsageReport) {
	present := map[podName]Claim{}
	for _, c := range r.Claims {
		present[podName{c.Ref.Namespace, c.Ref.Name}] = c
	}
	r.Claims = nil
	step := s.e.step
	for key, c := range s.claims {
		if !c.present {
			continue
		}
		out, exists := present[key]
		if !exists {
			out = Claim{Ref: object.Ref{Kind: "PersistentVolumeClaim", Namespace: key.namespace, Name: key.name}, Gone: true}
		}
		delete(present, key)
		out.Class, out.Volume = cmp.Or(out.Class, c.class), cmp.Or(out.Volume, c.volume)
		out.Claimed, out.Used, out.UsedKnown = overHours(c.claimed, step, 1), overHours(c.used, step, 1), c.usedKnown
		out.Mounts = nil
		var mounted int64
		for p, parts := range c.mounts {
			mounted += parts
			out.Mounts = append(out.Mounts, Mount{Pod: object.Ref{Kind: "Pod", Namespace: p.namespace, Name: p.name}, UID: types.UID(p.uid), Hours: overHours(parts, step, mountParts)})
		}
		slices.SortFunc(out.Mounts, func(a, b Mount) int { return cmp.Or(object.Compare(a.Pod, b.Pod), cmp.Compare(a.UID, b.UID)) })
		// A step is mounted or not: what is less than one was cut from the parts of the pods, and
		// is the last one's. So the parts add up to the whole, rounded as they are.
		all := max(c.steps*mountParts, mounted)
		out.Hours, out.Unmounted = overHours(all, step, mountParts), overHours((all-mounted)/mountParts, step, 1)
		if last := len(out.Mounts) - 1; last >= 0 {
			out.Mounts[last].Hours = out.Hours.Sub(out.Unmounted)
			for _, m := range out.Mounts[:last] {
				out.Mounts[last].Hours = out.Mounts[last].Hours.Sub(m.Hours)
			}
		} else {
			out.Unmounted = out.Hours
		}
		r.Claims = append(r.Claims, out)
	}
	noteUnsampled(r, "volume claims", len(present))
}

func (s *windowState) fillBalancers(r *UsageReport) {
	present := map[podName]bool{}
	for _, b := range r.LoadBalancers {
		present[podName{b.Service.Namespace, b.Service.Name}] = true
	}
	r.LoadBalancers = nil
	for key, steps := range s.balancers {
		delete(present, key)
		r.LoadBalancers = append(r.LoadBalancers, LoadBalancer{Service: object.Ref{Kind: "Service", Namespace: key.namespace, Name: key.name}, Hours: overHours(steps, s.e.step, 1)})
	}
	noteUnsampled(r, "load balancers", len(present))
}

// wholeCluster says that the question is about everything in the cluster.
func (o HistoryOptions) wholeCluster() bool { return len(o.Namespaces) == 0 && o.Pods == nil }

func (s *windowState) fillVolumes(r *UsageReport) {
	present := map[string]Volume{}
	for _, v := range r.Unclaimed {
		present[v.Name] = v
	}
	r.Unclaimed = nil
	for name, v := range s.volumes {
		if !v.present {
			continue
		}
		out := present[name]
		delete(present, name)
		out.Name, out.Class = name, cmp.Or(out.Class, v.class)
		out.Hours, out.Claimed = overHours(v.steps, s.e.step, 1), overHours(v.claimed, s.e.step, 1)
		r.Unclaimed = append(r.Unclaimed, out)
	}
	noteUnsampled(r, "volumes without a claim", len(present))
}

// Ref is the volume as an object.
func (v *Volume) Ref() object.Ref { return object.Ref{Kind: "PersistentVolume", Name: v.Name} }

// fillNodes gives the nodes of a report their hours, and adds those that are gone: of a few
// namespaces those alone that pods of theirs ran on.
func (s *windowState) fillNodes(r *UsageReport) {
	whole := s.options.wholeCluster()
	wanted := map[string]bool{}
	for i := range r.Pods {
		wanted[r.Pods[i].Node] = true
	}
	present := map[string]bool{}
	for i := range r.Nodes {
		out := &r.Nodes[i]
		present[out.Name] = true
		n := s.node(out.Name)
		out.Hours, out.Capacity = overHours(n.steps, s.e.step, 1), s.capacity(n)
		out.Whole = out.Whole && whole && out.Capacity != nil
	}
	for name, n := range s.nodes {
		if present[name] || !n.present || !whole && !wanted[name] {
			continue
		}
		r.Nodes = append(r.Nodes, Node{
			Name: name, Gone: true, Labels: n.labels, ProviderID: n.provider,
			Hours: overHours(n.steps, s.e.step, 1), Capacity: s.capacity(n), Whole: whole,
		})
	}
}

// capacity is in millicores, and units, of steps.
func (s *windowState) capacity(n *node) Amounts {
	var out Amounts
	for name, v := range n.capacity {
		units := int64(1)
		if name == CPU {
			units = 1000
		}
		out.Set(name, overHours(v, s.e.step, units))
	}
	return out
}

// noteUnsampled notes that things of the cluster have no sample, and so no figures.
func noteUnsampled(r *UsageReport, kind string, n int) {
	if n > 0 {
		r.Notes = append(r.Notes, Note{
			Source: "prometheus", Reason: "NotServed", LowersFigures: true,
			Message: fmt.Sprintf("%d %s of the cluster have no samples in the window, and are omitted", n, kind),
		})
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
	r.Notes = append(r.Notes, slices.SortedFunc(maps.Keys(f.notes), compareNotes)...)
}

func (s *windowState) stepNote() string {
	text := fmt.Sprintf("the window is evaluated from %s to %s in steps of %s", s.window.From.Format(time.RFC3339), s.window.To.Format(time.RFC3339), promDuration(s.e.step))
	if s.recorded {
		text += ", by recording rules"
	}
	return text
}

// noteMissing notes the metrics without which figures are unknown.
func (s *windowState) noteMissing(r *UsageReport, f *fetcher) {
	missing := func(message string) { f.note(Note{Reason: "NotServed", Message: message, LowersFigures: true}) }
	has := s.e.has
	switch cpu, memory := has[cpuMetric], has[memoryMetric]; {
	case !cpu && !memory:
		missing("the server has no samples of cAdvisor in the window: usage of CPU and memory is unknown")
	case !cpu:
		missing("the server has no " + cpuMetric + " in the window: usage of CPU is unknown")
	case !memory:
		missing("the server has no " + memoryMetric + " in the window: usage of memory is unknown")
	}
	switch pods, requests := has[infoMetric], has[requestsMetric]; {
	case !pods && !requests && !has[phaseMetric]:
		missing("the server has no samples of kube-state-metrics in the window: requests, and the owners of deleted pods, are unknown")
	case !requests:
		missing("the server has no requests of pods in the window (" + requestsMetric + ")")
	case !pods:
		missing("the server has no " + infoMetric + " in the window: the node of deleted pods may be unknown")
	case !has[phaseMetric]:
		missing("the server has no " + phaseMetric + " in the window: pods that ended are taken for running until they are deleted")
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
	measured := map[podName]bool{}
	for i := range r.Pods {
		if p := &r.Pods[i]; p.Unmeasured == "" {
			measured[podName{p.Ref.Namespace, p.Ref.Name}] = true
		}
	}
	var names []podName
	for name, samples := range s.gaps {
		if measured[name] && time.Duration(samples)*s.e.sampling > staleness {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return
	}
	longest := slices.MaxFunc(names, func(a, b podName) int {
		return cmp.Or(cmp.Compare(s.gaps[a], s.gaps[b]), strings.Compare(b.namespace, a.namespace), strings.Compare(b.name, a.name))
	})
	f.note(Note{
		Subject: longest.namespace + "/" + longest.name, Reason: "Gap", LowersFigures: true,
		Message: fmt.Sprintf("samples of %d pods have gaps of up to %s in all: memory and requests in the gaps are not counted",
			len(names), time.Duration(s.gaps[longest])*s.e.sampling),
	})
}

func compareNotes(a, b Note) int {
	return cmp.Or(strings.Compare(a.Reason, b.Reason), strings.Compare(a.Subject, b.Subject), strings.Compare(a.Message, b.Message))
}
