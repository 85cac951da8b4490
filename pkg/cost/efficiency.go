package cost

import (
	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// efficiencyPlaces is how many places an efficiency has.
const efficiencyPlaces = 6

// rated are the resources that efficiency is said of, by their keys in Row.Costs as
// well.
func rated() [2]metrics.Resource { return [2]metrics.Resource{metrics.CPU, metrics.Memory} }

// blind is what a row sums up of things whose usage or request is not known, by the
// resources of rated: of these nothing can be said.
type blind [2]struct{ used, requested, cost decimal.Decimal }

// unseen returns what is blind in the row of a pod; nil where all is known.
func (r *Row) unseen() *blind {
	var b *blind
	for i, resource := range rated() {
		used, measured := r.Used[resource]
		requested, known := r.Requested[resource]
		if measured && known && r.Measured == r.Pods {
			continue
		}
		if b == nil {
			b = &blind{}
		}
		b[i].used, b[i].requested, b[i].cost = used, requested, r.Costs[string(resource)]
	}
	return b
}

// plus adds what is blind of two rows, either of which may be nil.
func (b *blind) plus(o *blind) *blind {
	if o == nil {
		return b
	}
	var sum blind
	if b != nil {
		sum = *b
	}
	for i := range sum {
		sum[i].used = sum[i].used.Add(o[i].used)
		sum[i].requested = sum[i].requested.Add(o[i].requested)
		sum[i].cost = sum[i].cost.Add(o[i].cost)
	}
	return &sum
}

// efficiency is used by requested of CPU and of memory, 1 where something is used and
// nothing requested, weighted by what each costs (source: OpenCost,
// Allocation.TotalEfficiency). Pods that are not measured are left out, of the cost
// too. It is nil where nothing is left, or where that costs nothing.
func (r *Row) efficiency() *decimal.Decimal {
	var weighted, weight decimal.Decimal
	for i, resource := range rated() {
		used, requested, cost := r.Used[resource], r.Requested[resource], r.Costs[string(resource)]
		if r.blind != nil {
			used, requested, cost = used.Sub(r.blind[i].used), requested.Sub(r.blind[i].requested), cost.Sub(r.blind[i].cost)
		}
		if !cost.IsPositive() {
			continue
		}
		weight = weight.Add(cost)
		switch {
		case requested.IsPositive():
			// Divided late, to more places than are kept.
			weighted = weighted.Add(cost.Mul(used).DivRound(requested, costPlaces(cost)))
		case used.IsPositive():
			weighted = weighted.Add(cost)
		}
	}
	if weight.IsZero() {
		return nil
	}
	ratio := weighted.DivRound(weight, efficiencyPlaces)
	return &ratio
}

// costPlaces is to how many places a product with a cost is worked out, so that the
// ratio to the cost is right to more places than efficiencyPlaces.
func costPlaces(cost decimal.Decimal) int32 {
	digits := int32(cost.NumDigits()) + cost.Exponent()
	return 2*efficiencyPlaces - min(digits, 0) + 2
}
