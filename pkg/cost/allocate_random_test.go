package cost

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/shopspring/decimal"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func uid(i int) types.UID { return types.UID(fmt.Sprintf("uid-%d", i)) }

// eachRandom runs a check on random readings, of seeds that a failure names.
func eachRandom(t *testing.T, check func(t *testing.T, rnd *rand.Rand, r *metrics.UsageReport, p *metrics.Attribution, f tariff, o Options)) {
	t.Helper()
	for seed := range uint64(600) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		r, p, f, o := random(rnd)
		check(t, rnd, r, p, f, o)
		if t.Failed() {
			t.Fatalf("seed %d, options %+v", seed, o)
		}
	}
}

// However things are shared, the ledger costs what they cost by themselves, worked out
// in fractions.
func TestTotalIsThatOfEverything(t *testing.T) {
	eachRandom(t, func(t *testing.T, _ *rand.Rand, r *metrics.UsageReport, p *metrics.Attribution, f tariff, o Options) {
		want := costOfAll(r, f)
		want.Add(want, new(big.Rat).Mul(rounded(r.Hours.Rat()), o.ShareOverhead.Rat()))
		if got := allocateAt(r, p, f, o).Total(); got.Rat().Cmp(want) != 0 {
			t.Errorf("total %s, want %s", got, want.FloatString(40))
		}
	})
}

func costOfAll(r *metrics.UsageReport, f tariff) *big.Rat {
	sum := new(big.Rat)
	add := func(q *big.Rat, p Price) { sum.Add(sum, new(big.Rat).Mul(q, p.Net.Rat())) }
	charged := map[string]*big.Rat{}
	nodes := map[string]*metrics.Node{}
	for i := range r.Nodes {
		nodes[r.Nodes[i].Name] = &r.Nodes[i]
	}
	for i := range r.Pods {
		pod := &r.Pods[i]
		rates := f.Node(nodes[pod.Node], pod.Ref.Namespace)
		for res, price := range map[metrics.Resource]Price{metrics.CPU: rates.CPU, metrics.Memory: rates.Memory, gpu: rates.Extended[gpu]} {
			amount, ok := pod.Charged.Lookup(res)
			if !ok {
				amount = decimal.Max(pod.Requested.Value(res), pod.Used.Value(res))
			}
			q := inUnits(res, amount)
			add(q, price)
			key := pod.Node + " " + string(res)
			if charged[key] == nil {
				charged[key] = new(big.Rat)
			}
			charged[key].Add(charged[key], q)
		}
		if !pod.HostNetwork {
			add(inUnits(metrics.Sent, pod.Used.Value(metrics.Sent)), f.Traffic(metrics.Sent, pod.Ref.Namespace))
		}
	}
	for i := range r.Claims {
		add(inUnits(metrics.Storage, r.Claims[i].Claimed), f.Claim(&r.Claims[i]))
	}
	for _, b := range r.LoadBalancers {
		add(rounded(b.Hours.Rat()), f.Balancer(b.Service.Namespace))
	}
	for name, node := range nodes {
		rates := f.Node(node, "")
		for res, price := range map[metrics.Resource]Price{metrics.CPU: rates.CPU, metrics.Memory: rates.Memory, gpu: rates.Extended[gpu]} {
			idle := inUnits(res, node.Capacity.Value(res))
			if taken := charged[name+" "+string(res)]; taken != nil {
				idle.Sub(idle, taken)
			}
			if node.Whole && idle.Sign() > 0 {
				add(idle, price)
			}
		}
	}
	return sum
}

func inUnits(res metrics.Resource, amount decimal.Decimal) *big.Rat {
	q := amount.Rat()
	if res != metrics.CPU && res != gpu {
		q.Quo(q, big.NewRat(1<<30, 1))
	}
	return rounded(q)
}

// rounded rounds to 12 places, half up.
func rounded(q *big.Rat) *big.Rat {
	scale := new(big.Rat).SetInt64(1_000_000_000_000)
	q = new(big.Rat).Mul(q, scale)
	q.Add(q, big.NewRat(1, 2))
	whole := new(big.Int).Div(q.Num(), q.Denom())
	return new(big.Rat).Quo(new(big.Rat).SetInt(whole), scale)
}

// Idle capacity and namespaces that are shared, and how, move costs and make none.
func TestSharingKeepsTheTotal(t *testing.T) {
	eachRandom(t, func(t *testing.T, _ *rand.Rand, r *metrics.UsageReport, p *metrics.Attribution, f tariff, o Options) {
		want := allocateAt(r, p, f, Options{ShareOverhead: o.ShareOverhead}).Total()
		if got := allocateAt(r, p, f, o).Total(); !got.Equal(want) {
			t.Errorf("total %s shared, %s not", got, want)
		}
	})
}

func TestLedgerIsIndependentOfOrder(t *testing.T) {
	eachRandom(t, func(t *testing.T, rnd *rand.Rand, r *metrics.UsageReport, p *metrics.Attribution, f tariff, o Options) {
		before := fmt.Sprint(*r, *p)
		want := allocateAt(r, p, f, o)
		if fmt.Sprint(*r, *p) != before {
			t.Error("the reading or the placement was changed")
		}
		other, placement := shuffled(rnd, r, p)
		got := allocateAt(other, placement, f, o)
		if len(got.Charges) != len(want.Charges) {
			t.Fatalf("%d charges, %d in another order", len(want.Charges), len(got.Charges))
		}
		for i := range got.Charges {
			// The text has every digit of a decimal and nothing of how it is held.
			if x, y := fmt.Sprintf("%+v", want.Charges[i]), fmt.Sprintf("%+v", got.Charges[i]); x != y {
				t.Fatalf("charge %d:\n%s\n%s", i, x, y)
			}
		}
		if !slices.Equal(got.Notes, want.Notes) {
			t.Errorf("notes:\n%v\n%v", want.Notes, got.Notes)
		}
	})
}

// What holds for every charge, and for all those of an item.
func TestCharges(t *testing.T) {
	type whole struct {
		item             object.Ref
		uid              string
		resource         metrics.Resource
		sku, price, list string
	}
	eachRandom(t, func(t *testing.T, _ *rand.Rand, r *metrics.UsageReport, p *metrics.Attribution, f tariff, o Options) {
		l := allocateAt(r, p, f, o)
		shares := map[whole]decimal.Decimal{}
		stacks := map[whole]map[object.Ref]bool{}
		of := map[whole]int{}
		for i := range l.Charges {
			c := &l.Charges[i]
			checkCharge(t, c, o)
			if i > 0 {
				last := &l.Charges[i-1]
				order := cmp.Or(object.Compare(last.Stack, c.Stack), cmp.Compare(last.Kind, c.Kind), object.Compare(last.Item, c.Item), cmp.Compare(last.UID, c.UID))
				if order > 0 || compareCharges(last, c) >= 0 {
					t.Errorf("charge %d is not after that before it", i)
				}
			}
			key := whole{c.Item, c.UID, c.Resource, c.SKU, c.Price.String(), c.List.String()}
			shares[key] = shares[key].Add(c.Share)
			if stacks[key] == nil {
				stacks[key] = map[object.Ref]bool{}
			}
			if c.Stack != (object.Ref{}) {
				stacks[key][c.Stack] = true
			}
			of[key] = c.Of
		}
		for key, sum := range shares {
			if !sum.Equal(decimal.NewFromInt(1)) {
				t.Errorf("%+v: the shares add up to %s", key, sum)
			}
			if want := max(1, len(stacks[key])); of[key] != want {
				t.Errorf("%+v: shared by %d, said %d", key, want, of[key])
			}
		}
	})
}

func checkCharge(t *testing.T, c *Charge, o Options) {
	t.Helper()
	if !c.Cost.Equal(c.Quantity.Mul(c.Price)) {
		t.Errorf("%s times %s is not %s", c.Quantity, c.Price, c.Cost)
	}
	if c.Quantity.IsNegative() || c.Quantity.Exponent() < -places || c.Unit == "" {
		t.Errorf("quantity %s %q of %s", c.Quantity, c.Unit, c.Item)
	}
	if c.Share.IsNegative() || c.Share.GreaterThan(decimal.NewFromInt(1)) || c.Of < 1 {
		t.Errorf("share %s of %d of %s", c.Share, c.Of, c.Item)
	}
	if (c.Kind == Used || c.Kind == Unmounted) && slices.Contains(o.ShareNamespaces, c.Namespace) {
		t.Errorf("%s of a shared namespace is charged to %s", c.Item, c.Stack)
	}
	if !o.ShareIdle && c.Kind == Idle && c.Stack != (object.Ref{}) {
		t.Errorf("idle capacity of %s is charged to %s", c.Item, c.Stack)
	}
}

// A stack pays for idle capacity only where something of it is charged, and never for
// a resource that nobody is charged for.
func TestIdleGoesToTenants(t *testing.T) {
	type tenancy struct {
		node  string
		stack object.Ref
		res   metrics.Resource
	}
	eachRandom(t, func(t *testing.T, _ *rand.Rand, r *metrics.UsageReport, p *metrics.Attribution, f tariff, o Options) {
		o.ShareNamespaces = nil
		l := allocateAt(r, p, f, o)
		tenants := map[tenancy]bool{}
		for _, c := range l.Charges {
			if c.Kind == Used && c.Quantity.IsPositive() {
				tenants[tenancy{c.Node, c.Stack, c.Resource}] = true
			}
		}
		for _, c := range l.Charges {
			if c.Kind == Idle && c.Stack != (object.Ref{}) && !tenants[tenancy{c.Item.Name, c.Stack, c.Resource}] {
				t.Errorf("%s pays for idle %s of %s and has none there", c.Stack, c.Resource, c.Item.Name)
			}
		}
	})
}

// A stack pays for the time in which its pods mounted a claim, and for the time in
// which nobody did where the claim is its own; a unit off for each rounding at most.
func TestClaimsGoByTime(t *testing.T) {
	eachRandom(t, func(t *testing.T, _ *rand.Rand, r *metrics.UsageReport, p *metrics.Attribution, f tariff, _ Options) {
		paid := map[string]*big.Rat{}
		for _, c := range allocateAt(r, p, f, Options{}).Charges {
			if c.Resource == metrics.Storage {
				key := c.Item.String() + c.UID + c.Stack.String()
				paid[key] = sumOf(paid[key], c.Quantity.Rat())
			}
		}
		for _, claim := range r.Claims {
			hours := claim.Unmounted.Rat()
			parts := map[object.Ref]*big.Rat{}
			add := func(stacks []object.Ref, h *big.Rat) {
				if len(stacks) == 0 {
					stacks = []object.Ref{{}}
				}
				for _, stack := range stacks {
					parts[stack] = sumOf(parts[stack], new(big.Rat).Mul(h, big.NewRat(1, int64(len(stacks)))))
				}
			}
			add(p.Of[claim.Ref].Stacks, hours)
			for _, m := range claim.Mounts {
				hours = sumOf(hours, m.Hours.Rat())
				add(p.Of[m.Pod].Stacks, m.Hours.Rat())
			}
			if hours.Sign() == 0 {
				continue
			}
			for stack, part := range parts {
				want := new(big.Rat).Mul(inUnits(metrics.Storage, claim.Claimed), part.Quo(part, hours))
				got := sumOf(paid[claim.Ref.String()+string(claim.UID)+stack.String()], new(big.Rat))
				off := want.Sub(want, got)
				if off.Abs(off).Cmp(big.NewRat(int64(2+2*len(claim.Mounts)), 1_000_000_000_000)) > 0 {
					t.Errorf("%s pays %s of %s, %s off", stack, got.FloatString(12), claim.Ref, off.FloatString(20))
				}
			}
		}
	})
}

func sumOf(x, y *big.Rat) *big.Rat {
	if x == nil {
		x = new(big.Rat)
	}
	return new(big.Rat).Add(x, y)
}

// The random readings reach every kind of charge, shared and not, or they prove less
// than they seem to.
func TestRandomReachesEverything(t *testing.T) {
	seen := map[string]int{}
	eachRandom(t, func(_ *testing.T, _ *rand.Rand, r *metrics.UsageReport, p *metrics.Attribution, f tariff, o Options) {
		for _, c := range allocateAt(r, p, f, o).Charges {
			seen[fmt.Sprintf("%s of several %t to nobody %t", c.Kind, c.Of > 1, c.Stack == (object.Ref{}))]++
		}
	})
	for _, kind := range []ChargeKind{Used, Unmounted, Idle, Shared, Overhead} {
		for _, want := range []string{"of several true to nobody false", "of several false to nobody false", "of several false to nobody true"} {
			if seen[string(kind)+" "+want] < 20 {
				t.Errorf("%s %s: seen %d times; all: %v", kind, want, seen[string(kind)+" "+want], slices.Sorted(maps.Keys(seen)))
			}
		}
	}
}
