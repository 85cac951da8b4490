package cost_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// is compares a price with the text "list net sku", or "price sku" where both are one.
func is(t *testing.T, what string, got cost.Price, want string) {
	t.Helper()
	words := strings.Fields(want)
	if want == "" { // no price
		words = []string{"0", "0", ""}
	}
	list, net, sku := words[0], words[len(words)-2], words[len(words)-1]
	if !got.List.Equal(dec(list)) || !got.Net.Equal(dec(net)) || got.SKU != sku {
		t.Errorf("%s: got %s %s %s, want %s", what, got.List, got.Net, got.SKU, want)
	}
}

// TestDefaultBook holds the default prices equal to those that OpenCost publishes.
func TestDefaultBook(t *testing.T) {
	published := parse(t, "opencost/default.json")
	for name, b := range map[string]*cost.Book{"default": cost.DefaultBook(), "published": published} {
		if b.Currency != "USD" {
			t.Errorf("%s: currency %s", name, b.Currency)
		}
		spot := m5()
		for _, n := range []*metrics.Node{nil, m5()} {
			r := b.Node(n, "shop")
			is(t, name, r.CPU, "0.031611 cpu")
			is(t, name, r.Memory, "0.004237 memory")
			is(t, name, r.Extended["nvidia.com/gpu"], "0.95 nvidia.com/gpu")
			if len(r.Extended) != 1 {
				t.Errorf("%s: extended resources %v", name, r.Extended)
			}
		}
		spot.Labels["karpenter.sh/capacity-type"] = "spot"
		r := b.Node(spot, "shop")
		is(t, name, r.CPU, "0.006655 cpu/spot")
		is(t, name, r.Memory, "0.000892 memory/spot")
		is(t, name, r.Extended["nvidia.com/gpu"], "0.95 nvidia.com/gpu")
		is(t, name, b.Storage("", "shop"), "0.00005479452 storage")
		is(t, name, b.Storage("ssd", ""), "0.00005479452 storage")
		is(t, name, b.Traffic(metrics.Sent, "shop"), "")
		is(t, name, b.Traffic(metrics.Received, "shop"), "")
		is(t, name, b.Balancer("shop"), "0 loadBalancer")
		for key, want := range map[string]string{
			"zoneNetworkEgress": "0.01", "regionNetworkEgress": "0.01", "internetNetworkEgress": "0.12", "natGatewayEgress": "0.045", "natGatewayIngress": "0.045",
			"additionalForwardingRuleCost": "0.0", "LBIngressDataCost": "0.0",
		} {
			if got, ok := b.NotCharged()[key]; !ok || !got.Equal(dec(want)) {
				t.Errorf("%s: %s is %s, want %s", name, key, got, want)
			}
		}
	}
	if published.Name != "Default prices based on GCP us-central1" {
		t.Errorf("name %q", published.Name)
	}
	d, p := cost.DefaultBook().Document(), published.Document()
	if p.Name = d.Name; !reflect.DeepEqual(d, p) {
		t.Errorf("the default book is\n%+v\nthe published one\n%+v", d, p)
	}
}

// TestSpot: each cloud has a label of its own.
func TestSpot(t *testing.T) {
	for label, spot := range map[string]bool{
		"karpenter.sh/capacity-type=spot": true, "karpenter.sh/capacity-type=on-demand": false,
		"eks.amazonaws.com/capacityType=SPOT": true, "eks.amazonaws.com/capacityType=ON_DEMAND": false,
		"cloud.google.com/gke-spot=true": true, "cloud.google.com/gke-preemptible=true": true, "cloud.google.com/gke-spot=false": false,
		"kubernetes.azure.com/scalesetpriority=spot": true, "kubernetes.azure.com/scalesetpriority=regular": false,
	} {
		n := m5()
		key, value, _ := strings.Cut(label, "=")
		n.Labels[key] = value
		if got := cost.DefaultBook().Node(n, "").CPU.SKU == "cpu/spot"; got != spot {
			t.Errorf("%s: spot is %v", label, got)
		}
	}
}

// TestFullBook goes through every field of the format.
func TestFullBook(t *testing.T) {
	b := parse(t, "books/full.yaml")
	if b.Name != "platform prices 2026" || b.Currency != "EUR" {
		t.Errorf("book %s in %s", b.Name, b.Currency)
	}
	flat := b.Node(nil, "")
	is(t, "a core: 5% and 10% off", flat.CPU, "0.03 0.02565 cpu")
	is(t, "memory by the month", flat.Memory, "0.004 0.0036 memory")
	is(t, "gpu", flat.Extended["nvidia.com/gpu"], "0.95 0.855 nvidia.com/gpu")
	is(t, "fpga by the month", flat.Extended["example.com/fpga"], "0.5 0.45 example.com/fpga")

	is(t, "storage by the month", b.Storage("", ""), "0.000054794520547945 0.000049315068493151 storage")
	is(t, "storage class", b.Storage("ssd", "other"), "0.000137 0.0001233 storage/ssd")
	is(t, "namespace", b.Storage("ssd", "shop"), "0.0002 0.00009 storage/tenant")
	is(t, "pattern", b.Storage("", "team-b"), "0.0002 0.00009 storage/tenant")
	is(t, "no pattern", b.Storage("ssd", "teams"), "0.000137 0.0001233 storage/ssd")
	is(t, "volume", b.Claim(&metrics.Claim{Volume: "pv-imported", Class: "ssd"}), "0 volume/pv-imported")
	is(t, "volume of a class", b.Claim(&metrics.Claim{Volume: "pv-2", Class: "ssd"}), "0.000137 0.0001233 storage/ssd")
	is(t, "volume in a namespace", b.Claim(&metrics.Claim{Ref: object.Ref{Namespace: "shop"}, Volume: "pv-imported"}), "0.0002 0.00009 storage/tenant")
	is(t, "sent", b.Traffic(metrics.Sent, ""), "0.09 0.081 network/transmit")
	is(t, "received", b.Traffic(metrics.Received, ""), "0 network/receive")
	is(t, "balancer", b.Balancer("other"), "0.025 0.0225 loadBalancer")
	is(t, "balancer of the tenant", b.Balancer("shop"), "0 loadBalancer/tenant")

	arm := &metrics.Node{Labels: map[string]string{"arch": "arm64"}}
	is(t, "selector", b.Node(arm, "").CPU, "0.02 0.0171 cpu/override-5")
	arm = &metrics.Node{Labels: map[string]string{"arch": "arm64", "cloud.google.com/gke-spot": "true"}}
	is(t, "the first override decides", b.Node(arm, "").CPU, "0.006 0.00513 cpu/spot")
	if got := b.Matched(arm, "shop"); !slices.Equal(got, []string{"tenant", "spot", "override-5"}) {
		t.Errorf("matched %v", got)
	}
	t4 := &metrics.Node{Labels: map[string]string{"nvidia.com/gpu.product": "Tesla-T4"}}
	is(t, "model", b.Node(t4, "").Extended["nvidia.com/gpu"], "0.35 0.315 nvidia.com/gpu/Tesla-T4")
	other := &metrics.Node{Labels: map[string]string{"nvidia.com/gpu.product": "L4"}}
	is(t, "model without a price", b.Node(other, "").Extended["nvidia.com/gpu"], "0.95 0.855 nvidia.com/gpu")
}

// TestNodePrice recomputes appendix A of the OpenCost specification by hand.
func TestNodePrice(t *testing.T) {
	b := parse(t, "books/full.yaml")
	// 4 cores at 0.03 and 16 GiB at 0.004 are 0.184; the node is 0.192: factor 24/23.
	r := b.Node(m5(), "")
	is(t, "cpu", r.CPU, "0.031304347826086957 0.026765217391304348 cpu/large@0.031304347826086957")
	is(t, "memory", r.Memory, "0.004173913043478261 0.003756521739130435 memory/large@0.004173913043478261")
	adds := r.CPU.List.Mul(dec("4")).Add(r.Memory.List.Mul(dec("16")))
	if off := adds.Sub(dec("0.192")).Abs(); off.GreaterThan(dec("0.00000000000000001")) {
		t.Errorf("the parts are %s, which is %s off", adds, off)
	}
	// The price of the other covers CPU and memory, 8 cores and 64 GiB, which cost
	// 0.24 + 0.256 = 0.496 without it, and 0.5 with it; GPUs come on top.
	r = b.Node(gpuNode(), "")
	is(t, "cpu beside GPUs", r.CPU, "0.030241935483870968 0.025856854838709678 cpu/gpu-nodes@0.030241935483870968")
	is(t, "gpu on top", r.Extended["nvidia.com/gpu"], "1 0.9 nvidia.com/gpu/gpu-nodes")

	whole := parseText(t, "b.yaml", strings.Replace(minimal, "overrides: []", "gpu: {models: {NVIDIA-A100-SXM4-40GB: 3}}\noverrides: [{name: all, nodes: pool=gpu, node: 14.4}]", 1))
	// 8 cores at 0.02, 64 GiB at 0.005 and 2 GPUs at 3 are 6.48; 14.4 is 20/9 of it.
	r = whole.Node(gpuNode(), "")
	is(t, "cpu of all", r.CPU, "0.044444444444444444 cpu/all@0.044444444444444444")
	is(t, "memory of all", r.Memory, "0.011111111111111111 memory/all@0.011111111111111111")
	is(t, "gpu of all", r.Extended["nvidia.com/gpu"], "6.666666666666666667 nvidia.com/gpu/all@6.666666666666666667")

	for what, spoil := range map[string]func(*metrics.Node){
		"no capacity":     func(n *metrics.Node) { n.Capacity = nil },
		"no cpu capacity": func(n *metrics.Node) { n.Capacity = n.Capacity.Without(metrics.CPU) },
		"no hours":        func(n *metrics.Node) { n.Hours = decimal.Zero },
	} {
		n := m5()
		spoil(n)
		is(t, what, b.Node(n, "").CPU, "0.03 0.02565 cpu")
	}
}

const minimal = `apiVersion: sysop.dev/v1alpha1
kind: PriceBook
currency: USD
cpu: 0.02
memory: 0.005
storage: 0.0001
overrides: []
`

// TestNodePriceProperty: whatever a node offers and costs, its parts add up to its
// price, within half of the last place for every unit, and keep their ratio.
func TestNodePriceProperty(t *testing.T) {
	for cores := int64(1); cores < 200; cores = cores*2 + 1 {
		for memory := int64(1); memory < 800; memory = memory*3 + 1 {
			for _, price := range []string{"0", "0.0000001", "0.333333", "7", "99.99"} {
				b := parseText(t, "b.yaml", strings.Replace(minimal, "[]", "[{name: n, nodes: {names: 'worker-*'}, node: "+price+"}]", 1))
				n := m5()
				n.Hours = dec("3")
				n.Capacity = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: decimal.NewFromInt(3 * cores), metrics.Memory: gibibytes(3 * memory)})
				r := b.Node(n, "")
				sum := r.CPU.List.Mul(decimal.NewFromInt(cores)).Add(r.Memory.List.Mul(decimal.NewFromInt(memory)))
				last := decimal.New(cores+memory, -cost.Digits)
				if sum.Sub(dec(price)).Abs().Mul(dec("2")).GreaterThan(last) {
					t.Errorf("%d cores, %d GiB at %s: the parts are %s", cores, memory, price, sum)
				}
				if r.CPU.List.Sub(r.Memory.List.Mul(dec("4"))).Abs().GreaterThan(dec("0.00000000000000001")) {
					t.Errorf("%d cores, %d GiB at %s: %s and %s are not as 4 to 1", cores, memory, price, r.CPU.List, r.Memory.List)
				}
			}
		}
	}
}

// TestConcurrent asks for the prices of many nodes and namespaces at once; another
// reading has other nodes by the same names.
func TestConcurrent(t *testing.T) {
	b := parse(t, "books/full.yaml")
	small := m5()
	small.Capacity = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("2"), metrics.Memory: gibibytes(8)})
	want := map[*metrics.Node]string{m5(): "0.031304347826086957", small: "0.062608695652173913"}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n, cpu := range want {
				for _, ns := range []string{"", "shop", "team-a", fmt.Sprint("other-", i)} {
					if got := b.Node(n, ns).CPU.List; !got.Equal(dec(cpu)) {
						t.Errorf("in %s: %s, want %s", ns, got, cpu)
					}
				}
			}
		})
	}
	wg.Wait()
}

// TestLines: every price of the book is a line, under a name of its own.
func TestLines(t *testing.T) {
	b := parse(t, "books/full.yaml")
	seen := map[string]cost.Line{}
	for _, l := range b.Lines() {
		if _, ok := seen[l.SKU]; ok {
			t.Errorf("two lines %s", l.SKU)
		}
		seen[l.SKU] = l
	}
	for sku, want := range map[string]string{
		"cpu": "0.03 0.02565 cpu", "storage/archive": "0.000013698630136986 0.000012328767123287 storage/archive", "volume/pv-imported": "0 volume/pv-imported",
		"node/large": "0.192 0.1728 node/large", "nvidia.com/gpu/Tesla-T4": "0.35 0.315 nvidia.com/gpu/Tesla-T4", "storage/tenant": "0.0002 0.00009 storage/tenant",
		"cpu/override-5": "0.02 0.0171 cpu/override-5",
	} {
		is(t, sku, seen[sku].Price, want)
	}
	if l := seen["cpu/override-5"]; l.Where != "arch=arm64,!legacy" || !l.Timed || l.Unit != "core-hour" {
		t.Errorf("line %+v", l)
	}
	if l := seen["internetNetworkEgress"]; !l.NotCharged || l.Timed {
		t.Errorf("line %+v", l)
	}
	if len(seen) != 22 {
		t.Errorf("%d lines: %v", len(seen), slices.Sorted(maps.Keys(seen)))
	}
}

func BenchmarkNode(b *testing.B) {
	book, n := cost.DefaultBook(), m5()
	for b.Loop() {
		book.Node(n, "shop")
	}
}

// BenchmarkTenants asks for the prices of a pod with many overrides, one a tenant.
func BenchmarkTenants(b *testing.B) {
	var overrides strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&overrides, "- {namespaces: 'tenant-%d-*', storage: 1, loadBalancer: 2, discounts: {cpu: 5%%}}\n", i)
	}
	book, problems := cost.ParseBook("b.yaml", []byte(strings.Replace(minimal, "[]", "\n"+overrides.String(), 1)))
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	n := m5()
	for b.Loop() {
		book.Node(n, "tenant-500-a")
		book.Storage("ssd", "tenant-500-a")
		book.Traffic(metrics.Sent, "tenant-500-a")
	}
}
