package cost

import (
	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// Sharing says how what several stacks need is split among them.
type Sharing string

// The ways of sharing.
const (
	// ShareEven splits in equal parts.
	ShareEven Sharing = "even"
	// ShareUsage and ShareRequests split by what each stack alone uses or requests of
	// the same resource.
	ShareUsage    Sharing = "usage"
	ShareRequests Sharing = "requests"
	// ShareWeight splits by the weights of the stacks.
	ShareWeight Sharing = "weight"
)

// Options say how charges are made.
type Options struct {
	Sharing Sharing // ShareEven where it is empty
	// ShareIdle spreads idle capacity over those who are charged on the node, by
	// resource.
	ShareIdle bool
	// ShareNamespaces are namespaces that all stacks pay for, ShareOverhead the money
	// of an hour that all pay besides; Weighted splits both by what each stack pays
	// otherwise, and else they are split evenly.
	ShareNamespaces []string
	ShareOverhead   decimal.Decimal
	Weighted        bool
}

// Allocate makes the ledger of a reading. It is deterministic, and independent of the
// order of the reading's lists and of the placement's.
func Allocate(r *metrics.Reading, p *metrics.Placement, b *Book, o Options) *Ledger {
	return &Ledger{Currency: b.Currency, Hours: r.Hours}
}
