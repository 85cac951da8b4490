package cost

import (
	"math/big"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// totals sums rows up. It keeps its numbers for the next row: a sum of ten thousand
// decimals makes none but the last.
type totals struct {
	used, requested, limited, claimed, counters, costs adder
	quotient                                           quotient
}

// sum sets the pods, the amounts and the costs of a row to the sums of other rows. What
// is of one row alone is shared with it.
func (t *totals) sum(r *Row, rows []*Row) {
	r.Pods, r.Measured, r.Gap, r.HostNetwork, r.blind = 0, 0, 0, true, nil
	for _, o := range rows {
		r.Pods += o.Pods
		r.Measured += o.Measured
		r.Gap = max(r.Gap, o.Gap)
		r.HostNetwork = r.HostNetwork && (o.HostNetwork || o.Pods == 0)
		r.blind = r.blind.plus(o.blind)
		t.used.add(o.Used)
		t.requested.add(o.Requested)
		t.limited.add(o.Limited)
		t.claimed.add(o.Claimed)
		t.counters.add(o.Counters)
		t.costs.add(o.Costs)
	}
	r.HostNetwork = r.HostNetwork && r.Pods > 0
	r.Used, r.Requested, r.Limited = t.used.take(), t.requested.take(), t.limited.take()
	r.Claimed, r.Counters, r.Costs = t.claimed.take(), t.counters.take(), t.costs.take()
	for _, resource := range bounded() {
		if _, ok := r.Limited.Lookup(resource); ok && unlimited(rows, resource) {
			r.Limited = r.Limited.Without(resource)
		}
	}
}

// unlimited says that pods of some row have no limit for a resource.
func unlimited(rows []*Row, resource metrics.Resource) bool {
	for _, row := range rows {
		if _, ok := row.Limited.Lookup(resource); !ok && row.Pods > 0 {
			return true
		}
	}
	return false
}

// settle works out what follows from the sums of a row.
func (t *totals) settle(r *Row) {
	r.Cost = decimal.Decimal{}
	for _, cost := range r.Costs.All() {
		if len(r.Costs) == 1 {
			r.Cost = cost
			break
		}
		t.costs.plus("", cost)
	}
	if len(r.Costs) > 1 {
		r.Cost = t.costs.slots[0].sum()
		t.costs.slots = t.costs.slots[:0]
	}
	r.Efficiency = r.efficiency(&t.quotient)
}

// adder sums amounts up by key, exactly.
type adder struct {
	slots []slot
	// only is the sum, as long as there is one set of amounts in it.
	only metrics.Amounts
	term big.Int
	ten  scaler
}

// slot is the sum of a key: units times 10^exponent.
type slot struct {
	key      metrics.Resource
	units    big.Int
	exponent int32
}

func (s *slot) sum() decimal.Decimal { return decimal.NewFromBigInt(&s.units, s.exponent) }

// add adds amounts.
func (a *adder) add(amounts metrics.Amounts) {
	if len(amounts) == 0 {
		return
	}
	if a.only == nil && len(a.slots) == 0 {
		a.only = amounts
		return
	}
	if a.only != nil {
		for key, amount := range a.only.All() {
			a.plus(key, amount)
		}
		a.only = nil
	}
	for key, amount := range amounts.All() {
		a.plus(key, amount)
	}
}

// plus adds an amount of a key.
func (a *adder) plus(key metrics.Resource, amount decimal.Decimal) {
	whole(&a.term, amount)
	exponent := amount.Exponent()
	for i := range a.slots {
		s := &a.slots[i]
		if s.key != key {
			continue
		}
		if exponent < s.exponent {
			a.ten.scale(&s.units, s.exponent-exponent)
			s.exponent = exponent
		} else {
			a.ten.scale(&a.term, exponent-s.exponent)
		}
		s.units.Add(&s.units, &a.term)
		return
	}
	// A slot that was used before brings the room of its number.
	if n := len(a.slots); n < cap(a.slots) {
		a.slots = a.slots[:n+1]
	} else {
		a.slots = append(a.slots, slot{})
	}
	s := &a.slots[len(a.slots)-1]
	s.key, s.exponent = key, exponent
	s.units.Set(&a.term)
}

// take returns the sums, or nil if there are none, and resets the adder.
func (a *adder) take() metrics.Amounts {
	sums := a.only
	if len(a.slots) > 0 {
		sums = nil
		for i := range a.slots {
			sums.Set(a.slots[i].key, a.slots[i].sum())
		}
	}
	a.slots, a.only = a.slots[:0], nil
	return sums
}

// scaler multiplies numbers by powers of ten, without making any.
type scaler struct{ power, product big.Int }

// scale multiplies a number by a power of ten, by what fits a word at a time.
func (s *scaler) scale(n *big.Int, power int32) {
	const step = 18
	for ; power > 0; power -= step {
		factor := uint64(1)
		for range min(power, step) {
			factor *= 10
		}
		s.power.SetUint64(factor)
		s.product.Mul(n, &s.power)
		n.Set(&s.product)
	}
}

// whole sets a number to the coefficient of a decimal, without a copy where it is
// small.
func whole(n *big.Int, d decimal.Decimal) {
	if d.NumDigits() <= 18 {
		n.SetInt64(d.CoefficientInt64())
		return
	}
	n.Set(d.Coefficient())
}
