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
	return c.report(&UsageReport{To: at, Hours: decimal.New(1, 0)}, decimal.New(1, 0), o)
}

// Window returns what is there, for a history to say what it used between from and
// to: every pod, also those that have ended or wait for a node, the claims, the load
// balancers that have an address and the nodes, without hours and amounts. Of a pod it has
// the rates of requests that those of its containers do not add up to, since no series of
// kube-state-metrics tells these: of the pod as a whole, and of init containers.
func (c *Collector) Window(from, to time.Time, o ReportOptions) *UsageReport {
	hours := decimal.New(int64(to.Sub(from)), 0).DivRound(decimal.New(int64(time.Hour), 0), pieceHours)
	return c.report(&UsageReport{From: from, To: to, Hours: hours}, decimal.Decimal{}, o)
}

// report adds what is there for so many hours: that of an instant, or none.
func (c *Collector) report(r *UsageReport, hours decimal.Decimal, o ReportOptions) *UsageReport {
	c.mu.Lock()
	defer c.mu.Unlock()
	devices := c.devicesOf()
	mounts := make(map[object.Ref][]Mount, len(c.claims))
	if o.Keep == nil {
		r.Pods = make([]Pod, 0, len(c.pods))
	}
	for _, ref := range sortedRefs(c.pods) {
		p := c.pods[ref]
		if r.Instant() && (p.ended || p.node == "") {
			continue
		}
		for _, name := range p.claims {
			claim := object.Ref{Kind: "PersistentVolumeClaim", Namespace: ref.Namespace, Name: name}
			mounts[claim] = append(mounts[claim], Mount{Pod: ref, UID: p.uid})
		}
		if o.keeps(ref) {
			r.Pods = append(r.Pods, p.in(r, ref, devices[p.uid], o))
		}
	}
	if !r.Instant() {
		mounts = nil // which a history knows
	}
	c.addClaims(r, mounts, o)
	for _, ref := range sortedRefs(c.balancers) {
		switch {
		case !o.keeps(ref):
		case c.balancers[ref]:
			r.LoadBalancers = append(r.LoadBalancers, LoadBalancer{Service: ref, Hours: hours})
		default:
			r.Notes = append(r.Notes, Note{Subject: ref.String(), Reason: "Pending", Message: "the load balancer has no address yet, and is not counted"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.volumes)) {
		f := c.volumes[name]
		free := f.phase == corev1.VolumeAvailable || f.phase == corev1.VolumeReleased || f.phase == corev1.VolumeFailed
		if v := f.Volume; free && o.keeps(v.Ref()) {
			v.Claimed, v.Hours = v.Claimed.Mul(hours), hours
			r.Unclaimed = append(r.Unclaimed, v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.nodes)) {
		n := *c.nodes[name]
		if n.Hours, n.Whole = hours, o.Whole; !r.Instant() {
			n.Capacity = nil
		}
		r.Nodes = append(r.Nodes, n)
	}
	return r
}

// in is the pod in a reading, with the devices that it holds.
func (p *podFacts) in(r *UsageReport, ref object.Ref, devices Amounts, o ReportOptions) Pod {
	out := Pod{Ref: ref, UID: p.uid, Node: p.node, Started: p.started, HostNetwork: p.host}
	switch {
	case !r.Instant():
		if p.reserved != nil {
			out.Requested = p.reserved.beyond.with(devices)
		}
		return out
	case p.pending:
		out.Unmeasured = "not running yet"
	}
	out.Hours, out.Requested, out.Limited = r.Hours, p.reserved.requested.with(devices), p.reserved.limited
	if o.Containers {
		out.Containers = slices.Clone(p.reserved.containers)
	}
	return out
}

// addClaims adds the claims: in the reading of an instant those with a volume.
func (c *Collector) addClaims(r *UsageReport, mounts map[object.Ref][]Mount, o ReportOptions) {
	var waiting []string
	for _, ref := range sortedRefs(c.claims) {
		if !o.keeps(ref) {
			continue
		}
		claim := c.claims[ref].Claim
		size := c.sizeOf(&claim)
		switch {
		case !r.Instant():
		case size == nil:
			waiting = append(waiting, ref.Namespace+"/"+ref.Name)
			continue
		default:
			claim.Claimed, claim.Hours, claim.Mounts = *size, r.Hours, mounts[ref]
			claim.Unmounted = split(claim.Hours, claim.Mounts)
		}
		r.Claims = append(r.Claims, claim)
	}
	if len(waiting) > 0 {
		r.Notes = append(r.Notes, Note{Subject: listNames(waiting), Reason: "Pending", Message: "volume claims without a volume take up no storage, and are not counted"})
	}
}

// sizeOf returns the capacity of the volume of a claim: as the volume says it, or
// the claim. A claim that has no volume, or lost it, takes up nothing: nil. The class may be
// that of the volume alone.
func (c *Collector) sizeOf(claim *Claim) *decimal.Decimal {
	f, volume := c.claims[claim.Ref], c.volumes[claim.Volume]
	if volume != nil && volume.claim != claim.Ref {
		volume = nil
	}
	if volume != nil {
		claim.Class = cmp.Or(claim.Class, volume.Class)
	}
	switch {
	case f.phase == corev1.ClaimPending, f.phase == corev1.ClaimLost:
		return nil
	case volume != nil && volume.Claimed.IsPositive():
		return &volume.Claimed
	}
	return f.size
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

// Resources are the extended resources of the pods and nodes, by their true names.
func (c *Collector) Resources() []Resource {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[Resource]bool{}
	learn := func(a Amounts) {
		for name := range a.All() {
			if name.IsExtended() {
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
		learn(n.Capacity)
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
