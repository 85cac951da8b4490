package uistate

import (
	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// podUsage is what a pod uses and asks for; nil where nothing of that is known.
func (b *stateBuilder) podUsage(pod *metrics.Pod) *Usage {
	u := b.usage(pod.Used, pod.Requested, pod.Limited)
	u.Unmeasured = pod.Unmeasured
	return some(u)
}

// rowUsage is the sum of a stack.
func (b *stateBuilder) rowUsage(r *cost.Row) *Usage {
	u := b.usage(r.Used, r.Requested, r.Limited)
	u.Storage, u.Claimed = b.amount(r.Used, metrics.Storage, 0), b.amount(r.Claimed, metrics.Storage, 0)
	return some(u)
}

func (b *stateBuilder) usage(used, requested, limited metrics.Amounts) Usage {
	const milli = 3
	return Usage{
		CPU: b.amount(used, metrics.CPU, milli), Memory: b.amount(used, metrics.Memory, 0),
		CPURequest: b.amount(requested, metrics.CPU, milli), MemoryRequest: b.amount(requested, metrics.Memory, 0),
		CPULimit: b.amount(limited, metrics.CPU, milli), MemoryLimit: b.amount(limited, metrics.Memory, 0),
	}
}

// claims adds to the nodes of volume claims what they hold.
func (b *stateBuilder) claims() {
	if b.Reading == nil {
		return
	}
	for i := range b.Reading.Claims {
		c := &b.Reading.Claims[i]
		id, ok := b.Graph.Find(c.Ref)
		if !ok || !b.held[id] || c.Gone {
			continue
		}
		u := Usage{Claimed: b.mean(c.Claimed, 0)}
		if c.UsedKnown {
			u.Storage = b.mean(c.Used, 0)
		}
		b.p.Nodes[b.number(id)].Usage = some(u)
	}
}

// amount is a mean rate of the reading, in units of 10^-places; nil where it is unknown.
func (b *stateBuilder) amount(amounts metrics.Amounts, resource metrics.Resource, places int32) *int64 {
	n, known := amounts.Lookup(resource)
	if !known {
		return nil
	}
	return b.mean(n, places)
}

func (b *stateBuilder) mean(n decimal.Decimal, places int32) *int64 {
	if !b.Reading.Hours.IsPositive() {
		return nil
	}
	rate := n.Shift(places).DivRound(b.Reading.Hours, 0).IntPart()
	return &rate
}

// some is nil for nothing.
func some(u Usage) *Usage {
	if u == (Usage{}) {
		return nil
	}
	return &u
}
