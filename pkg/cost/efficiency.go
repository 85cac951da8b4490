package cost

import (
	"math/big"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// efficiencyPlaces is how many places an efficiency has.
const efficiencyPlaces = 6

// rated are the resources that efficiency is said of, by their keys in Row.Costs as
// well.
func rated() [2]metrics.Resource { return [2]metrics.Resource{metrics.CPU, metrics.Memory} }

// unmeasured is what a row sums up of things whose usage or request is unknown, by the
// resources of rated: of these nothing can be said.
type unmeasured [2]struct{ used, requested, cost decimal.Decimal }

// unseen returns what is blind in the row of a pod; nil where all is known.
func (r *Row) unseen() *unmeasured {
	var b *unmeasured
	for i, resource := range rated() {
		used, measured := r.Used.Lookup(resource)
		requested, known := r.Requested.Lookup(resource)
		cost, paid := r.Costs.Lookup(resource)
		if measured && known && r.Measured == r.Pods || !measured && !known && !paid {
			continue
		}
		if b == nil {
			b = &unmeasured{}
		}
		b[i].used, b[i].requested, b[i].cost = used, requested, cost
	}
	return b
}

// plus adds what is blind of two rows, either of which may be nil.
func (b *unmeasured) plus(o *unmeasured) *unmeasured {
	if o == nil {
		return b
	}
	var sum unmeasured
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
func (r *Row) efficiency(q *quotient) *decimal.Decimal {
	q.reset()
	for i, resource := range rated() {
		cost := r.Costs.Value(resource)
		used, requested := r.Used.Value(resource), r.Requested.Value(resource)
		if r.blind != nil {
			used, requested, cost = used.Sub(r.blind[i].used), requested.Sub(r.blind[i].requested), cost.Sub(r.blind[i].cost)
		}
		switch {
		case !cost.IsPositive():
		case requested.IsPositive():
			q.add(cost, used, requested)
		default:
			// Something by nothing is 1; nothing by nothing is 0.
			used = decimal.NewFromInt(int64(used.Sign()))
			q.add(cost, used, decimal.NewFromInt(1))
		}
	}
	return q.round(efficiencyPlaces)
}

// quotient is the mean of some ratios, by their weights, worked out exactly in whole
// numbers: the sum of weight times ratio is top/bottom. It keeps its numbers for the
// next use, since every row asks for one.
type quotient struct {
	top, bottom, weight     big.Int
	exponent                int32 // the decimal one of top/bottom and of weight
	empty                   bool
	w, t, dividend, divisor big.Int
	ten                     scaler
}

func (q *quotient) reset() {
	q.top.SetInt64(0)
	q.bottom.SetInt64(1)
	q.weight.SetInt64(0)
	q.empty = true
}

// add adds a weight, and a ratio by it.
func (q *quotient) add(weight, dividend, divisor decimal.Decimal) {
	exponent := weight.Exponent()
	whole(&q.w, weight)
	if q.empty {
		q.exponent, q.empty = exponent, false
	}
	if exponent > q.exponent {
		q.ten.scale(&q.w, exponent-q.exponent)
	} else if exponent < q.exponent {
		q.ten.scale(&q.weight, q.exponent-exponent)
		q.ten.scale(&q.top, q.exponent-exponent)
		q.exponent = exponent
	}
	whole(&q.dividend, dividend)
	whole(&q.divisor, divisor)
	if shift := dividend.Exponent() - divisor.Exponent(); shift > 0 {
		q.ten.scale(&q.dividend, shift)
	} else {
		q.ten.scale(&q.divisor, -shift)
	}
	q.weight.Add(&q.weight, &q.w)
	q.t.Mul(&q.w, &q.dividend)
	q.w.Mul(&q.t, &q.bottom)
	q.t.Mul(&q.top, &q.divisor)
	q.top.Add(&q.w, &q.t)
	q.t.Mul(&q.bottom, &q.divisor)
	q.bottom.Set(&q.t)
}

// round returns the mean, rounded half up; nil where nothing was added.
func (q *quotient) round(places int32) *decimal.Decimal {
	if q.weight.Sign() == 0 {
		return nil
	}
	q.t.Mul(&q.bottom, &q.weight)
	q.ten.scale(&q.top, places)
	// (2 top + bottom) / (2 bottom)
	q.w.Lsh(&q.top, 1)
	q.w.Add(&q.w, &q.t)
	q.t.Lsh(&q.t, 1)
	q.dividend.QuoRem(&q.w, &q.t, &q.divisor)
	ratio := decimal.NewFromBigInt(&q.dividend, -places)
	return &ratio
}
