package windows

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// collect collects objects.
func collect(t *testing.T, documents ...string) *metrics.Collector {
	t.Helper()
	c := &metrics.Collector{}
	for _, text := range documents {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
			t.Fatal(err)
		}
		c.Add(object.Object{Ref: object.Ref{Group: u.GroupVersionKind().Group, Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}, Version: "v1", Meta: u, Body: u})
	}
	return c
}

// window is what the objects say before the window is measured.
func window(c *metrics.Collector) *metrics.UsageReport {
	return c.Window(time.UnixMilli(at(120)), time.UnixMilli(at(240)), metrics.ReportOptions{Whole: true})
}

// TestRequestsOfSpec has requests that no metric of kube-state-metrics tells: of a pod as a whole,
// of an init container, and devices of a ResourceClaim. They are known of pods that are there; of one that is gone the
// containers are known, and a note says so.
func TestRequestsOfSpec(t *testing.T) {
	f := &truth{T: t}
	for name, uid := range map[string]string{"whole": uidA, "init": uidB, "gone": "cccccccc-2222-3333-4444-555555555555"} {
		l := podLabels("shop", name, uid)
		f.over("kube_pod_info", with2(l, "node", "n1"), 0, 240, "1")
		f.over("kube_pod_status_phase", with2(l, "phase", "Running"), 0, 240, "1")
		f.over("kube_pod_container_resource_requests", with2(l, "container", "app", "resource", "cpu", "unit", "core"), 0, 240, "1")
	}
	c := collect(t,
		`{kind: Pod, metadata: {namespace: shop, name: whole, uid: `+uidA+`}, spec: {nodeName: n1, resources: {requests: {cpu: "3"}}, containers: [{name: app, resources: {requests: {cpu: "1"}}}]}, status: {phase: Running}}`,
		`{kind: Pod, metadata: {namespace: shop, name: init, uid: `+uidB+`}, spec: {nodeName: n1, initContainers: [{name: migrate, resources: {requests: {cpu: "2"}}}], containers: [{name: app, resources: {requests: {cpu: "1"}}}]}, status: {phase: Running}}`,
		`{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {namespace: shop, name: cards}, spec: {devices: {requests: [{name: card, exactly: {deviceClassName: gpu.example.com, count: 2}}]}}, status: {allocation: {devices: {results: [{request: card, driver: d, pool: p, device: a}, {request: card, driver: d, pool: p, device: b}]}}, reservedFor: [{resource: pods, name: init, uid: `+uidB+`}]}}`,
	)
	r := f.read(window(c), func(o *metrics.HistoryOptions) { o.Resources = c.Resources() })
	for name, want := range map[string]string{"whole": "6", "init": "4", "gone": "2"} {
		p := podOf(t, r, name, "")
		equal(t, "request of "+name, p.Requested.Value(metrics.CPU), want)
		equal(t, "charge of "+name, p.Charged.Value(metrics.CPU), want)
		if p.Gone != (name == "gone") {
			t.Errorf("%s: gone is %v", name, p.Gone)
		}
	}
	const device = "deviceclass.resource.kubernetes.io/gpu.example.com"
	equal(t, "devices", podOf(t, r, "init", "").Requested.Value(device), "4")
	equal(t, "devices charged", podOf(t, r, "init", "").Charged.Value(device), "4")
	if n := note(r, "Requests"); !strings.HasPrefix(n.Message, "requests of 1 deleted pods are those of their containers") {
		t.Errorf("the note is %q", n.Message)
	}
}

// TestPendingBalancer has a load balancer without an address: neither at an instant nor over a
// window it costs anything, and both say so.
func TestPendingBalancer(t *testing.T) {
	f := &truth{T: t}
	for _, name := range []string{"front", "soon"} {
		f.over("kube_service_spec_type", map[string]string{"namespace": "shop", "service": name, "type": "LoadBalancer"}, 0, 240, "1")
	}
	f.over("kube_service_status_load_balancer_ingress", map[string]string{"namespace": "shop", "service": "front", "ip": "192.0.2.1"}, 0, 240, "1")
	f.over("kube_pod_status_phase", with2(podLabels("shop", "web", uidA), "phase", "Running"), 0, 240, "1")
	c := collect(t,
		`{kind: Service, metadata: {namespace: shop, name: front}, spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}}`,
		`{kind: Service, metadata: {namespace: shop, name: soon}, spec: {type: LoadBalancer}}`)
	instant, over := c.Report(time.UnixMilli(at(240)), metrics.ReportOptions{}), f.read(window(c))
	for name, r := range map[string]*metrics.UsageReport{"instant": instant, "window": over} {
		if len(r.LoadBalancers) != 1 || r.LoadBalancers[0].Service.Name != "front" {
			t.Errorf("%s: load balancers are %+v", name, r.LoadBalancers)
		}
		if n := note(r, "Pending"); n.Subject != "Service/shop/soon" || n != note(instant, "Pending") {
			t.Errorf("%s: the note is %+v", name, n)
		}
	}
	equal(t, "hours", over.LoadBalancers[0].Hours, "2")
}

// TestResourcesOfCluster has a pod that is gone, with resources whose names kube-state-metrics
// wrote in its way: that of the price book is charged, that of a node and that of nobody have no
// price, which is noted.
func TestResourcesOfCluster(t *testing.T) {
	f := &truth{T: t}
	l := podLabels("shop", "gone", uidA)
	f.over("kube_pod_status_phase", with2(l, "phase", "Running"), 0, 240, "1")
	for _, name := range []string{"google_com_tpu", "habana_ai_gaudi", "example_com_fpga"} {
		f.over("kube_pod_container_resource_requests", with2(l, "container", "c", "resource", name), 0, 240, "3")
	}
	book, problems := cost.ParseBook("book.yaml", []byte("apiVersion: sysop.dev/v1alpha1\nkind: PriceBook\ncurrency: EUR\ncpu: 1\nmemory: 1\nstorage: 1\nextended: {habana.ai/gaudi: 2}\n"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	c := collect(t, `{kind: Node, metadata: {name: n1}, status: {capacity: {cpu: "4", google.com/tpu: "8"}}}`)
	r := f.read(window(c), func(o *metrics.HistoryOptions) { o.Resources = slices.Concat(book.Resources(), c.Resources()) })
	metrics.Settle(r)
	ledger := cost.Allocate(r, &metrics.Attribution{}, book, cost.Options{})
	var unpriced []string
	for _, n := range ledger.Notes {
		if n.Reason == "NoPrice" {
			unpriced = append(unpriced, n.Subject)
		}
	}
	if got := strings.Join(unpriced, " "); got != "example_com_fpga google.com/tpu" {
		t.Errorf("resources without a price are %s", got)
	}
	i := slices.IndexFunc(ledger.Charges, func(c cost.Charge) bool { return c.Resource == "habana.ai/gaudi" && c.Kind == cost.Used })
	if i < 0 {
		t.Fatalf("charges are %+v", ledger.Charges)
	}
	equal(t, "what is charged", ledger.Charges[i].Cost, "12")
}
