package cost

import (
	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// soloUsage is what a stack has alone: pods of no other stack, and none that all share.
type soloUsage struct {
	// amounts are used or requested, as the sharing asks; what no pod knows is absent.
	amounts metrics.Amounts
	// cost is of CPU and memory.
	cost decimal.Decimal
}

// weights returns the weights of stacks for what they share of a resource, in their
// order; all are zero where it is to be split evenly.
func (a *allocator) weights(stacks []object.Ref, res metrics.Resource) []decimal.Decimal {
	weights := make([]decimal.Decimal, len(stacks))
	if len(stacks) < 2 {
		return weights
	}
	switch a.options.Sharing {
	case ShareWeight:
		for i, stack := range stacks {
			weight, ok := a.placement.Weights[stack]
			if !ok {
				weight = a.one
			}
			weights[i] = weight
		}
	case ShareUsage, ShareRequests:
		a.soloWeights(weights, stacks, res)
	}
	return weights
}

// soloWeights fills in the weights by what each stack has alone. Volumes and load
// balancers have no usage to compare, nor traffic a request: they go by the cost of
// CPU and memory. A stack that has nothing of its own weighs nothing. One that has
// weighs what is known of it; where no usage is, all weigh the same, and a note tells
// it. What is not requested is no gap: it is zero.
func (a *allocator) soloWeights(weights []decimal.Decimal, stacks []object.Ref, res metrics.Resource) {
	if a.standings == nil {
		a.stand()
	}
	byCost := res == metrics.Storage || res == LoadBalancer ||
		a.options.Sharing == ShareRequests && (res == metrics.Received || res == metrics.Sent)
	for i, stack := range stacks {
		own := a.standings[stack]
		if own == nil {
			continue
		}
		if byCost {
			weights[i] = own.cost
			continue
		}
		amount, known := own.amounts.Lookup(res)
		if !known && a.options.Sharing == ShareUsage && !res.IsExtended() {
			a.note(metrics.Note{
				Subject: stack.String(), Reason: "Gap",
				Message: "its usage of " + string(res) + " is unknown: its shared cost is split evenly",
			})
			clear(weights)
			return
		}
		weights[i] = amount
	}
}

// stand sums up what each stack has alone. It is called when all that is alone has
// been charged, and nothing else yet.
func (a *allocator) stand() {
	a.standings = map[object.Ref]*soloUsage{}
	for i := range a.reading.Pods {
		pod := &a.reading.Pods[i]
		stacks := a.stacksOf(pod.Ref)
		if len(stacks) != 1 || a.isCommon(pod.Ref) {
			continue
		}
		own := a.standings[stacks[0]]
		if own == nil {
			own = &soloUsage{}
			a.standings[stacks[0]] = own
		}
		a.addAlone(&own.amounts, pod)
	}
	for i := range a.charges {
		c := &a.charges[i]
		own := a.standings[c.Stack]
		if own != nil && c.Kind == Used && (c.Resource == metrics.CPU || c.Resource == metrics.Memory) {
			own.cost = own.cost.Add(c.Cost)
		}
	}
}

// addAlone adds what a pod uses or requests. The use of extended resources is not measured: a pod
// that requests them uses them. The traffic of a whole node belongs to no pod.
func (a *allocator) addAlone(sum *metrics.Amounts, pod *metrics.Pod) {
	if a.options.Sharing == ShareRequests {
		addKnown(sum, pod.Requested, func(metrics.Resource) bool { return true })
		return
	}
	addKnown(sum, pod.Used, func(res metrics.Resource) bool {
		return !pod.HostNetwork || res != metrics.Received && res != metrics.Sent
	})
	addKnown(sum, pod.Requested, func(res metrics.Resource) bool {
		_, measured := pod.Used.Lookup(res)
		return !measured && res.IsExtended()
	})
}

func addKnown(sum *metrics.Amounts, amounts metrics.Amounts, want func(metrics.Resource) bool) {
	for res, amount := range amounts.All() {
		if want(res) && !amount.IsNegative() {
			sum.Add(res, amount)
		}
	}
}
