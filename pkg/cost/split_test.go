package cost

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/shopspring/decimal"
)

func dec(s string) decimal.Decimal { return decimal.RequireFromString(s) }

func decs(texts ...string) []decimal.Decimal {
	out := make([]decimal.Decimal, len(texts))
	for i, s := range texts {
		out[i] = dec(s)
	}
	return out
}

func TestSplit(t *testing.T) {
	for _, tc := range []struct {
		name, whole   string
		weights, want []string
	}{
		{"alone", "7.123456789012", []string{"0"}, []string{"7.123456789012"}},
		{"thirds of one: the first is served first", "1", []string{"1", "1", "1"}, []string{"0.333333333334", "0.333333333333", "0.333333333333"}},
		{"two units among three", "0.000000000002", []string{"1", "1", "1"}, []string{"0.000000000001", "0.000000000001", "0"}},
		{"the largest remainder is served first", "0.000000000003", []string{"1", "3"}, []string{"0.000000000001", "0.000000000002"}},
		{"by weight", "8", []string{"3", "1"}, []string{"6", "2"}},
		{"fractions as weights", "8", []string{"0.75", "0.25"}, []string{"6", "2"}},
		{"weights of very different places", "1", []string{"1", "0.000000000000000001"}, []string{"1", "0"}},
		{"a weight of zero pays nothing", "1", []string{"0", "2", "0"}, []string{"0", "1", "0"}},
		{"no weights: even", "1", []string{"0", "0"}, []string{"0.5", "0.5"}},
		{"below zero is zero", "1", []string{"-5", "1"}, []string{"0", "1"}},
		{"all below zero: even", "1", []string{"-5", "-1"}, []string{"0.5", "0.5"}},
		{"nothing", "0", []string{"1", "2"}, []string{"0", "0"}},
		{"a large exponent", "1", []string{"1e30", "3e30"}, []string{"0.25", "0.75"}},
		{"a large whole", "3e40", []string{"1", "2"}, []string{"1e40", "2e40"}},
		{"nobody", "5", nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := split(dec(tc.whole), decs(tc.weights...))
			if !slices.EqualFunc(got, decs(tc.want...), decimal.Decimal.Equal) {
				t.Errorf("split(%s, %v) = %v, want %v", tc.whole, tc.weights, got, tc.want)
			}
		})
	}
}

// The parts add up to the whole, and each is less than a unit off its proportion, as
// exact fractions tell it.
func TestSplitIsExactAndNear(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	unit := big.NewRat(1, 1_000_000_000_000)
	for range 3000 {
		whole := decimal.New(rnd.Int64N(1<<rnd.IntN(62)+1), -int32(rnd.IntN(places+1)))
		weights := make([]decimal.Decimal, 1+rnd.IntN(9))
		sum := new(big.Rat)
		for i := range weights {
			if rnd.IntN(4) > 0 {
				weights[i] = decimal.New(rnd.Int64N(1<<rnd.IntN(62)+1), int32(rnd.IntN(25)-20))
			}
			sum.Add(sum, weights[i].Rat())
		}
		parts := split(whole, weights)
		var total decimal.Decimal
		for i, part := range parts {
			total = total.Add(part)
			if part.IsNegative() || part.Exponent() < -places {
				t.Fatalf("split(%s, %v): part %s", whole, weights, part)
			}
			if sum.Sign() == 0 {
				continue
			}
			exact := new(big.Rat).Mul(whole.Rat(), weights[i].Rat())
			exact.Quo(exact, sum)
			if exact.Sub(exact, part.Rat()).Abs(exact).Cmp(unit) >= 0 {
				t.Fatalf("split(%s, %v): part %d is %s, off by %s", whole, weights, i, part, exact.FloatString(20))
			}
			if weights[i].IsZero() && !part.IsZero() {
				t.Fatalf("split(%s, %v): part %d of no weight is %s", whole, weights, i, part)
			}
		}
		if !total.Equal(whole) {
			t.Fatalf("split(%s, %v) = %v, which add up to %s", whole, weights, parts, total)
		}
	}
}

// Only the proportions count, and a larger weight never has the smaller part.
func TestSplitFollowsWeights(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		whole := decimal.New(rnd.Int64N(1e15), -places)
		weights := make([]decimal.Decimal, 2+rnd.IntN(6))
		scaled := make([]decimal.Decimal, len(weights))
		factor := decimal.New(1+rnd.Int64N(1000), -int32(rnd.IntN(4)))
		for i := range weights {
			weights[i] = decimal.New(rnd.Int64N(50), -1)
			scaled[i] = weights[i].Mul(factor)
		}
		parts := split(whole, weights)
		if !slices.EqualFunc(parts, split(whole, scaled), decimal.Decimal.Equal) {
			t.Fatalf("split(%s): %v and %v times it differ", whole, weights, factor)
		}
		for i := range weights {
			for j := range weights {
				if weights[i].GreaterThan(weights[j]) && parts[i].LessThan(parts[j]) {
					t.Fatalf("split(%s, %v) = %v", whole, weights, parts)
				}
			}
		}
	}
}

func TestUnits(t *testing.T) {
	for _, tc := range []struct{ resource, amount, want, unit string }{
		{"cpu", "0.25", "0.25", "Core-Hours"},
		{"cpu", "0.0000000000005", "0.000000000001", "Core-Hours"},
		{"memory", "1073741824", "1", "GiB-Hours"},
		{"memory", "1", "0.000000000931", "GiB-Hours"},
		{"memory", "524288000", "0.48828125", "GiB-Hours"},                // 500Mi
		{"memory", "0.5", "0.000000000466", "GiB-Hours"},                  // 0.4656...e-9
		{"memory", "1610612736.00000000000000000001", "1.5", "GiB-Hours"}, // more than 12 places
		{"storage", "10737418240", "10", "GiB-Hours"},                     // 10Gi
		{"network-receive", "1610612736", "1.5", "GiB"},                   // not times hours
		{"network-transmit", "1000000000", "0.931322574615", "GiB"},       // a GB is no GiB
		{"nvidia.com/gpu", "2", "2", "GPU-Hours"},
		{"amd.com/gpu", "1.5", "1.5", "GPU-Hours"},
		{"google.com/tpu", "4", "4", "TPU-Hours"},
		{"nvidia.com/mig-1g.5gb", "1", "1", "Mig1g5gb-Hours"},
		{"gpu.intel.com/i915", "1", "1", "I915-Hours"},
		{"example.com/3d_core", "1", "1", "Piece3dcore-Hours"},
		{"hugepages-2Mi", "1073741824", "1", "GiB-Hours"},
		{"example.com/", "1", "1", "Piece-Hours"},
		{"loadBalancer", "730", "730", "Hours"},
	} {
		got, unit := quantity(metricsResource(tc.resource), dec(tc.amount))
		if !got.Equal(dec(tc.want)) || unit != tc.unit {
			t.Errorf("quantity(%s, %s) = %s %s, want %s %s", tc.resource, tc.amount, got, unit, tc.want, tc.unit)
		}
	}
}

// Both ways of dividing by 2^30 round alike.
func TestGibibytes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	gib := decimal.NewFromInt(1 << 30)
	for range 2000 {
		bytes := decimal.New(rnd.Int64N(1<<rnd.IntN(62)+1), -int32(rnd.IntN(20)))
		if got, want := gibibytes(bytes), bytes.DivRound(gib, places); !got.Equal(want) {
			t.Fatalf("gibibytes(%s) = %s, want %s", bytes, got, want)
		}
	}
}
