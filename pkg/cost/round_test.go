package cost

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// made is a report of rows of given costs below the total, and below the first.
func made(hours string, costs, below []string) *Report {
	rows := func(costs []string) (rows []*Row, sum decimal.Decimal) {
		for i, cost := range costs {
			rows = append(rows, &Row{Level: LevelStack, Ref: object.Ref{Kind: "Shop", Name: string(rune('a' + i))}, Cost: dec(cost)})
			sum = sum.Add(dec(cost))
		}
		return rows, sum
	}
	r := &Report{Hours: dec(hours)}
	r.Rows, r.Total.Cost = rows(costs)
	r.Rows[0].Children, _ = rows(below)
	return r
}

func TestRound(t *testing.T) {
	for name, test := range map[string]struct {
		column       Column
		hours        string
		places       int32
		costs, below []string
		want         string
	}{
		"thirds":          {ColumnCost, "1", 2, []string{"0.333333", "0.333333", "0.333334"}, nil, "1.00: 0.33 0.33 0.34"},
		"ties":            {ColumnCost, "1", 2, []string{"0.005", "0.005", "0.005", "0.005"}, nil, "0.02: 0.01 0.01 0.00 0.00"},
		"larger cost":     {ColumnCost, "1", 0, []string{"0.5", "1.5"}, nil, "2: 0 2"},
		"half up":         {ColumnCost, "1", 1, []string{"0.05"}, nil, "0.1: 0.1"},
		"two levels":      {ColumnCost, "1", 1, []string{"0.26", "0.28"}, []string{"0.13", "0.13"}, "0.5: 0.2 0.3; 0.1 0.1"},
		"up, and below":   {ColumnCost, "1", 1, []string{"0.28", "0.26"}, []string{"0.14", "0.14"}, "0.5: 0.3 0.2; 0.2 0.1"},
		"an hour":         {ColumnHour, "24", 2, []string{"12", "24", "0"}, nil, "1.50: 0.50 1.00 0.00"},
		"an hour of 3":    {ColumnHour, "3", 2, []string{"1", "1"}, nil, "0.67: 0.34 0.33"},
		"a month":         {ColumnMonth, "1", 2, []string{"0.01", "0.02"}, nil, "21.90: 7.30 14.60"},
		"a month of 1.5h": {ColumnMonth, "1.5", 0, []string{"1", "2"}, nil, "1460: 487 973"},
		"tens":            {ColumnCost, "1", -1, []string{"14", "13", "9"}, nil, "40: 20 10 10"},
		"exact":           {ColumnCost, "1", 6, []string{"0.1", "12"}, nil, "12.100000: 0.100000 12.000000"},
	} {
		t.Run(name, func(t *testing.T) {
			r := made(test.hours, test.costs, test.below)
			m := Round(r, test.column, test.places)
			show := func(row *Row) string { return m[row].StringFixed(max(test.places, 0)) }
			got := show(&r.Total) + ":"
			for _, row := range r.Rows {
				got += " " + show(row)
			}
			for i, row := range r.Rows[0].Children {
				if i == 0 {
					got += ";"
				}
				got += " " + show(row)
			}
			if got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
	if m := Round(made("0", []string{"1"}, nil), ColumnMonth, 2); m != nil {
		t.Errorf("a month of no hours: %v", m)
	}
}

// What is shown adds up at every level, is the exact figure rounded down or up, and
// does not depend on the order of the rows. It holds for what a limit leaves, too.
func TestRoundAddsUp(t *testing.T) {
	eachWorld(t, func(t *testing.T, rng *rand.Rand, w world, _ Grouping, r *Report) {
		column := []Column{ColumnCost, ColumnHour, ColumnMonth}[rng.IntN(3)]
		places := int32(rng.IntN(7))
		m := Round(r, column, places)
		factor, divisor := decimal.NewFromInt(1), w.reading.Hours
		switch column {
		case ColumnMonth:
			factor = decimal.NewFromInt(HoursPerMonth)
		case ColumnCost:
			divisor = factor
		case ColumnHour:
		}
		if want := r.Total.Cost.Mul(factor).DivRound(divisor, places); !m[&r.Total].Equal(want) {
			t.Errorf("total %s, want %s", m[&r.Total], want)
		}
		checkMoney(t, r, m)
		unit := decimal.New(1, -places)
		for row, shown := range m {
			if off := shown.Mul(divisor).Sub(row.Cost.Mul(factor)).Abs(); off.GreaterThanOrEqual(unit.Mul(divisor)) {
				t.Errorf("%s%s of %s %s shows %s", row.Ref, row.Name, row.Cost, column, shown)
			}
		}
		before := fmt.Sprint(shownTexts(r, m))
		if err := Sort(r, SortKeys()[rng.IntN(len(SortKeys()))]); err != nil {
			t.Fatal(err)
		}
		again := Round(r, column, places)
		for row, shown := range m {
			if !again[row].Equal(shown) {
				t.Errorf("sorted, %s%s shows %s, before %s of %s", row.Ref, row.Name, again[row], shown, before)
			}
		}
		small := Limit(r, 1+rng.IntN(3), rng.IntN(4))
		checkMoney(t, small, Round(small, column, places))
	})
}

func shownTexts(r *Report, m Money) []string {
	out := []string{m[&r.Total].String()}
	walk(&r.Total, r.Rows, func(_ *Row, rows []*Row) {
		for _, row := range rows {
			out = append(out, m[row].String())
		}
	})
	return out
}

// checkMoney compares what is shown of each row with the sum of what is shown below.
func checkMoney(t *testing.T, r *Report, m Money) {
	t.Helper()
	walk(&r.Total, r.Rows, func(above *Row, rows []*Row) {
		var sum decimal.Decimal
		for _, row := range rows {
			shown, ok := m[row]
			if ok == (row.Level == LevelContainer) {
				t.Errorf("%s %s%s is shown: %t", row.Level, row.Ref, row.Name, ok)
			}
			sum = sum.Add(shown)
		}
		if rows[0].Level != LevelContainer && !sum.Equal(m[above]) {
			t.Errorf("%s%s shows %s, below it %s", above.Ref, above.Name, m[above], sum)
		}
	})
}
