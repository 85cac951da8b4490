package cost_test

import (
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// A claim that others mount as well is, in a question about one stack, the part that
// it pays.
func TestPaid(t *testing.T) {
	claim := func(name string) object.Ref {
		return object.Ref{Kind: "PersistentVolumeClaim", Namespace: "x", Name: name}
	}
	a := object.Ref{Kind: "Deployment", Group: "apps", Namespace: "x", Name: "a"}
	charge := func(kind cost.ChargeKind, item, stack object.Ref, quantity string) cost.Charge {
		return cost.Charge{Kind: kind, Item: item, Stack: stack, Resource: metrics.Storage, Quantity: dec(quantity), Cost: dec(quantity)}
	}
	r := &metrics.Reading{Claims: []metrics.Claim{
		{Ref: claim("whole"), Claimed: dec("10")},
		{Ref: claim("part"), Claimed: dec("12"), Used: dec("3"), UsedKnown: true},
		{Ref: claim("none"), Claimed: dec("5")},
		{Ref: claim("unpriced"), Claimed: dec("7")},
	}}
	l := &cost.Ledger{Charges: []cost.Charge{
		charge(cost.Used, claim("whole"), a, "10"), charge(cost.Idle, object.Ref{Kind: "Node", Name: "n"}, object.Ref{}, "9"),
		charge(cost.Used, claim("part"), a, "6"), charge(cost.Unmounted, claim("part"), a, "2"), charge(cost.Used, claim("part"), object.Ref{}, "4"),
		charge(cost.Used, claim("none"), object.Ref{}, "5"),
	}}
	cost.Paid(r, l)
	if got := l.Total(); !got.Equal(dec("18")) {
		t.Errorf("total %s", got)
	}
	want := map[string]string{"whole": "10", "part": "8", "unpriced": "7"}
	for _, c := range r.Claims {
		if !c.Claimed.Equal(dec(want[c.Ref.Name])) {
			t.Errorf("%s claimed %s, want %s", c.Ref.Name, c.Claimed, want[c.Ref.Name])
		}
		if c.UsedKnown && !c.Used.Equal(dec("2")) {
			t.Errorf("%s used %s, want 2", c.Ref.Name, c.Used)
		}
		delete(want, c.Ref.Name)
	}
	if len(want) > 0 {
		t.Errorf("no %v", want)
	}
}
