package metrics

import (
	"fmt"
	"testing"

	"github.com/shopspring/decimal"
)

// TestAmountsShared changes copies of amounts: what shares them stays as it is, and all are in order.
func TestAmountsShared(t *testing.T) {
	one := decimal.NewFromInt(1)
	shared := AmountsOf(map[Resource]decimal.Decimal{Memory: one, CPU: one})
	set, added, more := shared, shared, shared.with(Amounts{{CPU, one.Neg()}, {Storage, one}})
	set.Set(Ephemeral, one)
	added.Add(CPU, one)
	added.Add("a", one)
	for what, c := range map[string]struct {
		got  Amounts
		want string
	}{
		"shared": {shared, "[{cpu 1} {memory 1}]"}, "set": {set, "[{cpu 1} {ephemeral-storage 1} {memory 1}]"}, "added": {added, "[{a 1} {cpu 2} {memory 1}]"},
		"with more": {more, "[{cpu 1} {memory 1} {storage 1}]"}, "without": {shared.Without(CPU, Sent), "[{memory 1}]"}, "without any": {shared.Without(CPU, Memory), "[]"},
	} {
		if got := fmt.Sprint(c.got); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
	if _, known := shared.Lookup(Sent); known || !shared.Value(Sent).IsZero() || shared.Text(Sent) != "" {
		t.Error("an amount is known that is absent")
	}
}
