package cost_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// labelled is a book in which every price is found by labels of a node.
const labelled = `apiVersion: sysop.dev/v1alpha1
kind: PriceBook
name: labels
currency: USD
cpu: "1"
memory: "0.1"
storage: "0"
gpu:
- {label: nvidia.com/gpu.product, models: {Tesla-T4: "0.5"}}
overrides:
- {name: pool, nodes: {selector: "example.com/nodePool=batch"}, cpu: "0.2"}
- {name: large, nodes: {instanceTypes: [m5.large]}, cpu: "0.3"}
- {name: abroad, nodes: {regions: [eu-west-1]}, cpu: "0.4"}
- {name: spot, nodes: {spot: true}, cpu: "0.5"}
`

// TestGoneNodes has the labels of nodes under the names that kube-state-metrics gives them
// (SanitizeLabelName and toSnakeCase in its internal/store/utils.go), which are those of a node
// that only a history knows. A node of the cluster has its true labels.
func TestGoneNodes(t *testing.T) {
	book := parseText(t, "labels.yaml", labelled)
	for _, c := range []struct{ label, value, want string }{
		{"example_com_node_pool", "batch", "cpu/pool"},
		{"node_kubernetes_io_instance_type", "m5.large", "cpu/large"},
		{"beta_kubernetes_io_instance_type", "m5.large", "cpu/large"},
		{"topology_kubernetes_io_region", "eu-west-1", "cpu/abroad"},
		{"karpenter_sh_capacity_type", "spot", "cpu/spot"},
		{"eks_amazonaws_com_capacity_type", "SPOT", "cpu/spot"},
	} {
		node := &metrics.Node{Name: c.label, Labels: map[string]string{c.label: c.value}, Gone: true}
		if got := book.Node(node, "").CPU.SKU; got != c.want {
			t.Errorf("a node that is gone with the label %s=%s pays by %s, want %s", c.label, c.value, got, c.want)
		}
		here := &metrics.Node{Name: "here-" + c.label, Labels: node.Labels}
		if got := book.Node(here, "").CPU.SKU; got != "cpu" {
			t.Errorf("a node of the cluster that really has the label %s pays by %s, want cpu", c.label, got)
		}
	}
	gpus := &metrics.Node{Name: "gpus", Labels: map[string]string{"nvidia_com_gpu_product": "Tesla-T4"}, Gone: true}
	is(t, "the GPU of a node that is gone", book.Node(gpus, "").Extended["nvidia.com/gpu"], "0.5 nvidia.com/gpu/Tesla-T4")
}

// TestNoLabels has nodes that are gone and of which kube-state-metrics exports no labels, as it
// does not unless --metric-labels-allowlist says so: an override may not hold by what a node
// is not known not to have, and base prices are said to be used.
func TestNoLabels(t *testing.T) {
	const onDemand = `apiVersion: sysop.dev/v1alpha1
kind: PriceBook
name: labels
currency: USD
cpu: "1"
memory: "0.1"
storage: "0"
overrides:
- {name: on-demand, nodes: {spot: false}, cpu: "3"}
- {name: not-batch, nodes: {selector: "pool!=batch"}, cpu: "2"}
`
	nodes := []metrics.Node{
		{Name: "a", Gone: true, Hours: decimal.RequireFromString("2.5")},
		{Name: "b", Gone: true, Hours: decimal.RequireFromString("0.25")},
		{Name: "here", Hours: decimal.NewFromInt(9)},
	}
	zoned := &metrics.Node{Name: "zoned", Gone: true, Labels: map[string]string{"topology_kubernetes_io_zone": "a"}}
	if book := parseText(t, "labels.yaml", onDemand); book.Node(zoned, "").CPU.SKU != "cpu" || !book.LabelsUnknown(zoned) {
		t.Error("a node of which only the zone is known pays by what it is not known not to have")
	}
	for text, want := range map[string]string{onDemand: "2.75 hours of 2 deleted nodes", labelled: "2.75 hours of 2 deleted nodes", strings.Split(onDemand, "overrides")[0]: ""} {
		book := parseText(t, "labels.yaml", text)
		if got := book.Node(&nodes[0], "").CPU.SKU; got != "cpu" {
			t.Errorf("a node without known labels pays by %s, want cpu", got)
		}
		r := &metrics.UsageReport{From: time.Unix(0, 0), To: time.Unix(36000, 0), Hours: decimal.NewFromInt(10), Nodes: nodes}
		notes := cost.Allocate(r, &metrics.Attribution{}, book, cost.Options{}).Notes
		told := ""
		for _, n := range notes {
			if n.Reason == "FlatPrices" {
				told += n.Message
			}
		}
		if want == "" && told != "" || !strings.Contains(told, want) {
			t.Errorf("the notes say %q, want %q", told, want)
		}
	}
}
