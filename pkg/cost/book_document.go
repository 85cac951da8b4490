package cost

import (
	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// BookDocument is a price book as it is written (docs/schema/prices.json): prices of
// an hour, in decimals. ParseBook reads it, in JSON and YAML, and makes the same book
// of it.
type BookDocument struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name,omitempty"`
	Currency   string `json:"currency"`

	CPU          string                      `json:"cpu"`
	Memory       string                      `json:"memory"`
	Storage      StorageDocument             `json:"storage"`
	Extended     map[metrics.Resource]string `json:"extended,omitempty"`
	GPU          []GPUDocument               `json:"gpu,omitempty"`
	Network      NetworkDocument             `json:"network,omitzero"`
	LoadBalancer string                      `json:"loadBalancer,omitempty"`
	Discounts    map[string]string           `json:"discounts,omitempty"`
	Overrides    []OverrideDocument          `json:"overrides,omitempty"`
	NotCharged   map[string]string           `json:"notCharged,omitempty"`
}

// StorageDocument is prices of a GiB-hour.
type StorageDocument struct {
	Default string            `json:"default,omitempty"`
	Classes map[string]string `json:"classes,omitempty"`
	Volumes map[string]string `json:"volumes,omitempty"`
}

// GPUDocument is prices of a piece-hour by model.
type GPUDocument struct {
	// Label is that of the node which names the model.
	Label    string            `json:"label"`
	Resource metrics.Resource  `json:"resource"`
	Models   map[string]string `json:"models"`
}

// NetworkDocument is prices of a GiB.
type NetworkDocument struct {
	Receive  string `json:"receive,omitempty"`
	Transmit string `json:"transmit,omitempty"`
}

// OverrideDocument is prices for some nodes or namespaces.
type OverrideDocument struct {
	Name         string                      `json:"name"`
	Nodes        NodesDocument               `json:"nodes,omitzero"`
	Namespaces   []string                    `json:"namespaces,omitempty"`
	Node         NodePriceDocument           `json:"node,omitzero"`
	CPU          string                      `json:"cpu,omitempty"`
	Memory       string                      `json:"memory,omitempty"`
	Storage      StorageDocument             `json:"storage,omitzero"`
	Extended     map[metrics.Resource]string `json:"extended,omitempty"`
	GPU          []GPUDocument               `json:"gpu,omitempty"`
	Network      NetworkDocument             `json:"network,omitzero"`
	LoadBalancer string                      `json:"loadBalancer,omitempty"`
	Discounts    map[string]string           `json:"discounts,omitempty"`
}

// NodesDocument chooses nodes.
type NodesDocument struct {
	Names         []string `json:"names,omitempty"`
	ProviderIDs   []string `json:"providerIDs,omitempty"`
	InstanceTypes []string `json:"instanceTypes,omitempty"`
	Regions       []string `json:"regions,omitempty"`
	Spot          *bool    `json:"spot,omitempty"`
	Selector      string   `json:"selector,omitempty"`
}

// NodePriceDocument is the price of a node's hour, and of what of it.
type NodePriceDocument struct {
	Price string             `json:"price"`
	Over  []metrics.Resource `json:"over,omitempty"`
}

// Document returns the book as it is written in its normal form: prices of an hour,
// overrides with names, selectors as kubectl has them.
func (b *Book) Document() BookDocument {
	d := BookDocument{
		APIVersion: BookVersion, Kind: BookKind, Name: b.Name, Currency: b.Currency,
		CPU: text(b.base.cpu), Memory: text(b.base.memory), Storage: b.base.storage.document(),
		Extended: texts(b.base.extended), GPU: modelDocuments(b.base.models), Network: b.base.network(), LoadBalancer: text(b.base.balancer),
		Discounts: percentages(b.base.discounts), NotCharged: texts(b.notCharged),
	}
	for i := range b.overrides {
		o := &b.overrides[i]
		od := OverrideDocument{
			Name: o.name, Nodes: o.nodes.document(), Namespaces: o.namespaces,
			CPU: text(o.cpu), Memory: text(o.memory), Storage: o.storage.document(),
			Extended: texts(o.extended), GPU: modelDocuments(o.models), Network: o.network(), LoadBalancer: text(o.balancer),
			Discounts: percentages(o.discounts),
		}
		if o.node != nil {
			od.Node = NodePriceDocument{Price: o.node.price.String(), Over: o.node.over}
		}
		d.Overrides = append(d.Overrides, od)
	}
	return d
}

func text(d *decimal.Decimal) string {
	if d == nil {
		return ""
	}
	return d.String()
}

func texts[K ~string](prices map[K]decimal.Decimal) map[K]string {
	if len(prices) == 0 {
		return nil
	}
	out := make(map[K]string, len(prices))
	for k, d := range prices {
		out[k] = d.String()
	}
	return out
}

func percentages(discounts map[string]decimal.Decimal) map[string]string {
	out := map[string]string{}
	for k, d := range discounts {
		out[k] = d.Shift(2).String() + "%"
	}
	return out
}

func (s *storagePrices) document() StorageDocument {
	return StorageDocument{Default: text(s.all), Classes: texts(s.classes), Volumes: texts(s.volumes)}
}

func (p *prices) network() NetworkDocument {
	return NetworkDocument{Receive: text(p.receive), Transmit: text(p.transmit)}
}

func modelDocuments(all []modelPrices) []GPUDocument {
	var out []GPUDocument
	for _, m := range all {
		d := GPUDocument{Label: m.label, Resource: m.resource, Models: texts(m.prices)}
		if d.Models == nil {
			d.Models = map[string]string{}
		}
		out = append(out, d)
	}
	return out
}

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
