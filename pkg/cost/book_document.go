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

	CPU          string                      `json:"cpu" read:"hourly,required"`
	Memory       string                      `json:"memory" read:"hourly,required"`
	Storage      StorageDocument             `json:"storage" read:"base,required"`
	Extended     map[metrics.Resource]string `json:"extended,omitempty" read:"extended"`
	GPU          []GPUDocument               `json:"gpu,omitempty" read:"models"`
	Network      NetworkDocument             `json:"network,omitzero"`
	LoadBalancer string                      `json:"loadBalancer,omitempty" read:"hourly"`
	Snapshot     string                      `json:"snapshot,omitempty" read:"hourly"`
	Discounts    map[string]string           `json:"discounts,omitempty" read:"discounts"`
	Overrides    []OverrideDocument          `json:"overrides,omitempty" read:"overrides"`
	NotCharged   map[string]string           `json:"notCharged,omitempty" read:"notCharged"`

	// SharedNamespaces and SharedLabels are what all stacks pay for, and SharedBy how that is split.
	SharedNamespaces []string            `json:"sharedNamespaces,omitempty" read:"namespaces"`
	SharedLabels     map[string][]string `json:"sharedLabels,omitempty" read:"labels"`
	SharedBy         string              `json:"sharedBy,omitempty" read:"by"`
}

// StorageDocument is prices of a GiB-hour.
type StorageDocument struct {
	Default string            `json:"default,omitempty" read:"hourly"`
	Classes map[string]string `json:"classes,omitempty" read:"prices"`
	Volumes map[string]string `json:"volumes,omitempty" read:"prices"`
}

// GPUDocument is prices of a piece-hour by model.
type GPUDocument struct {
	// Label is that of the node which names the model.
	Label    string            `json:"label" read:"label"`
	Resource metrics.Resource  `json:"resource" read:"resource"`
	Models   map[string]string `json:"models" read:"byModel,required"`
}

// NetworkDocument is prices of a GiB.
type NetworkDocument struct {
	Receive  string `json:"receive,omitempty" read:"traffic"`
	Transmit string `json:"transmit,omitempty" read:"traffic"`
}

// OverrideDocument is prices for some nodes, namespaces or clusters.
type OverrideDocument struct {
	Name         string                      `json:"name" read:"name"`
	Nodes        NodesDocument               `json:"nodes,omitzero" read:"nodes"`
	Namespaces   []string                    `json:"namespaces,omitempty" read:"namespaces"`
	Clusters     []string                    `json:"clusters,omitempty" read:"clusters"`
	Node         NodePriceDocument           `json:"node,omitzero" read:"node"`
	CPU          string                      `json:"cpu,omitempty" read:"hourly"`
	Memory       string                      `json:"memory,omitempty" read:"hourly"`
	Storage      StorageDocument             `json:"storage,omitzero" read:"storage"`
	Extended     map[metrics.Resource]string `json:"extended,omitempty" read:"extended"`
	GPU          []GPUDocument               `json:"gpu,omitempty" read:"models"`
	Network      NetworkDocument             `json:"network,omitzero"`
	LoadBalancer string                      `json:"loadBalancer,omitempty" read:"hourly"`
	Snapshot     string                      `json:"snapshot,omitempty" read:"hourly"`
	Discounts    map[string]string           `json:"discounts,omitempty" read:"discounts"`
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

// NodePriceDocument is the price of a node's hour, and what of it.
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
		Extended: texts(b.base.extended), GPU: modelDocuments(b.base.models), Network: b.base.network(), LoadBalancer: text(b.base.balancer), Snapshot: text(b.base.snapshot),
		Discounts: percentages(b.base.discounts), NotCharged: texts(b.notCharged),
		SharedNamespaces: b.shared.namespaces, SharedLabels: b.shared.labels, SharedBy: b.shared.by,
	}
	for i := range b.overrides {
		o := &b.overrides[i]
		od := OverrideDocument{
			Name: o.name, Nodes: o.nodes.document(), Namespaces: o.namespaces, Clusters: o.clusters,
			CPU: text(o.cpu), Memory: text(o.memory), Storage: o.storage.document(),
			Extended: texts(o.extended), GPU: modelDocuments(o.models), Network: o.network(), LoadBalancer: text(o.balancer), Snapshot: text(o.snapshot),
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
		out[k] = percentage(d)
	}
	return out
}

func percentage(d decimal.Decimal) string { return d.Shift(2).String() + "%" }

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

// book makes the book of a document that was read.
func (d *BookDocument) book() *Book {
	b := &Book{Name: d.Name, Currency: d.Currency, notCharged: decimals(d.NotCharged), shared: sharedRules{d.SharedNamespaces, d.SharedLabels, d.SharedBy}}
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
	p := prices{
		cpu: decimalOf(d.CPU), memory: decimalOf(d.Memory), extended: decimals(d.Extended), balancer: decimalOf(d.LoadBalancer), snapshot: decimalOf(d.Snapshot),
		receive: decimalOf(d.Network.Receive), transmit: decimalOf(d.Network.Transmit),
		storage: storagePrices{decimalOf(d.Storage.Default), decimals(d.Storage.Classes), decimals(d.Storage.Volumes)},
	}
	for _, m := range d.GPU {
		p.models = append(p.models, modelPrices{m.Label, m.Resource, decimals(m.Models)})
	}
	if price := decimalOf(d.Node.Price); price != nil {
		p.node = &nodePrice{*price, d.Node.Over}
	}
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

func decimalOf(text string) *decimal.Decimal {
	if text == "" {
		return nil
	}
	d := decimal.RequireFromString(text)
	return &d
}

func decimals[K ~string](texts map[K]string) map[K]decimal.Decimal {
	if texts == nil {
		return nil
	}
	out := make(map[K]decimal.Decimal, len(texts))
	for k, text := range texts {
		out[k] = *decimalOf(text)
	}
	return out
}
