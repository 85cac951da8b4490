package cost_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/shopspring/decimal"
)

// someBook is a book with overrides of all kinds, by chance.
func someBook(r *rand.Rand) cost.BookDocument {
	price := func() string { return fmt.Sprintf("%d.%03d", r.IntN(3), r.IntN(1000)) }
	known := func() *decimal.Decimal { d := dec(price()); return &d }
	maybe := func() *decimal.Decimal {
		if r.IntN(2) == 0 {
			return nil
		}
		return known()
	}
	cpu := dec("1." + price()[2:])
	d := cost.BookDocument{APIVersion: cost.BookVersion, Kind: cost.BookKind, Name: "some", Currency: "CHF", CPU: &cpu, Memory: known(), Storage: cost.StorageDocument{Default: known(), Classes: map[string]decimal.Decimal{"ssd": dec(price())}}}
	for i := range r.IntN(8) {
		o := cost.OverrideDocument{Name: fmt.Sprint("o", i), CPU: maybe(), Memory: maybe(), LoadBalancer: maybe()}
		o.Extended = map[metrics.Resource]decimal.Decimal{"x.io/y": dec(price())}
		switch r.IntN(3) {
		case 0:
			o.Namespaces = []string{[]string{"shop", "sh*", "other"}[r.IntN(3)]}
			o.Storage.Default = maybe()
		case 1:
			o.Namespaces, o.LoadBalancer = []string{"shop"}, nil
			fallthrough
		default:
			o.Nodes.Selector, o.LoadBalancer = []string{"pool=a", "pool!=a", "pool in (a,b),!old"}[r.IntN(3)], nil
		}
		d.Overrides = append(d.Overrides, o)
	}
	return d
}

// TestFirstDecides compares prices with those of a plain search for the first override
// that applies and says them, and each book with what is written of it.
func TestFirstDecides(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2026))
	applies := func(o cost.OverrideDocument, pool, namespace string) bool {
		if len(o.Namespaces) > 0 && o.Namespaces[0] != namespace && (o.Namespaces[0] != "sh*" || namespace != "shop") {
			return false
		}
		switch o.Nodes.Selector {
		case "pool=a":
			return pool == "a"
		case "pool!=a":
			return pool != "a"
		case "":
			return true
		}
		return pool == "a" || pool == "b"
	}
	for range 500 {
		d := someBook(r)
		written, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		b := parseText(t, "some.yaml", string(written))
		first := func(pool, namespace string, base decimal.Decimal, flat bool, get func(cost.OverrideDocument) *decimal.Decimal) decimal.Decimal {
			for _, o := range d.Overrides {
				if get(o) != nil && (!flat || o.Nodes.Selector == "") && applies(o, pool, namespace) {
					return *get(o)
				}
			}
			return base
		}
		for _, pool := range []string{"a", "b", "c"} {
			n := &metrics.Node{Name: "n", Labels: map[string]string{"pool": pool}}
			for _, namespace := range []string{"shop", "other", ""} {
				rates := b.Node(n, namespace)
				for what, c := range map[string]struct {
					got  cost.Price
					want decimal.Decimal
				}{
					"cpu":      {rates.CPU, first(pool, namespace, *d.CPU, false, func(o cost.OverrideDocument) *decimal.Decimal { return o.CPU })},
					"memory":   {rates.Memory, first(pool, namespace, *d.Memory, false, func(o cost.OverrideDocument) *decimal.Decimal { return o.Memory })},
					"extended": {rates.Extended["x.io/y"], first(pool, namespace, decimal.Zero, false, func(o cost.OverrideDocument) *decimal.Decimal { d := o.Extended["x.io/y"]; return &d })},
					"balancer": {b.Balancer(namespace), first(pool, namespace, decimal.Zero, true, func(o cost.OverrideDocument) *decimal.Decimal { return o.LoadBalancer })},
					"storage":  {b.Storage("", namespace), first(pool, namespace, *d.Storage.Default, true, func(o cost.OverrideDocument) *decimal.Decimal { return o.Storage.Default })},
					"claim":    {b.Claim(&metrics.Claim{Ref: object.Ref{Namespace: namespace}, Class: "ssd"}), first(pool, namespace, d.Storage.Classes["ssd"], true, func(o cost.OverrideDocument) *decimal.Decimal { return o.Storage.Default })},
				} {
					if !c.got.List.Equal(c.want) {
						t.Fatalf("%s on %s in %q is %s, want %s, by %s", what, pool, namespace, c.got.List, c.want, written)
					}
				}
			}
		}
		again := b.Document()
		text, err := json.Marshal(again)
		if err != nil {
			t.Fatal(err)
		}
		if got := parseText(t, "again.yaml", string(text)).Document(); !reflect.DeepEqual(got, again) {
			t.Fatalf("%s is written so that it reads %+v", text, got)
		}
	}
}
