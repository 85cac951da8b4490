package cost_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
)

func TestCurrencies(t *testing.T) {
	all := cost.Currencies()
	// The validator of FOCUS 1.2 has 180.
	if len(all) != 180 || !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Errorf("%d currencies, or out of order: %v", len(all), all)
	}
	code := regexp.MustCompile(`^[A-Z]{3}$`)
	for _, c := range all {
		if !code.MatchString(c) || !cost.IsCurrency(c) {
			t.Errorf("currency %q", c)
		}
	}
	for _, c := range []string{"", "usd", "EURO", "US", "AAA", "ZZZ"} {
		if cost.IsCurrency(c) {
			t.Errorf("%q is no currency", c)
		}
	}
	if !cost.IsCurrency("USD") || !cost.IsCurrency("EUR") || !cost.IsCurrency("JPY") || !cost.IsCurrency("INR") {
		t.Error("a currency that is used is missing")
	}
}
