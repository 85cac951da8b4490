package cost

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func metricsResource(s string) metrics.Resource { return metrics.Resource(s) }

const gpu metrics.Resource = "nvidia.com/gpu"

// tariff is prices in round figures: a core-hour 1, a GiB-hour of memory 0.1, a
// GPU-hour 10, a GiB-hour of storage 0.01, a GiB sent 0.5, a load balancer 0.25 an
// hour. What is received costs nothing, and is not in it.
type tariff struct {
	// nodes and namespaces multiply prices.
	nodes, namespaces map[string]decimal.Decimal
}

func (f tariff) price(sku, list, node, namespace string) Price {
	p := Price{List: dec(list), Net: dec(list), SKU: sku}
	if factor, ok := f.nodes[node]; ok {
		p.List, p.Net = p.List.Mul(factor), p.Net.Mul(factor)
	}
	if factor, ok := f.namespaces[namespace]; ok {
		p.Net = p.Net.Mul(factor)
	}
	return p
}

func (f tariff) Node(node *metrics.Node, namespace string) Rates {
	name := ""
	if node != nil {
		name = node.Name
	}
	return Rates{
		CPU:      f.price("cpu", "1", name, namespace),
		Memory:   f.price("memory", "0.1", name, namespace),
		Extended: map[metrics.Resource]Price{gpu: f.price("gpu", "10", name, namespace)},
	}
}

func (f tariff) LabelsUnknown(*metrics.Node) bool { return false }

func (f tariff) Claim(c *metrics.Claim) Price {
	return f.price("storage", "0.01", "", c.Ref.Namespace)
}

func (f tariff) Traffic(direction metrics.Resource, namespace string) Price {
	if direction == metrics.Received {
		return Price{}
	}
	return f.price("sent", "0.5", "", namespace)
}

func (f tariff) Balancer(namespace string) Price { return f.price("lb", "0.25", "", namespace) }

// allocateAt makes a ledger by other prices than those of a book.
func allocateAt(r *metrics.UsageReport, p *metrics.Attribution, prices priceList, o Options) *Ledger {
	return newAllocator(r, p, prices, o).run()
}

// scene is a reading and a placement in the making.
type scene struct {
	metrics.UsageReport
	metrics.Attribution
}

func newScene() *scene {
	return &scene{
		UsageReport: metrics.UsageReport{Hours: dec("1")},
		Attribution: metrics.Attribution{Weights: map[object.Ref]decimal.Decimal{}, Of: map[object.Ref]metrics.Path{}},
	}
}

func stack(namespace, name string) object.Ref {
	return object.Ref{Group: "example.com", Kind: "Moodle", Namespace: namespace, Name: name}
}

func podRef(namespace, name string) object.Ref {
	return object.Ref{Kind: "Pod", Namespace: namespace, Name: name}
}

func claimRef(namespace, name string) object.Ref {
	return object.Ref{Kind: "PersistentVolumeClaim", Namespace: namespace, Name: name}
}

func (s *scene) place(thing object.Ref, stacks []object.Ref) {
	for _, root := range stacks {
		if !slices.Contains(s.Stacks, root) {
			s.Stacks = append(s.Stacks, root)
		}
	}
	if stacks != nil {
		s.Of[thing] = metrics.Path{Stacks: stacks}
	}
}

// pod adds a pod that is charged for cores and for GiB of memory.
func (s *scene) pod(namespace, name, node, cores, memory string, stacks ...object.Ref) *metrics.Pod {
	s.place(podRef(namespace, name), stacks)
	s.Pods = append(s.Pods, metrics.Pod{
		Ref: podRef(namespace, name), UID: "uid-1", Node: node, Hours: s.Hours,
		Charged: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec(cores), metrics.Memory: dec(memory).Mul(decimal.NewFromInt(1 << 30))}),
	})
	return &s.Pods[len(s.Pods)-1]
}

// claim adds a volume claim of GiB; a mount of zero hours is not one.
func (s *scene) claim(namespace, name, size string, stacks ...object.Ref) *metrics.Claim {
	s.place(claimRef(namespace, name), stacks)
	s.Claims = append(s.Claims, metrics.Claim{
		Ref: claimRef(namespace, name), UID: "uid-2", Hours: s.Hours,
		Claimed: dec(size).Mul(decimal.NewFromInt(1 << 30)), Unmounted: s.Hours,
	})
	return &s.Claims[len(s.Claims)-1]
}

func mounts(c *metrics.Claim, unmounted string, hours map[object.Ref]string) {
	c.Unmounted = dec(unmounted)
	for pod, h := range hours {
		c.Mounts = append(c.Mounts, metrics.Mount{Pod: pod, UID: "uid-1", Hours: dec(h)})
	}
}

func (s *scene) node(name, cores, memory string) *metrics.Node {
	s.Nodes = append(s.Nodes, metrics.Node{
		Name: name, Hours: s.Hours, Whole: true,
		Capacity: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec(cores), metrics.Memory: dec(memory).Mul(decimal.NewFromInt(1 << 30))}),
	})
	return &s.Nodes[len(s.Nodes)-1]
}

func (s *scene) ledger(o Options) *Ledger {
	return allocateAt(&s.UsageReport, &s.Attribution, tariff{}, o)
}

// lines are the charges in short: stack kind item resource quantity share/of.
func lines(l *Ledger) []string {
	var out []string
	for _, c := range l.Charges {
		out = append(out, name(c.Stack)+" "+string(c.Kind)+" "+name(c.Item)+" "+string(c.Resource)+" "+c.Quantity.String()+" "+c.Share.String()+"/"+decimal.NewFromInt(int64(c.Of)).String())
	}
	return out
}

func name(r object.Ref) string {
	if r == (object.Ref{}) {
		return "-"
	}
	return r.Name
}

func wantLines(t *testing.T, l *Ledger, want ...string) {
	t.Helper()
	got := lines(l)
	if !slices.Equal(got, want) {
		t.Errorf("ledger:")
		for _, line := range got {
			t.Errorf("  %s", line)
		}
		t.Errorf("want:")
		for _, line := range want {
			t.Errorf("  %s", line)
		}
	}
}

// random returns a reading of everything that there may be, with a placement.
func random(rnd *rand.Rand) (*metrics.UsageReport, *metrics.Attribution, tariff, Options) {
	amount := func() decimal.Decimal {
		return decimal.New(rnd.Int64N(1<<rnd.IntN(50)), -int32(rnd.IntN(16)))
	}
	pick := func(names ...string) string { return names[rnd.IntN(len(names))] }
	namespace := func() string { return pick("a", "b", "c", "kube-system") }
	s := newScene()
	s.Hours = pick2(rnd, dec("1"), dec("24"), amount())
	roots := []object.Ref{stack("a", "one"), stack("a", "two"), stack("b", "one"), stack("", "cluster"), stack("kube-system", "own")}[:rnd.IntN(6)]
	stacks := func() []object.Ref {
		out := []object.Ref{}
		for _, root := range roots {
			if rnd.IntN(3) == 0 {
				out = append(out, root)
			}
		}
		return out
	}
	amounts := func(resources ...metrics.Resource) metrics.Amounts {
		out := metrics.Amounts{}
		for _, res := range resources {
			if rnd.IntN(3) > 0 {
				out.Set(res, amount())
				if res != metrics.CPU && res != gpu {
					out.Set(res, out.Value(res).Shift(8))
				}
			}
		}
		return out
	}
	all := []metrics.Resource{metrics.CPU, metrics.Memory, gpu, "example.com/unpriced"}
	for i := range rnd.IntN(12) {
		ref := podRef(namespace(), pick("x", "y", "z", "x-1", "x-10"))
		s.place(ref, pick2(rnd, stacks(), stacks(), nil))
		s.Pods = append(s.Pods, metrics.Pod{
			Ref: ref, UID: uid(i), Node: pick("", "n1", "n2", "n3", "gone"), Hours: s.Hours, HostNetwork: rnd.IntN(4) == 0,
			Used:      amounts(metrics.CPU, metrics.Memory, metrics.Ephemeral, metrics.Sent, metrics.Received),
			Requested: amounts(all...), Charged: amounts(all...), Counters: amounts(metrics.Sent, metrics.Received),
		})
	}
	for i := range rnd.IntN(5) {
		c := s.claim(namespace(), pick("data", "logs"), "1")
		c.UID, c.Claimed, c.Unmounted = uid(i), amount(), pick2(rnd, decimal.Decimal{}, amount())
		s.place(c.Ref, pick2(rnd, stacks(), nil))
		for range rnd.IntN(4) {
			c.Mounts = append(c.Mounts, metrics.Mount{Pod: podRef(c.Ref.Namespace, pick("x", "y", "z", "other")), UID: uid(rnd.IntN(3)), Hours: amount()})
		}
	}
	for _, name := range []string{"web", "api", "mail"}[:rnd.IntN(4)] {
		ref := object.Ref{Kind: "Service", Namespace: namespace(), Name: name}
		s.place(ref, pick2(rnd, stacks(), nil))
		s.LoadBalancers = append(s.LoadBalancers, metrics.LoadBalancer{Service: ref, Hours: amount()})
	}
	for _, name := range []string{"n1", "n2", "n3"}[:rnd.IntN(4)] {
		s.Nodes = append(s.Nodes, metrics.Node{Name: name, Whole: rnd.IntN(4) > 0, Capacity: amounts(all...)})
	}
	for _, root := range roots {
		if rnd.IntN(2) == 0 {
			s.Weights[root] = decimal.New(rnd.Int64N(5), -1)
		}
	}
	f := tariff{
		nodes:      map[string]decimal.Decimal{"n1": dec("0.3333"), "n2": dec("1.7")},
		namespaces: map[string]decimal.Decimal{"a": dec("0.85"), "kube-system": dec("0.00000001")},
	}
	o := Options{
		Sharing: pick2(rnd, "", ShareEven, ShareUsage, ShareRequests, ShareWeight), ShareIdle: rnd.IntN(2) == 0,
		ShareNamespaces: pick2(rnd, nil, []string{"kube-system"}, []string{"b", "kube-system", "b"}),
		ShareOverhead:   pick2(rnd, decimal.Decimal{}, dec("0.07"), amount()), Weighted: rnd.IntN(2) == 0,
	}
	return &s.UsageReport, &s.Attribution, f, o
}

func pick2[T any](rnd *rand.Rand, of ...T) T { return of[rnd.IntN(len(of))] }

// shuffled returns copies with every list in another order.
func shuffled(rnd *rand.Rand, r *metrics.UsageReport, p *metrics.Attribution) (*metrics.UsageReport, *metrics.Attribution) {
	reading, placement := *r, *p
	reading.Pods, reading.Claims = shuffle(rnd, r.Pods), shuffle(rnd, r.Claims)
	reading.LoadBalancers, reading.Nodes = shuffle(rnd, r.LoadBalancers), shuffle(rnd, r.Nodes)
	for i := range reading.Claims {
		reading.Claims[i].Mounts = shuffle(rnd, reading.Claims[i].Mounts)
	}
	placement.Stacks = shuffle(rnd, p.Stacks)
	placement.Of = maps.Clone(p.Of)
	for thing, place := range placement.Of {
		place.Stacks = shuffle(rnd, place.Stacks)
		placement.Of[thing] = place
	}
	return &reading, &placement
}

func shuffle[T any](rnd *rand.Rand, list []T) []T {
	list = slices.Clone(list)
	rnd.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}
