package cost

import (
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

var (
	red   = stack("shop", "red")
	green = stack("shop", "green")
	blue  = stack("tools", "blue")
)

// find returns the only charge of an item for a resource.
func find(t *testing.T, l *Ledger, item object.Ref, res metrics.Resource) Charge {
	t.Helper()
	var found []Charge
	for _, c := range l.Charges {
		if c.Item == item && c.Resource == res {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d charges of %s for %s: %v", len(found), item, res, lines(l))
	}
	return found[0]
}

// A day of a pod with a volume and a GPU, at OpenCost's default prices. Every figure
// is worked out by hand: amount x duration x rate, as the OpenCost specification has
// it for what is allocated ("Cluster Asset Costs").
func TestDefaultPrices(t *testing.T) {
	s := newScene()
	s.Hours = dec("24")
	// A quarter of a core for 24 hours, 512Mi for 24 hours.
	pod := s.pod("shop", "web-1", "n1", "6", "12", red)
	pod.Charged.Set(gpu, dec("24"))
	s.claim("shop", "data", "240", red) // 10Gi for 24 hours
	l := Allocate(&s.UsageReport, &s.Attribution, DefaultBook(), Options{})
	if l.Currency != "USD" || !l.Hours.Equal(dec("24")) {
		t.Errorf("a ledger of %s hours in %s", l.Hours, l.Currency)
	}
	for _, tc := range []struct {
		item                        object.Ref
		res                         metrics.Resource
		quantity, unit, price, cost string
	}{
		{pod.Ref, metrics.CPU, "6", "Core-Hours", "0.031611", "0.189666"},
		{pod.Ref, metrics.Memory, "12", "GiB-Hours", "0.004237", "0.050844"},
		{pod.Ref, gpu, "24", "GPU-Hours", "0.95", "22.8"},
		{claimRef("shop", "data"), metrics.Storage, "240", "GiB-Hours", "0.00005479452", "0.0131506848"},
	} {
		c := find(t, l, tc.item, tc.res)
		if !c.Quantity.Equal(dec(tc.quantity)) || c.Unit != tc.unit || !c.Price.Equal(dec(tc.price)) || !c.Cost.Equal(dec(tc.cost)) {
			t.Errorf("%s: %s %s at %s cost %s, want %s %s at %s: %s", tc.res, c.Quantity, c.Unit, c.Price, c.Cost, tc.quantity, tc.unit, tc.price, tc.cost)
		}
		if c.Stack != red || c.UID == "" || c.Namespace != "shop" {
			t.Errorf("%s: charge %+v", tc.res, c)
		}
	}
	if want := "23.0536606848"; l.Total().String() != want {
		t.Errorf("total %s, want %s", l.Total(), want)
	}
}

// The larger of request and usage counts, as far as they are known; the source's own
// comparison of samples goes before both.
func TestReserved(t *testing.T) {
	amount := func(s string) metrics.Amounts {
		if s == "" {
			return nil
		}
		return metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec(s)})
	}
	for _, tc := range []struct{ charged, requested, used, want string }{
		{"", "2", "1", "2"},
		{"", "1", "2", "2"},
		{"", "1", "", "1"},
		{"", "", "2", "2"},
		{"", "0", "", "0"},
		{"3", "1", "2", "3"},
		{"1.5", "9", "9", "1.5"},
		{"", "", "", "unknown"},
		{"-1", "2", "", "unknown"},
		{"", "", "-2", "unknown"},
	} {
		got, known := reserved(&metrics.Pod{Charged: amount(tc.charged), Requested: amount(tc.requested), Used: amount(tc.used)}, metrics.CPU)
		if text := got.String(); known != (tc.want != "unknown") || known && text != tc.want {
			t.Errorf("charged %q, requested %q, used %q: %s, %t, want %s", tc.charged, tc.requested, tc.used, text, known, tc.want)
		}
	}
}

// What others get wrong: the unit of a claim is lost, a claim is known by its name
// alone, web-1 takes what is web-10's.
func TestNamesAndUnits(t *testing.T) {
	s := newScene()
	s.claim("shop", "data", "0.48828125", red) // 500Mi
	s.claim("tools", "data", "8", blue)
	s.pod("shop", "web-1", "", "1", "0", red)
	s.pod("shop", "web-10", "", "10", "0", green)
	s.pod("tools", "web-1", "", "100", "0", blue)
	l := s.ledger(Options{})
	wantLines(t, l,
		"green usage web-10 cpu 10 1/1", "green usage web-10 memory 0 1/1",
		"red unmounted data storage 0.48828125 1/1", "red usage web-1 cpu 1 1/1", "red usage web-1 memory 0 1/1",
		"blue unmounted data storage 8 1/1", "blue usage web-1 cpu 100 1/1", "blue usage web-1 memory 0 1/1",
	)
}

// A pod that came back under its name is another pod.
func TestUIDs(t *testing.T) {
	s := newScene()
	s.pod("shop", "db-0", "", "1", "0", red)
	s.pod("shop", "db-0", "", "2", "0", red).UID = "uid-0"
	l := s.ledger(Options{})
	wantLines(t, l,
		"red usage db-0 cpu 2 1/1", "red usage db-0 memory 0 1/1", "red usage db-0 cpu 1 1/1", "red usage db-0 memory 0 1/1")
}

// A stack that is named twice pays once.
func TestStacksCountOnce(t *testing.T) {
	s := newScene()
	s.pod("shop", "db-0", "", "1", "0", red, green, red)
	s.pod("shop", "web-1", "", "1", "0", green, green)
	wantLines(t, s.ledger(Options{}),
		"green usage db-0 cpu 0.5 0.5/2", "green usage db-0 memory 0 0.5/2", "green usage web-1 cpu 1 1/1", "green usage web-1 memory 0 1/1",
		"red usage db-0 cpu 0.5 0.5/2", "red usage db-0 memory 0 0.5/2")
}

func TestTraffic(t *testing.T) {
	s := newScene()
	traffic := metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.Sent: dec("1073741824"), metrics.Received: dec("5e9")})
	s.pod("shop", "window", "", "1", "0", red).Used = traffic
	host := s.pod("shop", "host", "", "1", "0", red)
	host.Used, host.HostNetwork = traffic, true
	s.pod("shop", "counters", "", "1", "0", red).Counters = traffic
	var got []string
	for _, line := range lines(s.ledger(Options{})) {
		if strings.Contains(line, "network") {
			got = append(got, line)
		}
	}
	if want := []string{"red usage window network-transmit 1 1/1"}; !slices.Equal(got, want) {
		t.Errorf("traffic %q, want %q: not the counters of a pod, nor the traffic of a host, nor what has no price", got, want)
	}
}

func TestPricesOfNodesAndNamespaces(t *testing.T) {
	s := newScene()
	s.node("spot", "0", "0")
	s.pod("shop", "a", "spot", "1", "0")
	s.pod("shop", "b", "unknown", "1", "0")
	s.pod("tools", "c", "spot", "1", "0")
	f := tariff{nodes: map[string]decimal.Decimal{"spot": dec("0.2"), "unknown": dec("9")}, namespaces: map[string]decimal.Decimal{"tools": dec("0.9")}}
	l := allocateAt(&s.UsageReport, &s.Attribution, f, Options{})
	for pod, want := range map[object.Ref][2]string{
		podRef("shop", "a"): {"0.2", "0.2"}, podRef("shop", "b"): {"1", "1"}, podRef("tools", "c"): {"0.2", "0.18"},
	} {
		if c := find(t, l, pod, metrics.CPU); !c.List.Equal(dec(want[0])) || !c.Price.Equal(dec(want[1])) || !c.Cost.Equal(dec(want[1])) {
			t.Errorf("%s: %s of %s, want %s of %s", pod, c.Price, c.List, want[1], want[0])
		}
	}
}

func TestBalancers(t *testing.T) {
	s := newScene()
	web := object.Ref{Kind: "Service", Namespace: "shop", Name: "web"}
	s.LoadBalancers = []metrics.LoadBalancer{{Service: web, Hours: dec("730")}}
	s.place(web, []object.Ref{green, red})
	wantLines(t, s.ledger(Options{}),
		"green usage web loadBalancer 365 0.5/2", "red usage web loadBalancer 365 0.5/2")
}

func TestClaims(t *testing.T) {
	p1, p2, p3, stray := podRef("shop", "p1"), podRef("shop", "p2"), podRef("shop", "p3"), podRef("shop", "stray")
	scene := func() *scene {
		s := newScene()
		s.place(p1, []object.Ref{red})
		s.place(p2, []object.Ref{green})
		s.place(p3, []object.Ref{red, green})
		return s
	}
	for _, tc := range []struct {
		name      string
		unmounted string
		mounts    map[object.Ref]string
		own       []object.Ref
		want      []string
	}{
		{
			"split by the time of its pods", "0",
			map[object.Ref]string{p1: "18", p2: "6"},
			[]object.Ref{red},
			[]string{"green usage data storage 60 0.25/2", "red usage data storage 180 0.75/2"},
		},
		{
			"the pods of a stack come together", "0",
			map[object.Ref]string{p1: "12", p3: "12"},
			nil,
			[]string{"green usage data storage 60 0.25/2", "red usage data storage 180 0.75/2"},
		},
		{
			"unmounted: its own stack pays", "18",
			map[object.Ref]string{p1: "6"},
			[]object.Ref{red},
			[]string{"red unmounted data storage 180 0.75/1", "red usage data storage 60 0.25/1"},
		},
		{
			"unmounted: of nobody", "18",
			map[object.Ref]string{p1: "6"},
			nil,
			[]string{"- unmounted data storage 180 0.75/1", "red usage data storage 60 0.25/1"},
		},
		{
			"unmounted: of several", "24", nil,
			[]object.Ref{red, green},
			[]string{"green unmounted data storage 120 0.5/2", "red unmounted data storage 120 0.5/2"},
		},
		{
			"a pod of no stack is not paid for by the claim's", "0",
			map[object.Ref]string{p1: "12", stray: "12"},
			[]object.Ref{red},
			[]string{"- usage data storage 120 0.5/1", "red usage data storage 120 0.5/1"},
		},
		{
			"nothing known of mounts", "0", nil,
			[]object.Ref{red},
			[]string{"red usage data storage 240 1/1"},
		},
		{
			"a mount of no time", "24",
			map[object.Ref]string{p2: "0"},
			[]object.Ref{red},
			[]string{"red unmounted data storage 240 1/1"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := scene()
			mounts(s.claim("shop", "data", "240", tc.own...), tc.unmounted, tc.mounts)
			wantLines(t, s.ledger(Options{}), tc.want...)
		})
	}
}

// Pieces without a price are told, once; what has one, and is free, is not.
func TestNoPrice(t *testing.T) {
	s := newScene()
	for _, name := range []string{"a", "b"} {
		s.pod("shop", name, "n1", "1", "1", red).Requested = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{gpu: dec("1"), "example.com/fpga": dec("2"), "example.com/none": dec("0"), "hugepages-2Mi": dec("9")})
	}
	notes := s.ledger(Options{}).Notes
	if len(notes) != 1 || notes[0].Subject != "example.com/fpga" || notes[0].Reason != "NoPrice" || !notes[0].LowersFigures {
		t.Errorf("notes %+v", notes)
	}
}

// A name that kube-state-metrics mangled, and that nobody knows, has no price, and is told: it has
// no slash.
func TestNoPriceOfMangled(t *testing.T) {
	s := newScene()
	s.pod("shop", "gone", "n1", "1", "1", red).Requested = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{"example_com_fpga": dec("2")})
	if notes := s.ledger(Options{}).Notes; len(notes) != 1 || notes[0].Subject != "example_com_fpga" || notes[0].Reason != "NoPrice" || !notes[0].LowersFigures {
		t.Errorf("notes %+v", notes)
	}
}

// Huge pages are memory: Kubernetes takes them out of the allocatable memory of a node, and leaves
// them in its capacity (kubernetes.io/docs/tasks/manage-hugepages). They are priced as memory, and
// what pods have of them is not idle a second time.
func TestHugePages(t *testing.T) {
	s := newScene()
	gib := decimal.NewFromInt(1 << 30)
	s.Nodes = []metrics.Node{{Name: "n1", Hours: s.Hours, Whole: true, Capacity: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{
		metrics.CPU: dec("1"), metrics.Memory: dec("16").Mul(gib), "hugepages-2Mi": dec("4").Mul(gib),
	})}}
	s.pod("shop", "db", "n1", "1", "2", red).Requested = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{"hugepages-2Mi": dec("3").Mul(gib)})
	wantLines(t, s.ledger(Options{}),
		"- idle n1 memory 11 1/1",
		"red usage db cpu 1 1/1", "red usage db hugepages-2Mi 3 1/1", "red usage db memory 2 1/1",
	)
	// A core, and 16 GiB at a tenth.
	if total := s.ledger(Options{}).Total(); !total.Equal(dec("2.6")) {
		t.Errorf("the node costs %s, want 2.6", total)
	}
}

// Volumes that no claim has cost what their class does, and nobody's stack pays.
func TestUnclaimed(t *testing.T) {
	s := newScene()
	s.pod("shop", "web", "n1", "1", "0", red)
	s.Unclaimed = []metrics.Volume{{Name: "pv-1", Claimed: dec("10").Mul(decimal.NewFromInt(1 << 30)), Hours: s.Hours}}
	l := s.ledger(Options{})
	wantLines(t, l, "- unclaimed pv-1 storage 10 1/1", "red usage web cpu 1 1/1", "red usage web memory 0 1/1")
	for _, by := range []string{ByStack, ByNamespace, ByNode, ByResource} {
		r := NewReport(&s.UsageReport, &s.Attribution, l, Grouping{Keys: []Key{{By: by}}})
		last := r.Rows[len(r.Rows)-1]
		if last.Name != "unclaimed volumes" || !last.Cost.Equal(dec("0.1")) || !last.Claimed.Value(metrics.Storage).Equal(s.Unclaimed[0].Claimed) || !r.Total.Cost.Equal(l.Total()) {
			t.Errorf("by %s the last row is %+v", by, last)
		}
	}
}

// Stacks that stand alone pay for the whole of a claim, whoever else mounts it; but not
// for one that is none of theirs.
func TestClaimAlone(t *testing.T) {
	s := newScene()
	pod, stray := podRef("shop", "of-red"), podRef("shop", "stray")
	s.place(pod, []object.Ref{red})
	s.claim("shop", "data", "240", red)
	s.claim("shop", "other", "240")
	for i := range s.Claims {
		c := &s.Claims[i]
		c.Unmounted = decimal.Decimal{}
		c.Mounts = []metrics.Mount{{Pod: pod, Hours: dec("6")}, {Pod: stray, Hours: dec("18")}}
	}
	wantLines(t, s.ledger(Options{Alone: true}),
		"- usage other storage 180 0.75/1",
		"red usage data storage 240 1/1",
		"red usage other storage 60 0.25/1",
	)
}

// Three pods of three stacks for eight hours each: the last digit goes to the
// first of the pods, whoever's it is.
func TestClaimAddsUp(t *testing.T) {
	s := newScene()
	c := s.claim("shop", "data", "1")
	c.Unmounted = decimal.Decimal{}
	for _, root := range []object.Ref{red, green, blue} {
		pod := podRef("shop", "of-"+root.Name)
		s.place(pod, []object.Ref{root})
		c.Mounts = append(c.Mounts, metrics.Mount{Pod: pod, Hours: dec("8")})
	}
	wantLines(t, s.ledger(Options{}),
		"green usage data storage 0.333333333333 0.333333333333/3",
		"red usage data storage 0.333333333333 0.333333333333/3",
		"blue usage data storage 0.333333333334 0.333333333334/3",
	)
}

func TestExtremes(t *testing.T) {
	t.Run("nothing", func(t *testing.T) {
		l := allocateAt(&metrics.UsageReport{}, &metrics.Attribution{}, tariff{}, Options{ShareIdle: true, ShareNamespaces: []string{"", "x"}, Weighted: true})
		if len(l.Charges) != 0 || len(l.Notes) != 0 || !l.Total().IsZero() {
			t.Errorf("ledger %+v", l)
		}
	})
	t.Run("an overhead of no hours and no stacks", func(t *testing.T) {
		l := allocateAt(&metrics.UsageReport{}, &metrics.Attribution{}, tariff{}, Options{ShareOverhead: dec("5")})
		wantLines(t, l, "- overhead -  0 1/1")
	})
	t.Run("huge", func(t *testing.T) {
		s := newScene()
		s.pod("shop", "a", "", "1e30", "1e30", red, green, blue)
		s.claim("shop", "b", "123456789e20", red, green)
		l := s.ledger(Options{Sharing: ShareWeight})
		// 1e30 core-hours at 1, 1e30 GiB-hours at 0.1, and storage at 0.01.
		want := dec("1e30").Add(dec("1e29")).Add(dec("123456789e18"))
		if !l.Total().Equal(want) {
			t.Errorf("total %s, want %s", l.Total(), want)
		}
	})
	t.Run("below zero", func(t *testing.T) {
		s := newScene()
		s.pod("shop", "a", "n1", "-1", "-1", red).Used = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.Sent: dec("-1")})
		s.claim("shop", "b", "-1", red)
		s.node("n1", "-1", "0")
		s.LoadBalancers = []metrics.LoadBalancer{{Service: object.Ref{Kind: "Service", Namespace: "shop", Name: "c"}, Hours: dec("-1")}}
		if l := s.ledger(Options{ShareIdle: true, ShareOverhead: dec("-1")}); len(l.Charges) != 0 {
			t.Errorf("ledger %q", lines(l))
		}
	})
	t.Run("unknown", func(t *testing.T) {
		s := newScene()
		s.Pods = []metrics.Pod{{Ref: podRef("shop", "a"), Unmeasured: "no sample yet"}}
		s.place(s.Pods[0].Ref, []object.Ref{red})
		if l := s.ledger(Options{}); len(l.Charges) != 0 {
			t.Errorf("ledger %q: what is not known is not zero", lines(l))
		}
	})
}
