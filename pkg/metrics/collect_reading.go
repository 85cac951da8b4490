package metrics

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ReportOptions say what goes into a reading.
type ReportOptions struct {
	// Keep chooses pods, claims and Services; nil keeps all. A claim that is mounted
	// by pods that are not kept is still split among all that mount it.
	Keep func(object.Ref) bool
	// Whole says that every pod of the cluster was added, and is kept.
	Whole bool
	// Containers adds the containers of pods, for sources to measure as well.
	Containers bool
}

func (o ReportOptions) keeps(r object.Ref) bool { return o.Keep == nil || o.Keep(r) }

// pieceHours is the precision of the hours of a mount, in decimal places.
const pieceHours = 12

// Report returns what is reserved at an instant: the pods on a node that have not ended, the
// claims with a volume, the load balancers with an address, and the nodes. Pods that have ended
// or wait for a node cost nothing. Its amounts are rates, for an hour.
//
// Nothing is measured yet: that is for Sources, and for Settle after them.
func (c *Collector) Report(at time.Time, o ReportOptions) *UsageReport {
	c.mu.Lock()
	defer c.mu.Unlock()
	hour := decimal.New(1, 0)
	r := &UsageReport{To: at, Hours: hour}
	devices := c.devicesOf()
	mounts := make(map[object.Ref][]Mount, len(c.claims))
	if o.Keep == nil {
		r.Pods = make([]Pod, 0, len(c.pods))
	}
	for _, ref := range sortedRefs(c.pods) {
		p := c.pods[ref]
		if p.ended || p.node == "" {
			continue
		}
		for _, name := range p.claims {
			claim := object.Ref{Kind: "PersistentVolumeClaim", Namespace: ref.Namespace, Name: name}
			mounts[claim] = append(mounts[claim], Mount{Pod: ref, UID: p.uid})
		}
		if o.keeps(ref) {
			pod := p.at(ref)
			if o.Containers {
				pod.Containers = slices.Clone(p.reserved.containers)
			}
			pod.Requested = pod.Requested.with(devices[p.uid])
			r.Pods = append(r.Pods, pod)
		}
	}
	r.Claims = c.claimsAt(mounts, o, r)
	c.balancersAt(o, hour, r)
	r.Unclaimed = c.unclaimedAt(o, hour)
	r.Nodes = c.nodesAt(o, hour)
	return r
}

// balancersAt adds the load balancers that have an address, and notes the others.
func (c *Collector) balancersAt(o ReportOptions, hours decimal.Decimal, r *UsageReport) {
	for _, ref := range sortedRefs(c.balancers) {
		switch {
		case !o.keeps(ref):
		case c.balancers[ref]:
			r.LoadBalancers = append(r.LoadBalancers, LoadBalancer{Service: ref, Hours: hours})
		default:
			r.Notes = append(r.Notes, Note{Subject: ref.String(), Reason: "Pending", Message: "the load balancer has no address yet, and is not counted"})
		}
	}
}

// unclaimedAt are the volumes that no claim has.
func (c *Collector) unclaimedAt(o ReportOptions, hours decimal.Decimal) []Volume {
	var out []Volume
	for _, name := range slices.Sorted(maps.Keys(c.volumes)) {
		f := c.volumes[name]
		switch f.phase {
		case corev1.VolumeAvailable, corev1.VolumeReleased, corev1.VolumeFailed:
			v := Volume{Name: name, UID: f.uid, Class: f.class, Claimed: f.capacity.Mul(hours), Hours: hours}
			if o.keeps(v.Ref()) {
				out = append(out, v)
			}
		}
	}
	return out
}

func (p *podFacts) at(ref object.Ref) Pod {
	out := Pod{
		Ref: ref, UID: p.uid, Node: p.node, Started: p.started, Hours: decimal.New(1, 0), HostNetwork: p.host,
		Requested: p.reserved.requested, Limited: p.reserved.limited,
	}
	if p.pending {
		out.Unmeasured = "not running yet"
	}
	return out
}

func (c *Collector) claimsAt(mounts map[object.Ref][]Mount, o ReportOptions, r *UsageReport) []Claim {
	var out []Claim
	var waiting []string
	for _, ref := range sortedRefs(c.claims) {
		if !o.keeps(ref) {
			continue
		}
		f := c.claims[ref]
		claim := Claim{Ref: ref, UID: f.uid, Class: f.class, Volume: f.volume, Hours: r.Hours, Mounts: mounts[ref]}
		size, ok := c.sizeOf(ref, f, &claim)
		if !ok {
			waiting = append(waiting, ref.Namespace+"/"+ref.Name)
			continue
		}
		claim.Claimed = size
		claim.Unmounted = split(claim.Hours, claim.Mounts)
		out = append(out, claim)
	}
	if len(waiting) > 0 {
		r.Notes = append(r.Notes, Note{Subject: listNames(waiting), Reason: "Pending", Message: "volume claims without a volume take up no storage, and are not counted"})
	}
	return out
}

// sizeOf returns the capacity of the volume of a claim: as the volume says it, or
// the claim, or, in a dump without a status, what the claim asks for. A claim that
// has no volume, or lost it, takes up nothing.
func (c *Collector) sizeOf(ref object.Ref, f *claimFacts, claim *Claim) (decimal.Decimal, bool) {
	volume, known := c.volumes[f.volume]
	if known = known && volume.claim == ref; known && claim.Class == "" {
		claim.Class = volume.class
	}
	switch {
	case f.phase == corev1.ClaimPending, f.phase == corev1.ClaimLost:
		return decimal.Decimal{}, false
	case known && volume.capacity.IsPositive():
		return volume.capacity, true
	case f.capacity != nil:
		return *f.capacity, true
	case f.request != nil:
		return *f.request, true
	}
	return decimal.Decimal{}, false
}

// split gives each mount its even part of the hours, and returns what is left where
// there is none. The parts are cut to 12 decimal places; what that leaves goes to
// the first ones, a unit each, so that they add up.
func split(hours decimal.Decimal, mounts []Mount) decimal.Decimal {
	if len(mounts) == 0 {
		return hours
	}
	n := decimal.New(int64(len(mounts)), 0)
	part, rest := hours.QuoRem(n, pieceHours)
	unit := decimal.New(1, -pieceHours)
	for i := range mounts {
		mounts[i].Hours = part
		if rest.IsPositive() {
			step := decimal.Min(unit, rest)
			mounts[i].Hours, rest = part.Add(step), rest.Sub(step)
		}
	}
	return decimal.Decimal{}
}

func (c *Collector) nodesAt(o ReportOptions, hours decimal.Decimal) []Node {
	out := make([]Node, 0, len(c.nodes))
	for name, f := range c.nodes {
		out = append(out, Node{Name: name, Labels: f.labels, ProviderID: f.providerID, Hours: hours, Capacity: f.capacity, Whole: o.Whole})
	}
	slices.SortFunc(out, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Window returns what is there, for a history to say what it used between from and
// to: every pod, also those that have ended or wait for a node, the claims, the load
// balancers that have an address and the nodes, without hours and amounts. Of a pod it has
// the rates of requests that those of its containers do not add up to, since no series of
// kube-state-metrics tells these: of the pod as a whole, and of init containers.
func (c *Collector) Window(from, to time.Time, o ReportOptions) *UsageReport {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &UsageReport{From: from, To: to, Hours: decimal.New(int64(to.Sub(from)), 0).DivRound(decimal.New(int64(time.Hour), 0), pieceHours)}
	devices := c.devicesOf()
	for _, ref := range sortedRefs(c.pods) {
		if p := c.pods[ref]; o.keeps(ref) {
			pod := Pod{Ref: ref, UID: p.uid, Node: p.node, Started: p.started, HostNetwork: p.host}
			if p.reserved != nil {
				pod.Requested = p.reserved.beyond.with(devices[p.uid])
			}
			r.Pods = append(r.Pods, pod)
		}
	}
	for _, ref := range sortedRefs(c.claims) {
		if o.keeps(ref) {
			f := c.claims[ref]
			claim := Claim{Ref: ref, UID: f.uid, Class: f.class, Volume: f.volume}
			c.sizeOf(ref, f, &claim) // for the class
			r.Claims = append(r.Claims, claim)
		}
	}
	c.balancersAt(o, decimal.Decimal{}, r)
	r.Unclaimed = c.unclaimedAt(o, decimal.Decimal{})
	for _, n := range c.nodesAt(o, decimal.Decimal{}) {
		n.Capacity = nil
		r.Nodes = append(r.Nodes, n)
	}
	return r
}

// Resources are the extended resources of the pods and nodes, by their true names.
func (c *Collector) Resources() []Resource {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[Resource]bool{}
	learn := func(a Amounts) {
		for name := range a.All() {
			if extended(name) {
				all[name] = true
			}
		}
	}
	for _, p := range c.pods {
		if p.reserved != nil {
			learn(p.reserved.requested)
		}
	}
	for _, n := range c.nodes {
		learn(n.capacity)
	}
	for _, held := range c.devicesOf() {
		learn(held)
	}
	return slices.Sorted(maps.Keys(all))
}

func sortedRefs[T any](m map[object.Ref]T) []object.Ref {
	refs := make([]object.Ref, 0, len(m))
	for r := range m {
		refs = append(refs, r)
	}
	slices.SortFunc(refs, object.Compare)
	return refs
}

// listNames names some of many, for a message.
func listNames(names []string) string {
	const shown = 4
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}
