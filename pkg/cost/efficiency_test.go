package cost

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Worked out by hand.
func TestEfficiency(t *testing.T) {
	for name, test := range map[string]struct {
		used, requested, costs [2]string // of CPU and memory; empty is not known
		want                   string
	}{
		"half of both":          {[2]string{"0.5", "512"}, [2]string{"1", "1024"}, [2]string{"3", "1"}, "0.5"},
		"weighted by cost":      {[2]string{"0.2", "900"}, [2]string{"1", "1000"}, [2]string{"3", "1"}, "0.375"}, // (3*0.2 + 1*0.9)/4
		"more than requested":   {[2]string{"3", "1"}, [2]string{"1", "1"}, [2]string{"1", "1"}, "2"},
		"nothing requested":     {[2]string{"0.1", "5"}, [2]string{"0", "10"}, [2]string{"1", "1"}, "0.75"}, // (1 + 0.5)/2
		"nothing used":          {[2]string{"0", "0"}, [2]string{"0", "10"}, [2]string{"1", "1"}, "0"},
		"a third, rounded":      {[2]string{"1", "1"}, [2]string{"3", "3"}, [2]string{"0.000000000000000001", "7"}, "0.333333"},
		"two thirds, rounded":   {[2]string{"2", ""}, [2]string{"3", ""}, [2]string{"1", ""}, "0.666667"},
		"memory is not known":   {[2]string{"1", ""}, [2]string{"2", "100"}, [2]string{"1", "50"}, "0.5"},
		"request is not known":  {[2]string{"1", "1"}, [2]string{"2", ""}, [2]string{"1", "50"}, "0.5"},
		"nothing known":         {[2]string{"", ""}, [2]string{"1", "1"}, [2]string{"1", "1"}, ""},
		"costs nothing":         {[2]string{"1", "1"}, [2]string{"1", "1"}, [2]string{"0", "0"}, ""},
		"memory costs nothing":  {[2]string{"1", "1"}, [2]string{"4", "1"}, [2]string{"1", "0"}, "0.25"},
		"exponents far apart":   {[2]string{"0.000000001", "17179869184"}, [2]string{"1000000", "34359738368"}, [2]string{"1", "0.00000000000000000000001"}, "0"},
		"half a unit is up":     {[2]string{"0.1234565", ""}, [2]string{"1", ""}, [2]string{"1", ""}, "0.123457"},
		"large costs are exact": {[2]string{"1", "0"}, [2]string{"1", "1"}, [2]string{"123456789012345678901234567890", "123456789012345678901234567890"}, "0.5"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := metrics.Pod{Ref: object.Ref{Kind: "Pod", Name: "p"}, Used: metrics.Amounts{}, Requested: metrics.Amounts{}}
			ledger := &Ledger{}
			for i, resource := range rated() {
				if test.used[i] != "" {
					pod.Used.Set(resource, dec(test.used[i]))
				}
				if test.requested[i] != "" {
					pod.Requested.Set(resource, dec(test.requested[i]))
				}
				if test.costs[i] != "" {
					ledger.Charges = append(ledger.Charges, Charge{Kind: Used, Item: pod.Ref, Resource: resource, Cost: dec(test.costs[i]), Share: dec("1"), Of: 1})
				}
			}
			r := NewReport(&metrics.UsageReport{Pods: []metrics.Pod{pod}}, &metrics.Attribution{}, ledger, Grouping{})
			switch got := r.Total.Efficiency; {
			case got == nil && test.want != "":
				t.Errorf("efficiency is not known, want %s", test.want)
			case got != nil && (test.want == "" || !got.Equal(dec(test.want))):
				t.Errorf("efficiency %s, want %q", got, test.want)
			}
		})
	}
}

// Pods that are not measured are out of the sums of requests and of costs too.
func TestEfficiencyIsOfMeasuredPods(t *testing.T) {
	r := &metrics.UsageReport{}
	l := &Ledger{}
	for i, used := range []string{"0.5", "", "0.3"} {
		pod := metrics.Pod{Ref: object.Ref{Kind: "Pod", Name: string(rune('a' + i))}, Requested: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("1")}), Unmeasured: "no sample yet"}
		if used != "" {
			pod.Used, pod.Unmeasured = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec(used)}), ""
		}
		r.Pods = append(r.Pods, pod)
		l.Charges = append(l.Charges, Charge{Kind: Used, Item: pod.Ref, Resource: metrics.CPU, Cost: dec("1000")})
	}
	total := NewReport(r, &metrics.Attribution{}, l, Grouping{}).Total
	if total.Measured != 2 || total.Pods != 3 || total.Efficiency == nil || !total.Efficiency.Equal(dec("0.4")) {
		t.Errorf("%d of %d measured, efficiency %v; want 2 of 3 and 0.4", total.Measured, total.Pods, total.Efficiency)
	}
}

// The mean is that of fractions, for any numbers.
func TestQuotient(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	random := func() decimal.Decimal { return decimal.New(1+rng.Int64N(1e6), int32(rng.IntN(40)-20)) }
	var q quotient
	for range 2000 {
		q.reset()
		sum, weights := new(big.Rat), new(big.Rat)
		for range 1 + rng.IntN(3) {
			w, a, b := random(), random(), random()
			q.add(w, a, b)
			weights.Add(weights, w.Rat())
			sum.Add(sum, new(big.Rat).Mul(w.Rat(), new(big.Rat).Quo(a.Rat(), b.Rat())))
		}
		want := sum.Quo(sum, weights).FloatString(efficiencyPlaces)
		if got := q.round(efficiencyPlaces); got.StringFixed(efficiencyPlaces) != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}
