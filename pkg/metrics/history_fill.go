package metrics

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// What makes an hour of what amounts are added up in.
const (
	milliseconds = 3_600_000
	nanoseconds  = milliseconds * 1_000_000
	nanocores    = milliseconds * 1_000_000_000 // nanocore-milliseconds
)

func (a amount) perUnits(units int64) decimal.Decimal { return a.sum.perUnits(units) }

// integralsOf are sums over time in hours. A resource without a sample is unknown.
func integralsOf(m map[Resource]*amount) Amounts {
	var out Amounts
	for name, a := range m {
		if !a.known {
			continue
		}
		if out == nil {
			out = Amounts{}
		}
		units := int64(milliseconds)
		if name == CPU {
			units = nanocores
		}
		out[name] = a.perUnits(units)
	}
	return out
}

// fill writes what was read into a reading.
func (p *windowState) fill(r *UsageReport, f *fetcher) {
	w := p.options.Window
	r.From, r.To = w.From.UTC().Truncate(time.Millisecond), w.To.UTC().Truncate(time.Millisecond)
	span := total{}.add(uint64(r.To.UnixMilli() - r.From.UnixMilli()))
	r.Hours = span.perUnits(milliseconds)
	p.fillPods(r)
	p.fillClaims(r)
	p.fillBalancers(r)
	p.fillVolumes(r)
	p.fillNodes(r)
	slices.SortFunc(r.Pods, func(a, b Pod) int { return cmp.Or(object.Compare(a.Ref, b.Ref), cmp.Compare(a.UID, b.UID)) })
	slices.SortFunc(r.Claims, func(a, b Claim) int { return cmp.Or(object.Compare(a.Ref, b.Ref), cmp.Compare(a.UID, b.UID)) })
	slices.SortFunc(r.LoadBalancers, func(a, b LoadBalancer) int { return object.Compare(a.Service, b.Service) })
	slices.SortFunc(r.Nodes, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
	p.tell(r, f)
}

func (p *windowState) fillPods(r *UsageReport) {
	here := map[*pod]bool{}
	for i := range r.Pods {
		out := &r.Pods[i]
		q := p.pod(out.Ref.Namespace, out.Ref.Name, string(out.UID), 0)
		here[q] = true
		p.fillPod(out, q)
	}
	for _, key := range slices.SortedFunc(maps.Keys(p.pods), compareNames) {
		for _, q := range p.pods[key] {
			if here[q] || !q.measured() || p.options.Pods != nil && !p.options.Pods(q.namespace, q.name) {
				continue
			}
			out := Pod{
				Ref: object.Ref{Kind: "Pod", Namespace: q.namespace, Name: q.name}, UID: types.UID(q.uid),
				Node: q.node, Gone: true, Owners: p.chain(q), Labels: q.label, HostNetwork: q.hostNetwork,
			}
			p.fillPod(&out, q)
			r.Pods = append(r.Pods, out)
		}
	}
}

// measured says that anything is known of a pod in the window.
func (q *pod) measured() bool {
	return q.hours.known && q.hours.sum != total{} || integralsOf(q.used) != nil || len(q.traffic) > 0 || q.asks()
}

// asks says that a pod held something in the window; one that ended before has samples
// as well, and holds nothing.
func (q *pod) asks() bool {
	all := []map[Resource]*amount{q.charged}
	for _, c := range q.containersByName {
		all = append(all, c.limited)
	}
	return slices.ContainsFunc(all, func(m map[Resource]*amount) bool {
		for _, a := range m {
			if a.sum != (total{}) {
				return true
			}
		}
		return false
	})
}

func (p *windowState) fillPod(out *Pod, q *pod) {
	out.Hours = q.hours.perUnits(milliseconds)
	out.HostNetwork = out.HostNetwork || q.hostNetwork
	out.Used, out.Requested, out.Charged = integralsOf(q.used), integralsOf(q.requested), integralsOf(q.charged)
	out.Limited, out.Unmeasured, out.Containers = nil, "", nil
	if out.Node == "" {
		out.Node = q.node
	}
	for _, direction := range []Resource{Received, Sent} {
		a := q.traffic[direction]
		if a == nil || !a.known {
			continue
		}
		if out.Used == nil {
			out.Used = Amounts{}
		}
		out.Used[direction] = a.perUnits(1)
		delete(out.Counters, direction)
	}
	_, cpu := out.Used[CPU]
	_, memory := out.Used[Memory]
	if !cpu && !memory {
		out.Unmeasured = "no samples in the window"
	}
	// A pod of which kube-state-metrics told that it ran, and no request, has none.
	if p.served["requests"] && (!q.run.empty() || !q.phase.empty() || q.hours.known) {
		for _, name := range []Resource{CPU, Memory} {
			if _, ok := out.Requested[name]; !ok {
				out.Requested = with(out.Requested, name)
				if _, ok := out.Charged[name]; !ok {
					out.Charged = with(out.Charged, name)
				}
			}
		}
	}
	q.fillContainers(out)
}

// with adds a resource with nothing of it.
func with(a Amounts, name Resource) Amounts {
	if a == nil {
		a = Amounts{}
	}
	a[name] = decimal.Decimal{}
	return a
}

// fillContainers adds the containers that run beside each other, and the limits of the
// pod: those that every one of them has.
func (q *pod) fillContainers(out *Pod) {
	told := false // by kube-state-metrics
	for _, c := range q.containersByName {
		told = told || c.main
	}
	limits, bounded, count := map[Resource]*amount{}, map[Resource]int{}, 0
	for _, name := range slices.Sorted(maps.Keys(q.containersByName)) {
		c := q.containersByName[name]
		if c.init && !c.sidecar && !c.ran {
			continue
		}
		shown := Container{Name: name, Used: integralsOf(c.used), Requested: integralsOf(c.requested), Limited: integralsOf(c.limited)}
		if shown.Used != nil || shown.Requested != nil || shown.Limited != nil {
			out.Containers = append(out.Containers, shown)
		}
		if told && !c.main && !c.init {
			continue
		}
		count++
		for name, a := range c.limited {
			if a.known {
				entry(limits, name).plus(a.sum)
				bounded[name]++
			}
		}
	}
	for name := range limits {
		if bounded[name] < count {
			delete(limits, name)
		}
	}
	for name, a := range limits { // what the pod itself takes comes on top of a limit
		if over := q.overhead[name]; over != nil && a.sum != (total{}) {
			a.plus(over.sum)
		}
	}
	out.Limited = integralsOf(limits)
}

func (p *windowState) fillClaims(r *UsageReport) {
	present := map[podName]Claim{}
	for _, c := range r.Claims {
		present[podName{c.Ref.Namespace, c.Ref.Name}] = c
	}
	r.Claims = nil
	for key, c := range p.claims {
		if !c.hours.known {
			continue
		}
		out, here := present[key]
		if !here {
			out = Claim{Ref: object.Ref{Kind: "PersistentVolumeClaim", Namespace: key.namespace, Name: key.name}, Gone: true}
		}
		out.Class, out.Volume = cmp.Or(out.Class, c.class), cmp.Or(out.Volume, c.volume)
		out.Claimed = c.claimed.perUnits(milliseconds)
		out.Used, out.UsedKnown = c.used.perUnits(milliseconds), c.used.known
		out.Mounts, out.Unmounted = nil, c.unmounted.perUnits(nanoseconds)
		// The sum of the rounded parts is the whole.
		out.Hours = out.Unmounted
		for q, sum := range c.mounted {
			hours := sum.perUnits(nanoseconds)
			out.Hours = out.Hours.Add(hours)
			out.Mounts = append(out.Mounts, Mount{Pod: object.Ref{Kind: "Pod", Namespace: q.namespace, Name: q.name}, UID: types.UID(q.uid), Hours: hours})
		}
		slices.SortFunc(out.Mounts, func(a, b Mount) int { return cmp.Or(object.Compare(a.Pod, b.Pod), cmp.Compare(a.UID, b.UID)) })
		r.Claims = append(r.Claims, out)
		delete(present, key)
	}
	p.unknown(r, "volume claims", len(present))
}

func (p *windowState) fillBalancers(r *UsageReport) {
	present := map[podName]bool{}
	for _, b := range r.LoadBalancers {
		present[podName{b.Service.Namespace, b.Service.Name}] = true
	}
	r.LoadBalancers = nil
	for key, b := range p.balancers {
		if !b.hours.known {
			continue
		}
		delete(present, key)
		r.LoadBalancers = append(r.LoadBalancers, LoadBalancer{Service: object.Ref{Kind: "Service", Namespace: key.namespace, Name: key.name}, Hours: b.hours.perUnits(milliseconds)})
	}
	p.unknown(r, "load balancers", len(present))
}
