package cost

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/shopspring/decimal"
)

// places is how many decimal places a quantity has at most. It is split in whole
// units of the last of them.
const places = 12

// split divides a quantity in proportion to weights, by largest remainder: each part
// is less than a unit of 10^-12 away from its exact proportion, and the parts add up
// to the whole. Of equal remainders the first in the list is served first, so the
// weights come in an order that depends on nothing but who they belong to. Weights
// below zero are taken for zero; where all are zero the parts are even.
//
// The whole is not negative and has at most 12 decimal places.
func split(whole decimal.Decimal, weights []decimal.Decimal) []decimal.Decimal {
	switch len(weights) {
	case 0:
		return nil
	case 1:
		return []decimal.Decimal{whole}
	}
	total := whole.Shift(places).BigInt()
	ratios, sum := integers(weights)
	if sum.Sign() == 0 {
		return splitEvenly(total, len(weights))
	}
	parts := make([]*big.Int, len(weights))
	remainders := make([]*big.Int, len(weights))
	rest := new(big.Int).Set(total)
	for i, ratio := range ratios {
		product := ratio.Mul(ratio, total)
		parts[i], remainders[i] = new(big.Int).QuoRem(product, sum, new(big.Int))
		rest.Sub(rest, parts[i])
	}
	if units := int(rest.Int64()); units > 0 {
		one := big.NewInt(1)
		for _, i := range byRemainder(remainders)[:units] {
			parts[i].Add(parts[i], one)
		}
	}
	out := make([]decimal.Decimal, len(parts))
	for i, part := range parts {
		out[i] = decimal.NewFromBigInt(part, -places)
	}
	return out
}

// splitEvenly divides units of 10^-12 in n parts. There are two sizes of them at most.
func splitEvenly(total *big.Int, n int) []decimal.Decimal {
	part, rest := new(big.Int).QuoRem(total, big.NewInt(int64(n)), new(big.Int))
	small := decimal.NewFromBigInt(part, -places)
	large := decimal.NewFromBigInt(part.Add(part, big.NewInt(1)), -places)
	out := make([]decimal.Decimal, n)
	for i := range out {
		out[i] = small
		if int64(i) < rest.Int64() {
			out[i] = large
		}
	}
	return out
}

// integers returns the weights in one common unit, and their sum.
func integers(weights []decimal.Decimal) (ratios []*big.Int, sum *big.Int) {
	var exponent int32
	for _, w := range weights {
		exponent = min(exponent, w.Exponent())
	}
	ratios, sum = make([]*big.Int, len(weights)), new(big.Int)
	for i, w := range weights {
		ratios[i] = new(big.Int)
		if w.IsPositive() {
			ratios[i] = w.Shift(-exponent).BigInt()
		}
		sum.Add(sum, ratios[i])
	}
	return ratios, sum
}

// byRemainder returns the indices of remainders, the largest first.
func byRemainder(remainders []*big.Int) []int {
	order := make([]int, len(remainders))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(remainders[j].Cmp(remainders[i]), cmp.Compare(i, j))
	})
	return order
}
