package cost

import (
	"reflect"

	"github.com/shopspring/decimal"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// BookDocument is a price book as it is written (docs/schema/prices.json): prices of
// an hour, in decimals. ParseBook reads it, in JSON and YAML, and makes the same book
// of it.
type BookDocument struct {
	APIVersion string `json:"apiVersion" read:"-"`
	Kind       string `json:"kind" read:"-"`
	Name       string `json:"name,omitempty" read:"line"`
	Currency   string `json:"currency" read:"currency,required"`

	CPU          *decimal.Decimal                     `json:"cpu" read:"hourly,required"`
	Memory       *decimal.Decimal                     `json:"memory" read:"hourly,required"`
	Storage      StorageDocument                      `json:"storage" read:"base,required"`
	Extended     map[metrics.Resource]decimal.Decimal `json:"extended,omitempty" read:"extended"`
	GPU          []GPUDocument                        `json:"gpu,omitempty" read:"models"`
	Network      NetworkDocument                      `json:"network,omitzero"`
	LoadBalancer *decimal.Decimal                     `json:"loadBalancer,omitempty" read:"hourly"`
	Snapshot     *decimal.Decimal                     `json:"snapshot,omitempty" read:"hourly"`
	Discounts    map[string]string                    `json:"discounts,omitempty" read:"discounts"`
	Overrides    []OverrideDocument                   `json:"overrides,omitempty" read:"overrides"`
	NotCharged   map[string]decimal.Decimal           `json:"notCharged,omitempty" read:"notCharged"`

	// SharedNamespaces and SharedLabels are what all stacks pay for, and SharedBy how that is split.
	SharedNamespaces []string            `json:"sharedNamespaces,omitempty" read:"namespaces"`
	SharedLabels     map[string][]string `json:"sharedLabels,omitempty" read:"labels"`
	SharedBy         string              `json:"sharedBy,omitempty" read:"by"`
}

// StorageDocument is prices of a GiB-hour.
type StorageDocument struct {
	Default *decimal.Decimal           `json:"default,omitempty" read:"hourly"`
	Classes map[string]decimal.Decimal `json:"classes,omitempty" read:"prices"`
	Volumes map[string]decimal.Decimal `json:"volumes,omitempty" read:"prices"`
}

// GPUDocument is prices of a piece-hour by model.
type GPUDocument struct {
	// Label is that of the node which names the model.
	Label    string                     `json:"label" read:"label"`
	Resource metrics.Resource           `json:"resource" read:"resource"`
	Models   map[string]decimal.Decimal `json:"models" read:"byModel,required"`
}

// NetworkDocument is prices of a GiB.
type NetworkDocument struct {
	Receive  *decimal.Decimal `json:"receive,omitempty" read:"traffic"`
	Transmit *decimal.Decimal `json:"transmit,omitempty" read:"traffic"`
}

// OverrideDocument is prices for some nodes, namespaces or clusters.
type OverrideDocument struct {
	Name         string                               `json:"name" read:"name"`
	Nodes        NodesDocument                        `json:"nodes,omitzero" read:"nodes"`
	Namespaces   []string                             `json:"namespaces,omitempty" read:"namespaces"`
	Clusters     []string                             `json:"clusters,omitempty" read:"clusters"`
	Node         *NodePriceDocument                   `json:"node,omitempty" read:"node"`
	CPU          *decimal.Decimal                     `json:"cpu,omitempty" read:"hourly"`
	Memory       *decimal.Decimal                     `json:"memory,omitempty" read:"hourly"`
	Storage      StorageDocument                      `json:"storage,omitzero" read:"storage"`
	Extended     map[metrics.Resource]decimal.Decimal `json:"extended,omitempty" read:"extended"`
	GPU          []GPUDocument                        `json:"gpu,omitempty" read:"models"`
	Network      NetworkDocument                      `json:"network,omitzero"`
	LoadBalancer *decimal.Decimal                     `json:"loadBalancer,omitempty" read:"hourly"`
	Snapshot     *decimal.Decimal                     `json:"snapshot,omitempty" read:"hourly"`
	Discounts    map[string]string                    `json:"discounts,omitempty" read:"discounts"`
}

// NodesDocument chooses nodes.
type NodesDocument struct {
	Names         []string `json:"names,omitempty" read:"nodeNames"`
	ProviderIDs   []string `json:"providerIDs,omitempty" read:"lines"`
	InstanceTypes []string `json:"instanceTypes,omitempty" read:"lines"`
	Regions       []string `json:"regions,omitempty" read:"lines"`
	Spot          *bool    `json:"spot,omitempty"`
	Selector      string   `json:"selector,omitempty" read:"selector"`
}

// NodePriceDocument is the price of a node's hour, and the resources that it is the price of: all
// that have one, where none is named. What else the node offers has a price of its own.
type NodePriceDocument struct {
	Price decimal.Decimal    `json:"price"`
	Over  []metrics.Resource `json:"over,omitempty"`
}

// Document returns the book as it is written in its normal form: prices of an hour,
// overrides with names, selectors as kubectl has them. It shares the prices of the book.
func (b *Book) Document() BookDocument {
	base := b.base.document()
	d := BookDocument{
		APIVersion: BookVersion, Kind: BookKind, Name: b.Name, Currency: b.Currency,
		CPU: base.CPU, Memory: base.Memory, Storage: base.Storage, Extended: base.Extended, GPU: base.GPU, Network: base.Network, LoadBalancer: base.LoadBalancer, Snapshot: base.Snapshot,
		Discounts: base.Discounts, NotCharged: b.notCharged, SharedNamespaces: b.shared.namespaces, SharedLabels: b.shared.labels, SharedBy: b.shared.by,
	}
	for i := range b.overrides {
		o := &b.overrides[i]
		od := o.document()
		od.Name, od.Nodes, od.Namespaces, od.Clusters = o.name, o.nodes.document(), o.namespaces, o.clusters
		d.Overrides = append(d.Overrides, od)
	}
	return d
}

func (p *prices) document() OverrideDocument {
	return OverrideDocument{
		Node: p.node, CPU: p.cpu, Memory: p.memory, Storage: p.storage, Extended: p.extended, GPU: p.models, Network: p.network, LoadBalancer: p.balancer, Snapshot: p.snapshot,
		Discounts: percentages(p.discounts),
	}
}

func percentages(discounts map[string]decimal.Decimal) map[string]string {
	out := map[string]string{}
	for k, d := range discounts {
		out[k] = percentage(d)
	}
	return out
}

func percentage(d decimal.Decimal) string { return d.Shift(2).String() + "%" }

func (s *nodeSelector) document() NodesDocument {
	if s == nil {
		return NodesDocument{}
	}
	d := NodesDocument{Names: s.names, ProviderIDs: s.providerIDs, InstanceTypes: s.instanceTypes, Regions: s.regions, Spot: s.spot}
	if s.labels != nil {
		d.Selector = s.labels.String()
	}
	return d
}

// book makes the book of a document that was read.
func (d *BookDocument) book() *Book {
	b := &Book{Name: d.Name, Currency: d.Currency, notCharged: d.NotCharged, shared: sharedRules{d.SharedNamespaces, d.SharedLabels, d.SharedBy}}
	b.base = pricesOf(&OverrideDocument{
		CPU: d.CPU, Memory: d.Memory, Storage: d.Storage, Extended: d.Extended, GPU: d.GPU, Network: d.Network, LoadBalancer: d.LoadBalancer, Snapshot: d.Snapshot, Discounts: d.Discounts,
	})
	for i := range d.Overrides {
		o := &d.Overrides[i]
		b.overrides = append(b.overrides, override{name: o.Name, nodes: o.Nodes.selector(), namespaces: o.Namespaces, clusters: o.Clusters, prices: pricesOf(o)})
	}
	return b
}

func pricesOf(d *OverrideDocument) prices {
	p := prices{cpu: d.CPU, memory: d.Memory, storage: d.Storage, extended: d.Extended, models: d.GPU, network: d.Network, balancer: d.LoadBalancer, snapshot: d.Snapshot, node: d.Node}
	for name, text := range d.Discounts {
		if p.discounts == nil {
			p.discounts = map[string]decimal.Decimal{}
		}
		p.discounts[name], _ = parseDiscount(text)
	}
	return p
}

// selector makes the selector of nodes; nil for all.
func (d *NodesDocument) selector() *nodeSelector {
	if reflect.ValueOf(*d).IsZero() {
		return nil
	}
	s := &nodeSelector{names: d.Names, providerIDs: d.ProviderIDs, instanceTypes: d.InstanceTypes, regions: d.Regions, spot: d.Spot}
	if d.Selector != "" {
		s.labels, _ = labels.Parse(d.Selector)
	}
	return s
}
