package cost

import (
	"cmp"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// DefaultBook is OpenCost's public default prices, in USD: those of its
// configs/default.json (opencost/opencost at 0d1f69cc). Traffic costs nothing: OpenCost
// has prices for what leaves a zone, a region and the cloud, and no source here
// distinguishes these.
func DefaultBook() *Book {
	d := decimal.RequireFromString
	ptr := func(s string) *decimal.Decimal { v := d(s); return &v }
	return &Book{
		Name: "default", Currency: "USD",
		base: prices{
			cpu: ptr("0.031611"), memory: ptr("0.004237"), storage: StorageDocument{Default: ptr("0.00005479452")},
			extended: map[metrics.Resource]decimal.Decimal{defaultGPU: d("0.95")},
			balancer: ptr("0"),
		},
		overrides: []override{spotOverride(prices{cpu: ptr("0.006655"), memory: ptr("0.000892")})},
		notCharged: map[string]decimal.Decimal{
			"zoneNetworkEgress": d("0.01"), "regionNetworkEgress": d("0.01"), "internetNetworkEgress": d("0.12"),
			"natGatewayEgress": d("0.045"), "natGatewayIngress": d("0.045"),
			"additionalForwardingRuleCost": d("0"), "LBIngressDataCost": d("0"),
		},
	}
}

func spotOverride(p prices) override {
	spot := true
	return override{name: "spot", nodes: &nodeSelector{spot: &spot}, prices: p}
}

// openCostNotCharged are the prices in OpenCost's configuration of what is not measured
// here, with their units.
func openCostNotCharged() map[string]string {
	return map[string]string{
		"zoneNetworkEgress": "GiB", "regionNetworkEgress": "GiB", "internetNetworkEgress": "GiB", "natGatewayEgress": "GiB", "natGatewayIngress": "GiB",
		"LBIngressDataCost": "GiB", "additionalForwardingRuleCost": "hour",
	}
}

// openCostUnit is what a price that is not charged is of; a dash where the name is none of
// OpenCost's.
func openCostUnit(name string) string {
	return cmp.Or(openCostNotCharged()[name], "-")
}

// Keys of OpenCost's configuration that make a document one.
func openCostMarks() []string {
	return []string{"CPU", "RAM", "spotCPU", "spotRAM", "customPricesEnabled"}
}

// isOpenCost says whether a document is a configuration of OpenCost: it does not say
// what it is, and has prices by their names.
func isOpenCost(root *yaml.Node) bool {
	found := false
	for i := 0; i+1 < len(root.Content); i += 2 {
		switch key := root.Content[i].Value; {
		case key == "apiVersion" || key == "kind":
			return false
		case slices.Contains(openCostMarks(), key):
			found = true
		}
	}
	return found
}

// openCostIgnored are keys of OpenCost's configuration that say nothing of prices: how
// clouds are asked, and how costs are shared there (options of ours).
func openCostIgnored(key string) bool {
	for _, prefix := range []string{"aws", "azure", "alibaba", "athena", "shared", "oracle", "gcp"} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return slices.Contains([]string{
		"provider", "gpuLabel", "gpuLabelValue", "projectID", "masterPayerARN", "billingDataDataset", "customPricesEnabled", "defaultIdle",
		"clusterName", "clusterAccount", "shareTenancyCosts", "readOnly", "editorAccess", "kubecostToken", "googleAnalyticsTag", "excludeProviderID",
	}, key)
}

// openCost reads a configuration of OpenCost. Prices are those of an hour, as they
// are in files; the monthly prices of its web page are in no file.
func (r *bookReader) openCost(root *yaml.Node) {
	b := &Book{Name: r.name, Currency: "USD"}
	r.book = b
	spot, byLabel := prices{}, [2]string{}
	var gpu, spotGPU, anyBalancer *decimal.Decimal
	fields := []strict.Field{
		{Name: "description", Set: func(n *yaml.Node) {
			if n.Value != "" {
				b.Name = readLine(&r.Mapping, n)
			}
		}},
		{Name: "currencyCode", Set: func(n *yaml.Node) {
			if n.Value != "" {
				b.Currency = readCurrency(&r.Mapping, n)
			}
		}},
		r.imported("CPU", true, &b.base.cpu), r.imported("RAM", true, &b.base.memory), r.imported("storage", true, &b.base.storage.Default),
		r.imported("spotCPU", false, &spot.cpu), r.imported("spotRAM", false, &spot.memory),
		r.imported("GPU", false, &gpu), r.imported("spotGPU", false, &spotGPU),
		r.imported("firstFiveForwardingRulesCost", false, &b.base.balancer), r.imported("defaultLBPrice", false, &anyBalancer),
		{Name: "spotLabel", Set: func(n *yaml.Node) { byLabel[0] = n.Value }},
		{Name: "spotLabelValue", Set: func(n *yaml.Node) { byLabel[1] = n.Value }},
		{Name: "discount", Set: func(n *yaml.Node) { r.openCostDiscount(n) }},
		{Name: "negotiatedDiscount", Set: func(n *yaml.Node) { r.openCostDiscount(n) }},
	}
	for name := range openCostNotCharged() {
		fields = append(fields, strict.Field{Name: name, Set: func(n *yaml.Node) {
			if d := r.importedPrice(n, false); d != nil {
				if b.notCharged == nil {
					b.notCharged = map[string]decimal.Decimal{}
				}
				b.notCharged[name] = *d
			}
		}})
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if key := root.Content[i].Value; openCostIgnored(key) {
			fields = append(fields, strict.Field{Name: key, Set: func(*yaml.Node) {}})
		}
	}
	r.Struct(root, &struct{}{}, nil, fields...)
	if gpu != nil {
		b.base.extended = map[metrics.Resource]decimal.Decimal{defaultGPU: *gpu}
	}
	if spotGPU != nil {
		spot.extended = map[metrics.Resource]decimal.Decimal{defaultGPU: *spotGPU}
	}
	if b.base.balancer == nil || b.base.balancer.IsZero() && anyBalancer != nil {
		b.base.balancer = anyBalancer
	}
	if spot.cpu != nil || spot.memory != nil || spot.extended != nil {
		b.overrides = append(b.overrides, spotOverride(spot))
		r.spotLabel(root, byLabel, spot)
	}
}

// spotLabel adds the label of its own by which OpenCost recognizes a spot node.
func (r *bookReader) spotLabel(root *yaml.Node, label [2]string, spot prices) {
	if label[0] == "" || label[1] == "" {
		return
	}
	q, err := labels.NewRequirement(label[0], selection.Equals, []string{label[1]})
	if err != nil {
		r.Report(root, "spotLabel and spotLabelValue are not a label: %v", err)
		return
	}
	r.book.overrides = append(r.book.overrides, override{name: "spot-label", nodes: &nodeSelector{labels: labels.NewSelector().Add(*q)}, prices: spot})
}

// imported returns a field with a price of OpenCost. An empty text says none.
func (r *bookReader) imported(name string, required bool, into **decimal.Decimal) strict.Field {
	return strict.Field{Name: name, Required: required, Set: func(n *yaml.Node) { *into = r.importedPrice(n, required) }}
}

func (r *bookReader) importedPrice(n *yaml.Node, required bool) *decimal.Decimal {
	switch {
	case n.Kind != yaml.ScalarNode || n.Tag == "!!null":
		r.Report(n, `expected a price: a string such as "0.031611"`)
		return nil
	case n.Value == "" && !required:
		return nil
	}
	d, wrong := parseImported(strings.TrimSpace(n.Value))
	if wrong != "" {
		r.Report(n, "%q %s", field.Shorten(n.Value), wrong)
		return nil
	}
	return &d
}

// openCostDiscount takes a discount off CPU and memory, as OpenCost does: its two
// discounts one after the other.
func (r *bookReader) openCostDiscount(n *yaml.Node) {
	if n.Value == "" && n.Kind == yaml.ScalarNode {
		return
	}
	d, wrong := parseDiscount(n.Value)
	if n.Kind != yaml.ScalarNode || wrong != "" {
		r.Report(n, "%q %s", field.Shorten(n.Value), wrong)
		return
	}
	p, one := &r.book.base, decimal.NewFromInt(1)
	if d.IsZero() {
		return
	}
	both := one.Sub(one.Sub(p.discounts[discountCPU]).Mul(one.Sub(d))).Round(12)
	p.discounts = map[string]decimal.Decimal{discountCPU: both, discountMemory: both}
}
