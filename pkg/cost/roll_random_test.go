package cost

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// world is a reading, where its things belong, and what they cost.
type world struct {
	reading   *metrics.UsageReport
	placement *metrics.Attribution
	ledger    *Ledger
}

// randomWorld makes a small one: names that repeat in several namespaces, paths of
// several lengths that may name an owner twice, things that stacks share, pods that
// are gone, not measured, without limits, or on the network of their host.
func randomWorld(rng *rand.Rand) world {
	w := world{&metrics.UsageReport{Hours: decimal.NewFromInt(int64(1 + rng.IntN(48)))}, randomPlacement(rng), &Ledger{Currency: "EUR"}}
	w.ledger.Hours = w.reading.Hours
	for i := range rng.IntN(12) {
		pod := randomPod(rng, i)
		w.reading.Pods = append(w.reading.Pods, pod)
		w.placement.Of[pod.Ref] = randomPlace(rng, w.placement.Stacks)
		if rng.IntN(5) == 0 {
			delete(w.placement.Of, pod.Ref)
		}
	}
	for i := range rng.IntN(5) {
		w.reading.Claims = append(w.reading.Claims, randomClaim(rng, i, w.reading.Pods))
		if rng.IntN(2) == 0 {
			w.placement.Of[w.reading.Claims[i].Ref] = randomPlace(rng, w.placement.Stacks)
		}
	}
	w.book(rng)
	return w
}

func randomPlacement(rng *rand.Rand) *metrics.Attribution {
	p := &metrics.Attribution{Of: map[object.Ref]metrics.Path{}}
	for i := range rng.IntN(5) {
		p.Stacks = append(p.Stacks, object.Ref{Group: "shop.example.com", Kind: "Shop", Namespace: "ns" + fmt.Sprint(i%2), Name: fmt.Sprint("s", i)})
	}
	return p
}

// randomPlace puts a thing into none, one or several stacks.
func randomPlace(rng *rand.Rand, stacks []object.Ref) metrics.Path {
	var place metrics.Path
	for _, stack := range stacks {
		if rng.IntN(3) == 0 {
			place.Stacks = append(place.Stacks, stack)
		}
	}
	if len(place.Stacks) > 0 && rng.IntN(2) == 0 {
		place.Path = append(place.Path, place.Stacks[rng.IntN(len(place.Stacks))])
	}
	owners := []object.Ref{
		{Group: "db.example.com", Kind: "Cluster", Namespace: "ns0", Name: "a"},
		{Group: "apps", Kind: "StatefulSet", Namespace: "ns0", Name: "a"},
		{Group: "apps", Kind: "Deployment", Namespace: "ns1", Name: "a"},
		{Kind: "Pod", Namespace: "ns0", Name: "p-0"},
	}
	for range rng.IntN(4) {
		place.Path = append(place.Path, owners[rng.IntN(len(owners))])
	}
	return place
}

func randomAmounts(rng *rand.Rand, resources ...metrics.Resource) metrics.Amounts {
	amounts := metrics.Amounts{}
	for _, resource := range resources {
		if rng.IntN(4) > 0 {
			amounts.Set(resource, decimal.New(rng.Int64N(1e9), -int32(rng.IntN(10))))
		}
	}
	return amounts
}

func randomPod(rng *rand.Rand, i int) metrics.Pod {
	pod := metrics.Pod{
		Ref: object.Ref{Kind: "Pod", Namespace: fmt.Sprint("ns", i%3), Name: fmt.Sprint("p-", i/3)},
		UID: types.UID(fmt.Sprint("uid-", i)), Node: fmt.Sprint("n", rng.IntN(3)),
		HostNetwork: rng.IntN(5) == 0,
		Used:        randomAmounts(rng, metrics.CPU, metrics.Memory, metrics.Ephemeral, metrics.Received, metrics.Sent),
		Requested:   randomAmounts(rng, metrics.CPU, metrics.Memory, "nvidia.com/gpu"),
		Limited:     randomAmounts(rng, metrics.CPU, metrics.Memory, metrics.Ephemeral, "nvidia.com/gpu"),
		Counters:    randomAmounts(rng, metrics.Received, metrics.Sent),
		Labels:      map[string]string{"team": fmt.Sprint("t", rng.IntN(2))},
	}
	if rng.IntN(4) == 0 {
		pod.Unmeasured = "no sample yet"
		pod.Used = pod.Used.Without(metrics.CPU)
		pod.Used = pod.Used.Without(metrics.Memory)
	}
	if rng.IntN(4) == 0 {
		pod.Gone = true
		pod.Owners = []object.Ref{{Group: "apps", Kind: "ReplicaSet", Namespace: pod.Ref.Namespace, Name: "r"}, {Group: "apps", Kind: "Deployment", Namespace: pod.Ref.Namespace, Name: "d"}}
	}
	pod.Containers = []metrics.Container{{Name: "main", Used: pod.Used}, {Name: "side"}}
	return pod
}

func randomClaim(rng *rand.Rand, i int, pods []metrics.Pod) metrics.Claim {
	claim := metrics.Claim{
		Ref:     object.Ref{Kind: "PersistentVolumeClaim", Namespace: fmt.Sprint("ns", i%2), Name: fmt.Sprint("c", i/2)},
		Claimed: decimal.New(rng.Int64N(1e9), 3), Used: decimal.NewFromInt(rng.Int64N(1e9)), UsedKnown: rng.IntN(2) == 0,
		Unmounted: decimal.NewFromInt(rng.Int64N(2)),
	}
	for range rng.IntN(3) {
		if len(pods) > 0 {
			pod := pods[rng.IntN(len(pods))]
			claim.Mounts = append(claim.Mounts, metrics.Mount{Pod: pod.Ref, UID: pod.UID, Hours: decimal.NewFromInt(rng.Int64N(5))})
		}
	}
	return claim
}

// book makes charges of every kind, of things that are read and of one that is not.
func (w *world) book(rng *rand.Rand) {
	one := decimal.NewFromInt(1)
	charge := func(c Charge) {
		c.Quantity, c.Price = decimal.New(rng.Int64N(1e15), -12), decimal.New(rng.Int64N(1e6), -int32(rng.IntN(11)))
		c.Cost = c.Quantity.Mul(c.Price)
		if c.Of == 0 {
			c.Share, c.Of = one, 1
		}
		w.ledger.Charges = append(w.ledger.Charges, c)
	}
	spread := func(c Charge, stacks []object.Ref) {
		if len(stacks) == 0 {
			charge(c)
		}
		for i, share := range randomShares(rng, len(stacks)) {
			c.Stack, c.Share, c.Of = stacks[i], share, len(stacks)
			charge(c)
		}
	}
	things := []Charge{{Item: object.Ref{Kind: "Service", Namespace: "ns0", Name: "lb"}, Resource: "load-balancer"}}
	for _, pod := range w.reading.Pods {
		for _, resource := range []metrics.Resource{metrics.CPU, metrics.Memory, metrics.Sent} {
			things = append(things, Charge{Item: pod.Ref, UID: string(pod.UID), Node: pod.Node, Resource: resource})
		}
	}
	for _, claim := range w.reading.Claims {
		things = append(things, Charge{Item: claim.Ref, Resource: metrics.Storage})
	}
	for _, c := range things {
		c.Kind, c.Namespace = Used, c.Item.Namespace
		if isClaim(c.Item) && rng.IntN(2) == 0 {
			unmounted := c
			unmounted.Kind = Unmounted
			spread(unmounted, w.placement.Of[c.Item].Stacks)
		}
		if rng.IntN(6) == 0 {
			c.Kind = Shared
			spread(c, w.placement.Stacks)
		} else {
			spread(c, w.placement.Of[c.Item].Stacks)
		}
	}
	node := Charge{Kind: Idle, Item: object.Ref{Kind: "Node", Name: "n0"}, Node: "n0", Resource: metrics.CPU}
	charge(node)
	spread(node, w.placement.Stacks)
	spread(Charge{Kind: Overhead}, w.placement.Stacks)
}

// randomShares are parts that add up to 1, some of them 0.
func randomShares(rng *rand.Rand, n int) []decimal.Decimal {
	weights := make([]decimal.Decimal, n)
	for i := range weights {
		weights[i] = decimal.NewFromInt(rng.Int64N(3))
	}
	for i := range weights {
		if n > 0 {
			weights[i] = ratio(weights[:n:n], i)
		}
	}
	return weights
}

// shuffled is the same world in another order.
func (w world) shuffled(rng *rand.Rand) world {
	reading, ledger, placement := *w.reading, *w.ledger, *w.placement
	reading.Pods, reading.Claims, ledger.Charges = slices.Clone(reading.Pods), slices.Clone(reading.Claims), slices.Clone(ledger.Charges)
	rng.Shuffle(len(reading.Pods), func(i, j int) { reading.Pods[i], reading.Pods[j] = reading.Pods[j], reading.Pods[i] })
	rng.Shuffle(len(reading.Claims), func(i, j int) { reading.Claims[i], reading.Claims[j] = reading.Claims[j], reading.Claims[i] })
	rng.Shuffle(len(ledger.Charges), func(i, j int) {
		ledger.Charges[i], ledger.Charges[j] = ledger.Charges[j], ledger.Charges[i]
	})
	return world{&reading, &placement, &ledger}
}

// fullText writes rows with everything that they say.
func fullText(rows []*Row) string {
	var b strings.Builder
	var write func(rows []*Row, indent string)
	write = func(rows []*Row, indent string) {
		for _, r := range rows {
			efficiency := "-"
			if r.Efficiency != nil {
				efficiency = r.Efficiency.String()
			}
			fmt.Fprintf(&b, "%s%s %s%s stack=%s pods=%d/%d used=%v requested=%v limited=%v claimed=%v counters=%v host=%v/%v %q cost=%s %v efficiency=%s share=%s/%d\n",
				indent, r.Level, r.Ref, r.Name, r.Stack, r.Measured, r.Pods, r.Used, r.Requested, r.Limited, r.Claimed, r.Counters, r.HostTraffic,
				r.HostNetwork, r.Unmeasured, r.Cost, r.Costs, efficiency, r.Share, r.Of)
			write(r.Children, indent+"  ")
		}
	}
	write(rows, "")
	return b.String()
}
