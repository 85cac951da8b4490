package cost

import (
	"slices"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// byStack makes the rows of a report by stack.
func (b *reportBuilder) byStack() {
	b.startCluster()
	for _, stack := range b.placement.Stacks {
		b.row(b.base, LevelStack, stack)
	}
	for i := range b.reading.Claims {
		if claim := &b.reading.Claims[i]; b.ledger.sharing == ShareNone && len(stacksOfClaim(b.placement, claim)) > 1 {
			b.apart[claim.Ref] = true
		}
	}
	for i := range b.ledger.Charges {
		b.chargeStack(&b.ledger.Charges[i])
	}
	for i := range b.reading.Pods {
		b.podOfStacks(&b.reading.Pods[i])
	}
	for i := range b.reading.Claims {
		b.claimOfStacks(&b.reading.Claims[i])
	}
	b.volumes()
}

// chargeStack books a charge where it belongs, and keeps how its item is split.
func (b *reportBuilder) chargeStack(c *Charge) {
	nobody := c.Stack == object.Ref{}
	switch {
	case c.Kind == Idle && nobody && c.Namespace != "":
		// Spread over those who run on the node, it falls to things of no stack.
		b.charge(b.named(b.named(b.base, LevelRest, restUnattributed), LevelRest, restIdle), c)
	case c.Kind == Idle && nobody:
		b.charge(b.idle(b.base, c), c)
	case c.Kind == Shared && nobody:
		b.charge(b.shared(b.base, sharedNamespace(c)), c)
	case c.Kind == Idle, c.Kind == Shared, c.Kind == Overhead:
		at := b.base
		if !nobody {
			at = b.row(b.base, LevelStack, c.Stack)
		}
		b.charge(b.named(at, LevelRest, string(c.Kind)), c)
	case c.Kind == Unmounted && nobody:
		at := b.unmounted(c.Item)
		b.charge(at, c)
		b.split(at, c)
	case c.Kind == Unclaimed:
		b.charge(b.unclaimed(c.Item), c)
	default:
		at := b.place(c.Stack, b.placement.Of[c.Item], c.Item)
		b.charge(at, c)
		b.split(at, c)
	}
}

// sharedNamespace is the namespace that a charge is for; where it is spread, its
// Namespace is that of who pays.
func sharedNamespace(c *Charge) string {
	if c.Item.Kind == "Namespace" && c.Item.Group == "" {
		return c.Item.Name
	}
	return c.Item.Namespace
}

// unmounted returns the row of a claim that no pod mounts, below its namespace.
func (b *reportBuilder) unmounted(claim object.Ref) int32 {
	at := b.named(b.base, LevelRest, restUnmounted)
	return b.row(b.named(at, LevelRest, claim.Namespace), LevelPod, claim)
}

// unclaimed returns the row of a volume that no claim has.
func (b *reportBuilder) unclaimed(volume object.Ref) int32 {
	return b.row(b.named(b.base, LevelRest, UnclaimedVolumes), LevelPod, volume)
}

// place returns the row of a thing below the owners on its path, from the root of the stack on; a
// zero stack is the rest without a stack.
func (b *reportBuilder) place(stack object.Ref, place metrics.Path, item object.Ref) int32 {
	path := b.path(item, place)
	if stack != (object.Ref{}) && !slices.Contains(place.Stacks, stack) {
		// A claim without a stack that pods of the stack mount has no path there.
		path = nil
	}
	rest := restUnattributed
	if stack == (object.Ref{}) && b.ownRow(item, place) {
		rest = restShared
	}
	return b.row(b.way(stack, path, rest), LevelPod, item)
}

// ownRow says whether several stacks need a thing and none of them pays for it.
func (b *reportBuilder) ownRow(item object.Ref, place metrics.Path) bool {
	return b.ledger.sharing == ShareNone && (b.apart[item] || len(inOrder(place.Stacks)) > 1)
}

// way returns the row of the last owner on a path. Things of one owner follow each
// other, so the last way is kept.
func (b *reportBuilder) way(stack object.Ref, path []object.Ref, rest string) int32 {
	if b.last.known && b.last.stack == stack && b.last.rest == rest && slices.Equal(b.last.path, path) {
		return b.last.row
	}
	var at int32
	if stack == (object.Ref{}) {
		at = b.rowUnder(b.named(b.base, LevelRest, rest), path)
	} else {
		at = b.rowUnder(b.row(b.base, LevelStack, stack), path[slices.Index(path, stack)+1:])
	}
	b.last = rowPath{stack, path, rest, at, true}
	return at
}

// podOfStacks adds a pod to each of its stacks.
func (b *reportBuilder) podOfStacks(pod *metrics.Pod) {
	place := b.placement.Of[pod.Ref]
	stacks := inOrder(place.Stacks)
	switch {
	case len(stacks) == 1:
		b.addPod(b.place(stacks[0], place, pod.Ref), pod, pod)
		return
	case len(stacks) == 0 && b.ledger.isShared(pod.Ref):
		b.addPod(b.shared(b.base, pod.Ref.Namespace), pod, pod)
		return
	case len(stacks) == 0 || b.ledger.sharing == ShareNone:
		b.addPod(b.place(object.Ref{}, place, pod.Ref), pod, pod)
		return
	}
	rows := make([]int32, len(stacks))
	for i, stack := range stacks {
		rows[i] = b.place(stack, place, pod.Ref)
	}
	for i, piece := range b.scaledPods(pod, rows) {
		b.addPod(rows[i], &piece, pod)
	}
	b.sharePods(pod, rows)
}

// inOrder returns the stacks of a place in order, each once, as they are charged.
func inOrder(stacks []object.Ref) []object.Ref {
	if len(stacks) < 2 {
		return stacks
	}
	stacks = slices.Clone(stacks)
	slices.SortFunc(stacks, object.Compare)
	return slices.Compact(stacks)
}

// claimOfStacks adds a claim to each of its stacks, in proportion to what each is
// charged for.
func (b *reportBuilder) claimOfStacks(claim *metrics.Claim) {
	shares := b.partsOf(claim.Ref, claim.UID)
	if len(shares) == 0 {
		shares = b.holders(claim)
	}
	slices.SortFunc(shares, b.compareParts)
	weights := make([]decimal.Decimal, len(shares))
	for i := range shares {
		weights[i] = shares[i].weight
	}
	claimed := scaled(claim.Claimed, weights)
	used := scaled(claim.Used, weights)
	for i := range shares {
		piece := metrics.Claim{Ref: claim.Ref, Claimed: claimed[i], Used: used[i], UsedKnown: claim.UsedKnown}
		b.addClaim(shares[i].row, &piece)
		b.rows[shares[i].row].shareWith(ratio(weights, i), shares[i].of)
	}
}
