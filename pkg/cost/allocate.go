package cost

import (
	"fmt"
	"maps"
	"slices"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
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
	// ShareNone splits nothing: what several stacks need has rows of its own, and what all would
	// pay for stays with its own stacks.
	ShareNone Sharing = "none"
)

// Sharings are the ways of sharing.
func Sharings() []Sharing {
	return []Sharing{ShareEven, ShareUsage, ShareRequests, ShareWeight, ShareNone}
}

// Options say how charges are made.
type Options struct {
	Sharing Sharing // ShareEven where it is empty
	// Alone says that the stacks are some of many, shown with the whole of what they
	// need: the part of a claim that pods of no stack mount falls to the claim's own.
	Alone bool
	// ShareIdle spreads idle capacity over those who are charged on the node, by
	// resource.
	ShareIdle bool
	// ShareNamespaces are namespaces that all stacks pay for, and Shared says so of other things
	// (nil for none). ShareOverhead is the money of an hour that all pay besides. Weighted splits
	// them by what each stack pays otherwise; else they are split evenly.
	ShareNamespaces []string
	Shared          func(object.Ref) bool
	ShareOverhead   decimal.Decimal
	Weighted        bool
}

// Allocate makes the ledger of a reading, as the OpenCost specification has it: what
// a pod is charged for is the larger of what it requested and what it used, a volume
// its capacity, a load balancer its hours. It is deterministic, and independent of
// the order of the reading's lists and of the placement's.
//
// Every quantity is rounded to 12 decimal places once, and split afterwards: however
// things are shared, the total of the ledger is that of a ledger where nothing is. A
// resource that is unknown, or that the book has no price for, has no charge.
// Neither has an amount below zero, which no source measures.
func Allocate(r *metrics.UsageReport, p *metrics.Attribution, b *Book, o Options) *Ledger {
	a := newAllocator(r, p, b, o)
	l := a.run()
	l.Currency = b.Currency
	return l
}

// priceList is what the ledger asks of a Book.
type priceList interface {
	Node(node *metrics.Node, namespace string) Rates
	Claim(c *metrics.Claim) Price
	Traffic(direction metrics.Resource, namespace string) Price
	Balancer(namespace string) Price
	// LabelsUnknown says that a price may be a node's by a label that is unknown.
	LabelsUnknown(*metrics.Node) bool
}

// allocator is a ledger in the making.
type allocator struct {
	reading   *metrics.UsageReport
	placement *metrics.Attribution
	book      priceList
	options   Options

	nodes  map[string]*metrics.Node
	rates  map[ratesKey]*Rates
	common map[object.Ref]bool // the things, and whether all share them

	standings map[object.Ref]*soloUsage // see share.go; nil until it is asked for
	one       decimal.Decimal

	// charges are those made so far. What all share is among them, of Kind Shared and
	// without a stack, until it is spread.
	charges []Charge
	notes   map[metrics.Note]bool
}

type ratesKey struct{ node, namespace string }

func newAllocator(r *metrics.UsageReport, p *metrics.Attribution, b priceList, o Options) *allocator {
	a := &allocator{
		reading: r, placement: p, book: b, options: o,
		nodes:   make(map[string]*metrics.Node, len(r.Nodes)),
		rates:   map[ratesKey]*Rates{},
		common:  map[object.Ref]bool{},
		one:     decimal.NewFromInt(1),
		charges: make([]Charge, 0, 2*len(r.Pods)+len(r.Pods)/4+len(r.Claims)+len(r.LoadBalancers)+2*len(r.Nodes)),
	}
	for i := range r.Nodes {
		a.nodes[r.Nodes[i].Name] = &r.Nodes[i]
	}
	return a
}

// isShared says whether all stacks share the cost of a thing.
func (o Options) isShared(thing object.Ref) bool {
	return o.Sharing != ShareNone && (thing.Namespace != "" && slices.Contains(o.ShareNamespaces, thing.Namespace) || o.Shared != nil && o.Shared(thing))
}

// isCommon is isShared, once for each thing.
func (a *allocator) isCommon(thing object.Ref) bool {
	if a.options.Shared == nil && len(a.options.ShareNamespaces) == 0 {
		return false
	}
	common, known := a.common[thing]
	if !known {
		common = a.options.isShared(thing)
		a.common[thing] = common
	}
	return common
}

// run makes the charges. What is idle is known when everything else is charged, and
// what all share is spread last.
func (a *allocator) run() *Ledger {
	a.pods()
	a.claims()
	a.unclaimed()
	a.balancers()
	a.idle()
	a.spread()
	a.sort()
	a.flat()
	return &Ledger{Hours: a.reading.Hours, Charges: a.charges, Notes: a.sortedNotes(), sharing: a.options.Sharing, shared: a.options.isShared}
}

// flat notes the nodes that are gone and that may have had other prices by labels that are unknown.
func (a *allocator) flat() {
	var hours decimal.Decimal
	count := 0
	for _, n := range a.nodes {
		if a.book.LabelsUnknown(n) {
			hours, count = hours.Add(n.Hours), count+1
		}
	}
	if count > 0 {
		a.note(metrics.Note{Reason: "FlatPrices", Message: fmt.Sprintf(
			"%s hours of %d deleted nodes are charged at base prices, and may have had others: labels that decide are unknown (kube-state-metrics exports them with --metric-labels-allowlist=nodes=[*])", hours.Round(shownPlaces), count)})
	}
}

// shownPlaces are the decimal places of hours in a note.
const shownPlaces = 2

// ratesOf returns the rates on a node, known or not, for a namespace.
func (a *allocator) ratesOf(node, namespace string) *Rates {
	n := a.nodes[node]
	if n == nil {
		node = ""
	}
	key := ratesKey{node, namespace}
	rates, ok := a.rates[key]
	if !ok {
		nodePrices := a.book.Node(n, namespace)
		rates = &nodePrices
		a.rates[key] = rates
	}
	return rates
}

// stacksOf returns the stacks that a thing belongs to, in order, each once.
func (a *allocator) stacksOf(thing object.Ref) []object.Ref {
	return inOrder(a.placement.Of[thing].Stacks)
}

// charge adds a charge, split among the stacks; it has everything but its share of
// them and its cost.
func (a *allocator) charge(c *Charge, stacks []object.Ref) {
	c.Share, c.Of = a.one, 1
	if a.isCommon(c.Item) {
		c.Kind, c.Stack = Shared, object.Ref{}
		a.add(c)
		return
	}
	if len(stacks) < 2 || a.options.Sharing == ShareNone {
		c.Stack = object.Ref{}
		if len(stacks) == 1 {
			c.Stack = stacks[0]
		}
		a.add(c)
		return
	}
	a.divide(c, stacks, a.weights(stacks, c.Resource))
}

// divide adds a charge in parts, one for each stack. A part of zero is added too: it
// says that the stack shares the item, and pays nothing for it.
func (a *allocator) divide(c *Charge, stacks []object.Ref, weights []decimal.Decimal) {
	parts, shares := split(c.Quantity, weights), split(a.one, weights)
	part := *c
	part.Of = len(stacks)
	for i, stack := range stacks {
		part.Stack, part.Share, part.Quantity = stack, shares[i], parts[i]
		a.add(&part)
	}
}

// add adds a charge as it is, and works out its cost.
func (a *allocator) add(c *Charge) {
	c.Cost = c.Quantity.Mul(c.Price)
	a.charges = append(a.charges, *c)
}

// note tells something once.
func (a *allocator) note(n metrics.Note) {
	if a.notes == nil {
		a.notes = map[metrics.Note]bool{}
	}
	a.notes[n] = true
}

func (a *allocator) sortedNotes() []metrics.Note {
	notes := slices.Collect(maps.Keys(a.notes))
	metrics.SortNotes(notes)
	return notes
}
