// Package cost turns what was used and reserved into money: price books, the ledger
// of charges, and how shared parts, idle capacity and overheads are split.
//
// Money is exact: every charge is a quantity times a price, and what is split is the
// quantity, so that the parts add up to the whole to the last digit.
//
// # Use
//
// [ParseBook] reads prices, [Allocate] makes the [Ledger] of a reading and its placement,
// [Roll] sums both up in rows, and [Round] makes figures to show that still add up:
//
//	book, problems := cost.ParseBook("prices.yaml", text)
//	ledger := cost.Allocate(reading, placed, book, cost.Options{})
//	report := cost.NewReport(reading, placed, ledger, cost.Grouping{})
//
// A book with anything wrong in it is no book: the problems tell each place. What has no
// price has no charge, and what was not measured is not charged for its usage. Nothing here
// reads a cluster, a clock or a cloud's price list. A [Book] is safe for use by several at
// once, and so is a ledger that is not changed; the answer depends on no order of the input.
package cost

import (
	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// HoursPerMonth is what a month is taken for, as everybody in the field does.
const HoursPerMonth = 730

// Price is what one unit costs.
type Price struct {
	// List is the price of the book, Net what is paid after discounts.
	List, Net decimal.Decimal
	// SKU names the line of the book (cpu, cpu/spot, storage/ssd).
	SKU string
}

// Rates are the prices of an hour on one node, for one namespace.
type Rates struct {
	CPU    Price // a core-hour
	Memory Price // a GiB-hour
	// Extended are prices of a piece-hour, of what has one.
	Extended map[metrics.Resource]Price
}

// NoPrice is the reason of a note about a resource that is requested and has no price.
const NoPrice = "NoPrice"

// Charge is one line of the ledger: a quantity at a price, on one path to the stack
// that it is charged to.
type Charge struct {
	Kind ChargeKind
	// Item is what costs: a pod, a volume claim, a Service, a volume without a claim; the node for what is idle;
	// the Namespace for one that all share; zero for an overhead.
	Item object.Ref
	UID  string
	// Stack is the root of the stack that pays; zero if no stack pays (idle, unplaced things,
	// unmounted claims).
	Stack object.Ref
	// Share is the part of the item that the stack pays by this charge, 0 to 1, and Of
	// how many stacks share it (1 for one that pays it alone). The shares of all charges
	// of an item for a resource add up to 1.
	Share decimal.Decimal
	Of    int
	// Node is where it ran; may be empty.
	Node string
	// Namespace is that of the item; of what is spread, that of what pays for it.
	Namespace string

	Resource metrics.Resource
	// Quantity is in units of the price (core-hours, GiB-hours, piece-hours, GiB,
	// hours), with at most 12 decimal places.
	Quantity decimal.Decimal
	Unit     string
	// List is the price of the book, Price what is paid after discounts.
	List, Price decimal.Decimal
	// SKU names the line of the book.
	SKU string
	// Cost is Quantity times Price, exactly.
	Cost decimal.Decimal
}

// ChargeKind says why something is paid for.
type ChargeKind string

// The kinds of charges.
const (
	// Used is a part that belongs to stacks, or to no known stack.
	Used ChargeKind = "usage"
	// Unmounted is a volume claim that no pod mounts: its namespace pays.
	Unmounted ChargeKind = "unmounted"
	// Unclaimed is a volume that no claim has: the cluster pays.
	Unclaimed ChargeKind = "unclaimed"
	// Idle is capacity of a node that no charge covers.
	Idle ChargeKind = "idle"
	// Shared is what all share of a namespace, and Overhead of the cluster.
	Shared   ChargeKind = "shared"
	Overhead ChargeKind = "overhead"
)

// Ledger is all charges of a reading, in order.
type Ledger struct {
	Currency string // ISO 4217
	Hours    decimal.Decimal
	Charges  []Charge
	// Notes are what a reader of the figures should know of how they were made.
	Notes []metrics.Note
	// sharing and shared are those of the options.
	sharing Sharing
	shared  func(object.Ref) bool
}

// isShared says whether all stacks pay for a thing.
func (l *Ledger) isShared(thing object.Ref) bool { return l.shared != nil && l.shared(thing) }

// Total is the sum of the charges.
func (l *Ledger) Total() decimal.Decimal {
	var total decimal.Decimal
	for i := range l.Charges {
		total = total.Add(l.Charges[i].Cost)
	}
	return total
}
