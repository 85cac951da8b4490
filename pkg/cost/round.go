package cost

import "github.com/shopspring/decimal"

func Round(r *Report, places int32, of func(*Row) decimal.Decimal) map[*Row]decimal.Decimal {
	m := map[*Row]decimal.Decimal{}
	var walk func(rows []*Row)
	walk = func(rows []*Row) {
		for _, x := range rows {
			m[x] = of(x).Round(places)
			walk(x.Below)
		}
	}
	walk(r.Rows)
	m[&r.Total] = of(&r.Total).Round(places)
	return m
}
