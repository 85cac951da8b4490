package cost

import (
	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// Book is a list of prices.
type Book struct {
	Name     string
	Currency string // ISO 4217
}

// DefaultBook is OpenCost's public default prices, in USD.
func DefaultBook() *Book { return &Book{Name: "default", Currency: "USD"} }

// Node returns the prices on a node, for a namespace. node is nil where it is not
// known: then the flat prices hold.
func (b *Book) Node(node *metrics.Node, namespace string) Rates {
	flat := func(s, sku string) Price {
		d := decimal.RequireFromString(s)
		return Price{List: d, Net: d, SKU: sku}
	}
	return Rates{
		CPU: flat("0.031611", "cpu"), Memory: flat("0.004237", "memory"),
		Extended: map[metrics.Resource]Price{"nvidia.com/gpu": flat("0.95", "gpu")},
	}
}

// Storage returns the price of a GiB-hour of a storage class ("" where it is not
// known).
func (b *Book) Storage(class, namespace string) Price {
	d := decimal.RequireFromString("0.00005479452")
	return Price{List: d, Net: d, SKU: "storage"}
}

// Traffic returns the price of a GiB, received or sent.
func (b *Book) Traffic(direction metrics.Resource, namespace string) Price { return Price{} }

// Balancer returns the price of an hour of a load balancer.
func (b *Book) Balancer(namespace string) Price { return Price{} }
