package focus

import (
	"strconv"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/internal/export"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// file is a dataset in the making.
type file struct {
	o         Options
	period    period
	currency  string
	reading   string // Instant or Window
	placement *metrics.Attribution
	nodes     map[string]*metrics.Node
	gone      map[object.Ref]map[string]string // the labels of pods that only a history knows
	services  map[string]service

	names []string
	at    map[string]int
}

func newFile(l *cost.Ledger, r *metrics.UsageReport, p *metrics.Attribution, o Options) *file {
	f := &file{
		o: o, currency: l.Currency, reading: "Window", placement: p, services: services(),
		nodes: make(map[string]*metrics.Node, len(r.Nodes)), gone: map[object.Ref]map[string]string{},
		names: columnNames(o.Version), at: map[string]int{},
	}
	if r.Instant() {
		f.reading = "Instant"
	}
	if p == nil {
		f.placement = &metrics.Attribution{}
	}
	for i := range r.Nodes {
		f.nodes[r.Nodes[i].Name] = &r.Nodes[i]
	}
	for i := range r.Pods {
		if len(r.Pods[i].Labels) > 0 {
			f.gone[r.Pods[i].Ref] = r.Pods[i].Labels
		}
	}
	for i, name := range f.names {
		f.at[name] = i
	}
	return f
}

// row is a row under its columns; a column that the version has not is passed
// over.
type row struct {
	f     *file
	cells []string
}

func (r row) set(name, value string) {
	if i, ok := r.f.at[name]; ok {
		r.cells[i] = value
	}
}

// row makes the row of a charge, without what it is allocated to.
func (f *file) row(c *cost.Charge) []string {
	r := row{f, make([]string, len(f.names))}
	f.account(r)
	f.money(r, c)
	f.service(r, c)
	f.resource(r, c)
	f.own(r, c)
	return r.cells
}

// account says who charges whom, and when.
func (f *file) account(r row) {
	r.set("BillingAccountId", f.o.AccountID)
	r.set("BillingAccountName", f.o.AccountName)
	r.set("BillingAccountType", "Kubernetes Cluster")
	r.set("BillingPeriodStart", timeText(f.period.month))
	r.set("BillingPeriodEnd", timeText(f.period.next))
	r.set("ChargePeriodStart", timeText(f.period.start))
	r.set("ChargePeriodEnd", timeText(f.period.end))
	// The specification has BilledCost 0 where the issuer is not the provider.
	for _, name := range []string{"InvoiceIssuerName", "ProviderName", "PublisherName", "ServiceProviderName"} {
		r.set(name, f.o.Provider)
	}
	r.set("HostProviderName", f.o.Host)
}

// money is exact: a cost is a quantity times a unit price, and nothing is rounded.
func (f *file) money(r row, c *cost.Charge) {
	list, net := c.Quantity.Mul(c.List).String(), c.Cost.String()
	r.set("BilledCost", net)
	r.set("EffectiveCost", net)
	r.set("ContractedCost", net)
	r.set("ListCost", list)
	r.set("ContractedUnitPrice", c.Price.String())
	r.set("ListUnitPrice", c.List.String())
	r.set("PricingQuantity", c.Quantity.String())
	r.set("PricingUnit", c.Unit)
	r.set("ConsumedQuantity", c.Quantity.String())
	r.set("ConsumedUnit", c.Unit)
	r.set("BillingCurrency", f.currency)
	r.set("PricingCurrency", f.currency)
	r.set("PricingCurrencyContractedUnitPrice", c.Price.String())
	r.set("PricingCurrencyEffectiveCost", net)
	r.set("PricingCurrencyListUnitPrice", c.List.String())
	r.set("PricingCategory", "Standard")
	r.set("ChargeCategory", "Usage")
	r.set("ChargeFrequency", "Usage-Based")
}

func (f *file) service(r row, c *cost.Charge) {
	service := f.services[serviceOf(c)]
	r.set("ServiceName", service.name)
	r.set("ServiceCategory", service.category)
	r.set("ServiceSubcategory", service.subcategory)
	id, price := skuOf(c)
	r.set("SkuId", id)
	r.set("SkuPriceId", price)
	r.set("SkuMeter", meterOf(c))
	r.set("ChargeDescription", descriptionOf(c))
}

func serviceOf(c *cost.Charge) string {
	switch c.Resource {
	case metrics.Storage, metrics.Ephemeral:
		return "storage"
	case metrics.Received, metrics.Sent:
		return "network"
	case cost.LoadBalancer:
		return "loadBalancer"
	case "":
		return "overhead"
	}
	return "compute"
}

// skuOf returns what is sold, and the line of the price book that it is sold at:
// each line is of one thing.
func skuOf(c *cost.Charge) (id, price string) {
	id = string(c.Resource)
	if id == "" {
		id = string(cost.Overhead)
	}
	if c.SKU == "" || c.SKU == id {
		return id, id
	}
	return id, id + ":" + c.SKU
}

// meterOf is in words what is measured.
func meterOf(c *cost.Charge) string {
	switch c.Resource {
	case metrics.CPU:
		return "CPU"
	case metrics.Memory:
		return "Memory"
	case metrics.Storage:
		return "Storage"
	case metrics.Ephemeral:
		return "Ephemeral storage"
	case metrics.Received:
		return "Network traffic received"
	case metrics.Sent:
		return "Network traffic sent"
	case cost.LoadBalancer:
		return "Load balancer"
	case "":
		return "Overhead of the cluster"
	}
	return string(c.Resource)
}

// descriptionOf says of what the charge is, and not for whom: rows of one charge
// that is split have to say the same.
func descriptionOf(c *cost.Charge) string {
	if c.Item == (object.Ref{}) {
		return meterOf(c)
	}
	if c.Item.Kind == "Node" && c.Item.Group == "" {
		return meterOf(c) + " idle on " + c.Item.String()
	}
	return meterOf(c) + " of " + c.Item.String()
}

// resource says what is charged for, and where it is.
func (f *file) resource(r row, c *cost.Charge) {
	node := f.nodes[c.Node]
	if node != nil {
		region, _ := node.Label("topology.kubernetes.io/region")
		zone, _ := node.Label("topology.kubernetes.io/zone")
		r.set("RegionId", region)
		r.set("RegionName", region)
		r.set("AvailabilityZone", zone)
	}
	r.set("Tags", f.tags(c))
	if c.Item == (object.Ref{}) {
		return
	}
	r.set("ResourceId", f.resourceID(c, node))
	r.set("ResourceName", c.Item.Name)
	r.set("ResourceType", kindName(c.Item))
	namespace := c.Item.Namespace
	if kindName(c.Item) == "Namespace" {
		namespace = c.Item.Name
	}
	if namespace != "" {
		r.set("SubAccountId", f.o.AccountID+"/"+namespace)
		r.set("SubAccountName", namespace)
		r.set("SubAccountType", "Namespace")
	}
}

// resourceID is what the provider of a node calls it, so that the row can be joined
// with its bill, else the UID, else the name within the account.
func (f *file) resourceID(c *cost.Charge, node *metrics.Node) string {
	if node != nil && node.ProviderID != "" && c.Item == (object.Ref{Kind: "Node", Name: node.Name}) {
		return node.ProviderID
	}
	if c.UID != "" {
		return c.UID
	}
	return f.o.AccountID + "/" + c.Item.String()
}

func kindName(r object.Ref) string {
	if r.Group == "" {
		return r.Kind
	}
	return r.Kind + "." + r.Group
}

// own fills in the columns of ours.
func (f *file) own(r row, c *cost.Charge) {
	r.set("x_ChargeKind", string(c.Kind))
	r.set("x_NamespaceName", c.Namespace)
	r.set("x_NodeName", c.Node)
	r.set("x_ReadingType", f.reading)
	r.set("x_ResourceKind", string(c.Resource))
	r.set("x_ShareRatio", c.Share.String())
	r.set("x_ShareCount", strconv.Itoa(c.Of))
	refs := func(prefix string, ref object.Ref) {
		r.set(prefix+"Id", ref.String())
		r.set(prefix+"Kind", kindName(ref))
		r.set(prefix+"Name", ref.Name)
	}
	if c.Stack != (object.Ref{}) {
		refs("x_Stack", c.Stack)
		r.set("x_StackNamespaceName", c.Stack.Namespace)
	}
	if path := f.placement.Of[c.Item].Path; len(path) > 0 {
		refs("x_Owner", path[0])
		refs("x_Workload", path[len(path)-1])
	}
}

// ratios returns the parts that quantities are of their sum, to 12 decimal places, so
// that they add up to 1. Quantities that are all zero are equal parts.
func ratios(quantities []decimal.Decimal) []decimal.Decimal {
	one := decimal.NewFromInt(1)
	total := decimal.Zero
	for _, q := range quantities {
		total = total.Add(q)
	}
	if total.IsZero() {
		quantities = make([]decimal.Decimal, len(quantities))
		for i := range quantities {
			quantities[i] = one
		}
		total = decimal.NewFromInt(int64(len(quantities)))
	}
	return export.Spread(quantities, one, total)
}
