package uistate

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// TestRoundedTree holds of random trees that what is shown adds up at every place, that each part is
// its exact cost rounded down or up, and that the same tree is shown in the same way.
func TestRoundedTree(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		tree, exact := randomTree(rnd)
		hours, month := decimal.New(1, 0), rnd.IntN(2) == 0
		if month {
			hours = decimal.New(int64(1+rnd.IntN(5)), int32(-rnd.IntN(2)))
		}
		shown := func(d decimal.Decimal) decimal.Decimal {
			if month {
				d = d.Mul(decimal.New(cost.HoursPerMonth, 0)).DivRound(hours, 20)
			}
			return d.Shift(2)
		}
		var sum decimal.Decimal
		for i, up := range tree.above {
			if up < 0 {
				sum = sum.Add(exact[i])
			}
		}
		for _, d := range tree.rest {
			sum = sum.Add(d)
		}
		total := shown(sum).Round(0).IntPart()
		out := tree.round(total, hours, month)
		if again := tree.round(total, hours, month); !slices.Equal(again.cost, out.cost) || !slices.Equal(again.own, out.own) || !slices.Equal(again.rest, out.rest) {
			t.Fatal("it is rounded in two ways")
		}
		top := int64(0)
		below := slices.Clone(out.own)
		for i, up := range tree.above {
			if up < 0 {
				top += out.cost[i]
			} else {
				below[up] += out.cost[i]
			}
			near(t, out.cost[i], shown(exact[i]))
			near(t, out.own[i], shown(tree.own[i]))
		}
		for i, n := range out.rest {
			top += n
			near(t, n, shown(tree.rest[i]))
		}
		if top != total || !slices.Equal(below, out.cost) {
			t.Fatalf("the total is %d, its parts are %d; %v are made of %v", total, top, out.cost, below)
		}
	}
}

func near(t *testing.T, n int64, exact decimal.Decimal) {
	t.Helper()
	if decimal.NewFromInt(n).Sub(exact).Abs().GreaterThanOrEqual(decimal.New(1, 0)) {
		t.Fatalf("%s is shown as %d", exact, n)
	}
}

// randomTree also returns the exact cost of each place with what is below it.
func randomTree(rnd *rand.Rand) (*costTree, []decimal.Decimal) {
	n := 1 + rnd.IntN(30)
	tree := &costTree{charged: make([]bool, n)}
	amount := func() decimal.Decimal {
		if rnd.IntN(3) == 0 {
			return decimal.Decimal{}
		}
		return decimal.New(rnd.Int64N(1_000_000_000), int32(-6-rnd.IntN(8)))
	}
	for i := range n {
		up := -1
		if i > 0 && rnd.IntN(8) > 0 {
			up = rnd.IntN(i)
		}
		tree.above, tree.own = append(tree.above, up), append(tree.own, amount())
		tree.charged[i] = !tree.own[i].IsZero()
	}
	for range rnd.IntN(3) {
		tree.rest = append(tree.rest, amount())
	}
	exact := slices.Clone(tree.own)
	for i := n - 1; i >= 0; i-- {
		if up := tree.above[i]; up >= 0 {
			exact[up] = exact[up].Add(exact[i])
		}
	}
	return tree, exact
}

// TestKnownCosts holds that of what nothing was charged for nothing is said.
func TestKnownCosts(t *testing.T) {
	tree := &costTree{above: []int{-1, 0, 1, 0}, own: make([]decimal.Decimal, 4), charged: []bool{false, false, true, false}}
	if got := tree.round(0, decimal.New(1, 0), true).known; !slices.Equal(got, []bool{true, true, true, false}) {
		t.Errorf("%v", got)
	}
}

func TestNumbering(t *testing.T) {
	n := NewNumbering()
	a, b := object.Ref{Kind: "Pod", Name: "a"}, object.Ref{Kind: "Pod", Name: "b"}
	if n.nodes.indexOf(b) != 0 || n.nodes.indexOf(a) != 1 || n.nodes.indexOf(b) != 0 || n.namespaces.indexOf("") != 0 {
		t.Error("numbers are given twice, or in another order")
	}
	list := n.nodes.list()
	n.nodes.indexOf(object.Ref{Kind: "Pod", Name: "c"})
	if len(list) != 2 {
		t.Error("what a Picture keeps has changed")
	}
}

func TestShareText(t *testing.T) {
	charge := func(resource, share, price string, of int) *cost.Charge {
		return &cost.Charge{Resource: "cpu", Share: decimal.RequireFromString(share), Cost: decimal.RequireFromString(price), Of: of, SKU: resource}
	}
	for want, charges := range map[string][]*cost.Charge{
		"":     {charge("cpu", "1", "3", 1)},
		"1/3":  {charge("cpu", "0.333333333333", "1", 3)},
		"2/3":  {charge("cpu", "0.333333333333", "1", 3), charge("cpu", "0.333333333334", "1", 3)},
		"1/4":  {charge("cpu", "0.25", "0", 4)},
		"37 %": {charge("cpu", "0.37", "1", 2)},
	} {
		if got := shareText(charges); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
