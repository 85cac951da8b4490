package metrics

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

// Amounts are quantities by resource, in order of their names. A resource that is absent is
// unknown.
//
// In a Reading they are integrals over its time: cores, bytes or pieces times
// hours. An instant is taken for one hour at its rate, so that its amounts are its
// rates as well: 0.25 core-hours are 0.25 cores. Network traffic alone is in plain
// bytes.
//
// What changes amounts makes new ones, so that many things may share them.
type Amounts []Amount

// Amount is the quantity of one resource.
type Amount struct {
	Resource Resource
	Value    decimal.Decimal
}

// AmountsOf returns the amounts of a map.
func AmountsOf(values map[Resource]decimal.Decimal) Amounts {
	if len(values) == 0 {
		return nil
	}
	out := make(Amounts, 0, len(values))
	for _, r := range slices.Sorted(maps.Keys(values)) {
		out = append(out, Amount{r, values[r]})
	}
	return out
}

// find returns the index of a resource, or where it would be.
func (a Amounts) find(r Resource) (int, bool) {
	for i := range a {
		if c := strings.Compare(string(a[i].Resource), string(r)); c >= 0 {
			return i, c == 0
		}
	}
	return len(a), false
}

// Lookup returns the amount of a resource, and whether it is known.
func (a Amounts) Lookup(r Resource) (decimal.Decimal, bool) {
	if i, known := a.find(r); known {
		return a[i].Value, true
	}
	return decimal.Decimal{}, false
}

// Value returns the amount of a resource, 0 where it is unknown.
func (a Amounts) Value(r Resource) decimal.Decimal {
	value, _ := a.Lookup(r)
	return value
}

// Text writes an amount in full; empty where it is unknown.
func (a Amounts) Text(r Resource) string {
	if v, ok := a.Lookup(r); ok {
		return v.String()
	}
	return ""
}

// All iterates over the amounts, in order.
func (a Amounts) All() iter.Seq2[Resource, decimal.Decimal] {
	return func(yield func(Resource, decimal.Decimal) bool) {
		for i := range a {
			if !yield(a[i].Resource, a[i].Value) {
				return
			}
		}
	}
}

// Set sets the amount of a resource.
func (a *Amounts) Set(r Resource, value decimal.Decimal) {
	at, known := a.find(r)
	rest := (*a)[at:]
	if known {
		rest = rest[1:]
	}
	out := make(Amounts, 0, at+1+len(rest))
	*a = append(append(append(out, (*a)[:at]...), Amount{r, value}), rest...)
}

// Add adds to the amount of a resource, which is known then.
func (a *Amounts) Add(r Resource, value decimal.Decimal) {
	if known, ok := a.Lookup(r); ok {
		value = known.Add(value)
	}
	a.Set(r, value)
}

// Without returns the amounts of all other resources.
func (a Amounts) Without(resources ...Resource) Amounts {
	gone := func(x Amount) bool { return slices.Contains(resources, x.Resource) }
	if !slices.ContainsFunc(a, gone) {
		return a
	}
	return slices.DeleteFunc(slices.Clone(a), gone)
}

// with returns amounts with others that they do not have.
func (a Amounts) with(more Amounts) Amounts {
	for r, value := range more.All() {
		if _, known := a.Lookup(r); !known {
			a.Set(r, value)
		}
	}
	return a
}
