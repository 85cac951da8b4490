package cost

import (
	"strings"

	"github.com/shopspring/decimal"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// part is what a row has of a thing that several rows share.
type part struct {
	row      int32
	resource metrics.Resource
	// weight is the share of the charge for pods, and the quantity for claims: what is
	// mounted by pods of several stacks is shared by time.
	weight decimal.Decimal
	of     int
}

// split keeps what a charge says of how its item is split.
func (b *reportBuilder) split(at int32, c *Charge) {
	key := objectKey{c.Item, c.UID}
	switch {
	case isClaim(c.Item): // time with a mount and without may fall to the same row
		b.parts[key] = addPart(b.parts[key], part{at, c.Resource, c.Quantity, c.Of})
	case isPod(c.Item):
		if c.Of > 1 {
			b.parts[key] = append(b.parts[key], part{at, c.Resource, c.Share, c.Of})
		}
	default:
		b.rows[at].shareWith(c.Share, c.Of)
	}
}

// addPart adds a part to those of a thing; what falls to one row is one part.
func addPart(parts []part, p part) []part {
	for i := range parts {
		if parts[i].row == p.row {
			parts[i].weight = parts[i].weight.Add(p.weight)
			return parts
		}
	}
	return append(parts, p)
}

// partsOf returns how a thing is split; a ledger may do without UIDs.
func (b *reportBuilder) partsOf(ref object.Ref, uid types.UID) []part {
	if parts, ok := b.parts[objectKey{ref, string(uid)}]; ok {
		return parts
	}
	return b.parts[objectKey{ref, ""}]
}

// compareParts orders the parts of a thing independently of the order of its charges: by stack,
// and parts without a stack by the rest that contains them.
func (b *reportBuilder) compareParts(x, y part) int {
	if c := object.Compare(b.rows[x.row].Stack, b.rows[y.row].Stack); c != 0 {
		return c
	}
	return strings.Compare(b.topmost(x.row).Name, b.topmost(y.row).Name)
}

// topmost is the first row above another.
func (b *reportBuilder) topmost(at int32) *Row {
	for b.parent[at] != b.base {
		at = b.parent[at]
	}
	return b.rows[at]
}

// scaledPods returns the parts of a pod for each row. Each resource is split as its charges are;
// a resource without a charge is split as the CPU or the memory, and evenly if there is no charge
// at all.
func (b *reportBuilder) scaledPods(pod *metrics.Pod, rows []int32) []metrics.Pod {
	pods := make([]metrics.Pod, len(rows))
	for i := range pods {
		pods[i] = metrics.Pod{
			Ref: pod.Ref, UID: pod.UID, HostNetwork: pod.HostNetwork, Unmeasured: pod.Unmeasured, Gap: pod.Gap,
			Containers: make([]metrics.Container, len(pod.Containers)),
		}
		for j := range pod.Containers {
			pods[i].Containers[j].Name = pod.Containers[j].Name
		}
	}
	known := b.partsOf(pod.Ref, pod.UID)
	cut := func(amounts metrics.Amounts, to func(i int) *metrics.Amounts) {
		for resource, amount := range amounts.All() {
			pieces := scaled(amount, weightsOf(known, rows, resource))
			for i := range pods {
				to(i).Set(resource, pieces[i])
			}
		}
	}
	cut(pod.Used, func(i int) *metrics.Amounts { return &pods[i].Used })
	cut(pod.Requested, func(i int) *metrics.Amounts { return &pods[i].Requested })
	cut(pod.Limited, func(i int) *metrics.Amounts { return &pods[i].Limited })
	cut(pod.Counters, func(i int) *metrics.Amounts { return &pods[i].Counters })
	for j := range pod.Containers {
		c := &pod.Containers[j]
		cut(c.Used, func(i int) *metrics.Amounts { return &pods[i].Containers[j].Used })
		cut(c.Requested, func(i int) *metrics.Amounts { return &pods[i].Containers[j].Requested })
		cut(c.Limited, func(i int) *metrics.Amounts { return &pods[i].Containers[j].Limited })
	}
	return pods
}

// weightsOf returns the weights of rows for a resource of a thing.
func weightsOf(known []part, rows []int32, resource metrics.Resource) []decimal.Decimal {
	charged := func(r metrics.Resource) bool {
		for i := range known {
			if known[i].resource == r {
				return true
			}
		}
		return false
	}
	for _, other := range []metrics.Resource{resource, metrics.CPU, metrics.Memory} {
		if charged(other) {
			resource = other
			break
		}
	}
	weights := make([]decimal.Decimal, len(rows))
	for i, row := range rows {
		for j := range known {
			if known[j].row == row && known[j].resource == resource {
				weights[i] = known[j].weight
			}
		}
	}
	return weights
}

// scaled splits an amount by weights, as split does. What it has beyond the places of
// a quantity goes with the largest part.
func scaled(amount decimal.Decimal, weights []decimal.Decimal) []decimal.Decimal {
	whole := amount.Truncate(places)
	parts := split(whole, weights)
	if rest := amount.Sub(whole); !rest.IsZero() {
		largest := 0
		for i := range parts {
			if parts[i].GreaterThan(parts[largest]) {
				largest = i
			}
		}
		parts[largest] = parts[largest].Add(rest)
	}
	return parts
}

// holders are the rows of a claim that has no charges, by the time of its mounts.
func (b *reportBuilder) holders(claim *metrics.Claim) []part {
	place := b.placement.Of[claim.Ref]
	own := inOrder(place.Stacks)
	if b.ledger.isShared(claim.Ref) && len(own) == 0 {
		return []part{{row: b.shared(b.base, claim.Ref.Namespace), of: 1}}
	}
	if b.ownRow(claim.Ref, place) {
		return []part{{row: b.place(object.Ref{}, place, claim.Ref), of: 1}}
	}
	var parts []part
	add := func(at int32, hours decimal.Decimal) {
		parts = addPart(parts, part{row: at, resource: metrics.Storage, weight: hours})
	}
	for _, mount := range claim.Mounts {
		stacks := inOrder(b.placement.Of[mount.Pod].Stacks)
		if len(stacks) == 0 {
			stacks = own
		}
		if len(stacks) == 0 {
			stacks = []object.Ref{{}}
		}
		for i, piece := range scaled(mount.Hours, make([]decimal.Decimal, len(stacks))) {
			add(b.place(stacks[i], place, claim.Ref), piece)
		}
	}
	switch {
	case len(parts) > 0 && !claim.Unmounted.IsPositive():
	case len(own) > 0:
		for i, piece := range scaled(claim.Unmounted, make([]decimal.Decimal, len(own))) {
			add(b.place(own[i], place, claim.Ref), piece)
		}
	default:
		add(b.unmounted(claim.Ref), claim.Unmounted)
	}
	for i := range parts {
		parts[i].of = len(parts)
	}
	return parts
}

// sharePods states the shares of a pod that several stacks share, after its charges.
// Where they differ by resource it is the part of the cost.
func (b *reportBuilder) sharePods(pod *metrics.Pod, rows []int32) {
	known := b.partsOf(pod.Ref, pod.UID)
	costs, shares := make([]decimal.Decimal, len(rows)), make([]decimal.Decimal, len(rows))
	same := len(known) > 0
	for i, row := range rows {
		for _, cost := range b.rows[row].Costs.All() {
			costs[i] = costs[i].Add(cost)
		}
		first := true
		for j := range known {
			if known[j].row != row {
				continue
			}
			same = same && (first || known[j].weight.Equal(shares[i]))
			shares[i], first = known[j].weight, false
		}
	}
	for i, row := range rows {
		share := shares[i]
		if !same {
			share = ratio(costs, i)
		}
		b.rows[row].shareWith(share, len(rows))
	}
}

// ratio is the part that one weight is of all, to 12 places; even where all are zero.
func ratio(weights []decimal.Decimal, at int) decimal.Decimal {
	return scaled(decimal.NewFromInt(1), weights)[at]
}

// mixed stands in Row.Of, while rows are summed up, for parts that are shared in
// different ways.
const mixed = -1

// shareWith states how a part of a row is shared; the row is mixed where it was stated
// in another way.
func (r *Row) shareWith(share decimal.Decimal, sharers int) {
	switch {
	case r.Of == 0 && sharers > 0:
		r.Share, r.Of = share, sharers
	case sharers == 0 || r.Of != sharers || !r.Share.Equal(share):
		r.Share, r.Of = decimal.Decimal{}, mixed
	}
}

// settleShare ends the work on the share of a row, and gives it to its containers.
func (r *Row) settleShare() {
	switch r.Of {
	case mixed:
		r.Of = 0
	case 0:
		r.Share, r.Of = decimal.NewFromInt(1), 1
	}
	for _, child := range r.Children {
		if child.Level == LevelContainer {
			child.Share, child.Of = r.Share, r.Of
		}
	}
}
