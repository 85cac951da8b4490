package uistate

import (
	"slices"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
)

// costTree is the exact costs of the places of a stack: of each its own, and the place above it
// (-1 for none), which comes before it.
type costTree struct {
	above []int
	own   []decimal.Decimal
	// charged says that a place has charges of its own, if only of nothing.
	charged []bool
	rest    []decimal.Decimal
}

// roundedTree is what is shown of it, in hundredths.
type roundedTree struct {
	cost, own, rest []int64
	// known says that something is known of the cost of a place.
	known []bool
}

// round shares a total out among the places and the rest: each has its exact cost rounded down or
// up, what is shown of a place is its own and that of those right below it, and the total is what
// is shown of those at the top and of the rest.
func (t *costTree) round(total int64, hours decimal.Decimal, month bool) roundedTree {
	n := len(t.own)
	out := roundedTree{cost: make([]int64, n), own: make([]int64, n), known: slices.Clone(t.charged)}
	exact := slices.Clone(t.own)
	children := make([][]int, n)
	var top []int
	for i := n - 1; i >= 0; i-- {
		if up := t.above[i]; up >= 0 {
			exact[up] = exact[up].Add(exact[i])
			out.known[up] = out.known[up] || out.known[i]
		}
	}
	for i, up := range t.above {
		if up >= 0 {
			children[up] = append(children[up], i)
		} else {
			top = append(top, i)
		}
	}
	parts := make([]decimal.Decimal, 0, len(top)+len(t.rest))
	for _, i := range top {
		parts = append(parts, exact[i])
	}
	shown := shareOut(total, append(parts, t.rest...), hours, month)
	for k, i := range top {
		out.cost[i] = shown[k]
	}
	out.rest = shown[len(top):]
	for i := range n {
		parts := []decimal.Decimal{t.own[i]}
		for _, c := range children[i] {
			parts = append(parts, exact[c])
		}
		shown := shareOut(out.cost[i], parts, hours, month)
		out.own[i] = shown[0]
		for k, c := range children[i] {
			out.cost[c] = shown[k+1]
		}
	}
	return out
}

// nearest is a cost in hundredths, of a month or of the window, rounded half up.
func nearest(exact, hours decimal.Decimal, month bool) int64 {
	if month {
		exact = exact.Mul(decimal.New(cost.HoursPerMonth, 0)).DivRound(hours, 6)
	}
	return exact.Shift(2).Round(0).IntPart()
}

// shareOut shares a total in hundredths out among parts, of which it is the sum rounded down or
// up: each is rounded down or up itself, up where the remainder is largest, and of equal ones
// where the part is larger, or else first.
func shareOut(total int64, parts []decimal.Decimal, hours decimal.Decimal, month bool) []int64 {
	out := make([]int64, len(parts))
	rests := make([]decimal.Decimal, len(parts))
	order := make([]int, len(parts))
	rest := total
	for i, part := range parts {
		if month {
			part = part.Mul(decimal.New(cost.HoursPerMonth, 0))
		} else {
			hours = decimal.New(1, 0)
		}
		var whole decimal.Decimal
		whole, rests[i] = part.Shift(2).QuoRem(hours, 0)
		out[i], order[i] = whole.IntPart(), i
		rest -= out[i]
	}
	slices.SortStableFunc(order, func(x, y int) int {
		if c := rests[y].Cmp(rests[x]); c != 0 {
			return c
		}
		return parts[y].Cmp(parts[x])
	})
	for _, i := range order {
		if rest <= 0 {
			break
		}
		out[i]++
		rest--
	}
	return out
}
