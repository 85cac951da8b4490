package cost

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/shopspring/decimal"
)

// Column is a column of money of a report.
type Column string

// The columns of money.
const (
	// ColumnCost is what the reading cost: the hour of an instant, or the window.
	ColumnCost Column = "cost"
	// ColumnHour is the mean of an hour of the reading.
	ColumnHour Column = "hour"
	// ColumnMonth is that of an hour times HoursPerMonth.
	ColumnMonth Column = "month"
)

// Money is what is shown of a column, by row; Report.Total is one of them. Containers
// are not in it: they have no cost.
type Money map[*Row]decimal.Decimal

// Round rounds a column to a number of decimal places, so that what is shown adds up
// as the exact costs do: that of Total is rounded half up, and what is shown of a row
// is shared out among the rows below by largest remainder, each of them its exact cost
// rounded down or up. Of equal remainders that of the larger cost, then of the first
// by reference and name, is rounded up, whatever the order of the rows.
//
// places may be negative, for tens and hundreds. The result is nil for an hour or a
// month of a report without hours: nothing can be said of it.
func Round(r *Report, column Column, places int32) Money {
	u := unitsOf(r, column, places)
	if u == nil {
		return nil
	}
	m := Money{}
	sum, rest := u.floor(r.Total.Cost)
	if rest.Lsh(rest, 1).Cmp(&u.divisor) >= 0 {
		sum.Add(sum, big.NewInt(1))
	}
	m.set(&r.Total, sum, places)
	m.share(u, sum, r.Rows, places)
	return m
}

func (m Money) set(r *Row, units *big.Int, places int32) {
	m[r] = decimal.NewFromBigInt(units, -places)
}

// share shares what is shown of a row out among those below it.
func (m Money) share(u *units, sum *big.Int, rows []*Row, places int32) {
	if len(rows) == 0 || rows[0].Level == LevelContainer {
		return
	}
	parts := make([]portion, len(rows))
	remainder := new(big.Int).Set(sum)
	for i, row := range rows {
		parts[i].row = row
		parts[i].units, parts[i].rest = u.floor(row.Cost)
		remainder.Sub(remainder, parts[i].units)
	}
	slices.SortFunc(parts, func(x, y portion) int {
		return cmp.Or(y.rest.Cmp(x.rest), y.row.Cost.Cmp(x.row.Cost), compareRows(x.row, y.row))
	})
	one := big.NewInt(1)
	for i := range parts {
		// The remainders add up to less than one a row, so the rows are enough.
		if remainder.Sign() > 0 {
			parts[i].units.Add(parts[i].units, one)
			remainder.Sub(remainder, one)
		}
		m.set(parts[i].row, parts[i].units, places)
		m.share(u, parts[i].units, parts[i].row.Children, places)
	}
}

// portion is what a row gets of what is shared out: whole units, and the rest of a
// unit, in parts of the divisor of units.
type portion struct {
	row         *Row
	units, rest *big.Int
}

// units turn costs into whole units of the last place that is shown: with a cost of c
// times 10^exponent, c times factor by divisor.
type units struct {
	exponent        int32
	factor, divisor big.Int
}

// unitsOf returns the units of a column; nil where there are none.
func unitsOf(r *Report, column Column, places int32) *units {
	u := &units{exponent: lowest(&r.Total, r.Rows)}
	u.factor.SetInt64(1)
	u.divisor.SetInt64(1)
	shift := u.exponent + places
	if column != ColumnCost {
		if !r.Hours.IsPositive() {
			return nil
		}
		if column == ColumnMonth {
			u.factor.SetInt64(HoursPerMonth)
		}
		u.divisor.Set(r.Hours.Coefficient())
		shift -= r.Hours.Exponent()
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(shift, -shift))), nil)
	if shift > 0 {
		u.factor.Mul(&u.factor, power)
	} else {
		u.divisor.Mul(&u.divisor, power)
	}
	return u
}

// lowest is the least decimal exponent of the costs of rows.
func lowest(total *Row, rows []*Row) int32 {
	exponent := total.Cost.Exponent()
	walk(total, rows, func(_ *Row, rows []*Row) {
		for _, row := range rows {
			exponent = min(exponent, row.Cost.Exponent())
		}
	})
	return exponent
}

// floor returns the whole units of a cost, and the rest.
func (u *units) floor(cost decimal.Decimal) (whole, rest *big.Int) {
	whole = cost.Shift(-u.exponent).BigInt()
	whole.Mul(whole, &u.factor)
	return whole.DivMod(whole, &u.divisor, new(big.Int))
}
