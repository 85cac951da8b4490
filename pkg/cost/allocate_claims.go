package cost

import (
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// claims charges volume claims for their capacity.
func (a *allocator) claims() {
	for i := range a.reading.Claims {
		claim := &a.reading.Claims[i]
		c, ok := a.storage(claim)
		switch {
		case !ok:
		case a.isCommon(c.Item), a.options.Sharing == ShareNone && len(stacksOfClaim(a.placement, claim)) > 1:
			a.charge(&c, nil)
		default:
			a.claim(&c, claim)
		}
	}
}

// storage returns the charge for the capacity of a claim, where that has a price.
func (a *allocator) storage(claim *metrics.Claim) (Charge, bool) {
	price := a.book.Claim(claim)
	c := Charge{
		Kind: Used, Item: claim.Ref, UID: string(claim.UID), Namespace: claim.Ref.Namespace, Share: a.one, Of: 1,
		Resource: metrics.Storage, List: price.List, Price: price.Net, SKU: price.SKU,
	}
	c.Quantity, c.Unit = quantity(metrics.Storage, claim.Claimed)
	return c, price.stated() && !claim.Claimed.IsNegative()
}

// stacksOfClaim are those that a claim belongs to, and those of the pods that mount it.
func stacksOfClaim(p *metrics.Attribution, claim *metrics.Claim) []object.Ref {
	all := slices.Clone(p.Of[claim.Ref].Stacks)
	for i := range claim.Mounts {
		all = append(all, p.Of[claim.Mounts[i].Pod].Stacks...)
	}
	return inOrder(all)
}

// unclaimed charges volumes without a claim; no stack pays for them.
func (a *allocator) unclaimed() {
	for i := range a.reading.Unclaimed {
		v := &a.reading.Unclaimed[i]
		if c, ok := a.storage(&metrics.Claim{UID: v.UID, Class: v.Class, Volume: v.Name, Claimed: v.Claimed}); ok {
			c.Kind, c.Item = Unclaimed, v.Ref()
			a.add(&c)
		}
	}
}

// payer is who pays for a part of a claim.
type payer struct {
	kind  ChargeKind
	stack object.Ref // zero: no stack pays
}

func compareHolders(x, y payer) int {
	if c := object.Compare(x.stack, y.stack); c != 0 {
		return c
	}
	return strings.Compare(string(x.kind), string(y.kind))
}

// claim adds the charges of a claim: its quantity is split by the time of its mounts
// and the time without one, each part then among the stacks that the pod belongs to,
// and what a stack has to pay comes together again in one charge.
func (a *allocator) claim(c *Charge, claim *metrics.Claim) {
	own := a.stacksOf(claim.Ref)
	periods, hours := a.periods(claim, own)
	tally := map[payer]decimal.Decimal{}
	var holders []payer
	for i, part := range split(c.Quantity, hours) {
		stacks := periods[i].stacks
		if len(stacks) == 0 {
			stacks = []object.Ref{{}}
		}
		for j, piece := range split(part, a.weights(stacks, metrics.Storage)) {
			h := payer{periods[i].kind, stacks[j]}
			if _, ok := tally[h]; !ok {
				holders = append(holders, h)
			}
			tally[h] = tally[h].Add(piece)
		}
	}
	slices.SortFunc(holders, compareHolders)
	parts := make([]decimal.Decimal, len(holders))
	for i, h := range holders {
		parts[i] = tally[h]
	}
	c.Of = distinct(holders)
	for i, share := range split(a.one, parts) {
		c.Kind, c.Stack, c.Share, c.Quantity = holders[i].kind, holders[i].stack, share, parts[i]
		a.add(c)
	}
}

// distinct counts the stacks among sorted holders; a zero stack counts as one if it is the only
// holder.
func distinct(holders []payer) int {
	count := 0
	for i, h := range holders {
		if h.stack != (object.Ref{}) && (i == 0 || holders[i-1].stack != h.stack) {
			count++
		}
	}
	return max(count, 1)
}

// period is a part of the time of a claim.
type period struct {
	kind   ChargeKind
	stacks []object.Ref
}

// periods returns the parts of the time of a claim, in a fixed order, and the hours of each. The
// part of a pod goes to the stack of the pod, or to no stack: the owner of the claim does not pay
// for other pods that mount it, unless the stacks stand alone. The time without a mount goes to
// the stacks of the claim itself.
func (a *allocator) periods(claim *metrics.Claim, own []object.Ref) (periods []period, hours []decimal.Decimal) {
	mounts := claim.Mounts
	if len(mounts) > 1 {
		mounts = slices.Clone(mounts)
		slices.SortFunc(mounts, func(x, y metrics.Mount) int {
			if c := object.Compare(x.Pod, y.Pod); c != 0 {
				return c
			}
			if c := strings.Compare(string(x.UID), string(y.UID)); c != 0 {
				return c
			}
			return x.Hours.Cmp(y.Hours)
		})
	}
	for i := range mounts {
		if !mounts[i].Hours.IsPositive() {
			continue
		}
		stacks := a.stacksOf(mounts[i].Pod)
		if len(stacks) == 0 && a.options.Alone {
			stacks = own
		}
		periods, hours = append(periods, period{Used, stacks}), append(hours, mounts[i].Hours)
	}
	if claim.Unmounted.IsPositive() {
		periods, hours = append(periods, period{Unmounted, own}), append(hours, claim.Unmounted)
	}
	if len(periods) == 0 {
		// It is unknown which pods mounted it, if any.
		periods, hours = append(periods, period{Used, own}), append(hours, claim.Hours)
	}
	return periods, hours
}
