package focus

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// column is a column of the file, and what a charge has in it. Those of splits have no value of
// a charge alone.
type column struct {
	name  string
	kind  view.CellKind
	value func(*cost.Charge) string
}

// columns are those of a version, in the order of the file: those of FOCUS by name, then ours.
// Those of commitment discounts and capacity reservations are not among them: a cluster has
// neither, and the specification wants them of providers who do.
func (f *file) columns() []column {
	out := slices.Concat(f.accountColumns(), f.moneyColumns(), f.serviceColumns(), f.resourceColumns())
	if f.o.Version != "1.2" {
		out = append(out, f.addedColumns()...)
	}
	slices.SortFunc(out, func(a, b column) int { return strings.Compare(a.name, b.name) })
	return append(out, f.ownColumns()...)
}

func fixed(name, value string) column {
	return text(name, func(*cost.Charge) string { return value })
}

func text(name string, value func(*cost.Charge) string) column {
	return column{name, view.TextCell, value}
}

func number(name string, value func(*cost.Charge) string) column {
	return column{name, view.NumberCell, value}
}

// accountColumns say who charges whom, and when.
func (f *file) accountColumns() []column {
	return []column{
		fixed("BillingAccountId", f.o.AccountID),
		fixed("BillingAccountName", f.o.AccountName),
		fixed("BillingAccountType", "Kubernetes Cluster"),
		fixed("BillingPeriodEnd", timeText(f.period.next)),
		fixed("BillingPeriodStart", timeText(f.period.month)),
		fixed("ChargePeriodEnd", timeText(f.period.end)),
		fixed("ChargePeriodStart", timeText(f.period.start)),
		fixed("InvoiceId", ""),
		// The specification has BilledCost 0 where the issuer is not the provider.
		fixed("InvoiceIssuerName", f.o.Provider),
		fixed("ProviderName", f.o.Provider),
		fixed("PublisherName", f.o.Provider),
	}
}

// moneyColumns are exact: a cost is a quantity times a unit price, and nothing is rounded.
func (f *file) moneyColumns() []column {
	list := func(c *cost.Charge) string { return c.Quantity.Mul(c.List).String() }
	net := func(c *cost.Charge) string { return c.Cost.String() }
	listPrice := func(c *cost.Charge) string { return c.List.String() }
	price := func(c *cost.Charge) string { return c.Price.String() }
	quantity := func(c *cost.Charge) string { return c.Quantity.String() }
	unit := func(c *cost.Charge) string { return c.Unit }
	return []column{
		number("BilledCost", net),
		fixed("BillingCurrency", f.currency),
		fixed("ChargeCategory", "Usage"),
		fixed("ChargeClass", ""),
		fixed("ChargeFrequency", "Usage-Based"),
		number("ConsumedQuantity", quantity),
		text("ConsumedUnit", unit),
		number("ContractedCost", net),
		number("ContractedUnitPrice", price),
		number("EffectiveCost", net),
		number("ListCost", list),
		number("ListUnitPrice", listPrice),
		fixed("PricingCategory", "Standard"),
		fixed("PricingCurrency", f.currency),
		number("PricingCurrencyContractedUnitPrice", price),
		number("PricingCurrencyEffectiveCost", net),
		number("PricingCurrencyListUnitPrice", listPrice),
		number("PricingQuantity", quantity),
		text("PricingUnit", unit),
	}
}

func (f *file) serviceColumns() []column {
	return []column{
		text("ChargeDescription", descriptionOf),
		text("ServiceCategory", func(c *cost.Charge) string { return serviceOf(c).category }),
		text("ServiceName", func(c *cost.Charge) string { return serviceOf(c).name }),
		text("ServiceSubcategory", func(c *cost.Charge) string { return serviceOf(c).subcategory }),
		text("SkuId", skuOf),
		text("SkuMeter", meterOf),
		{"SkuPriceDetails", view.JSONCell, func(*cost.Charge) string { return "" }},
		text("SkuPriceId", func(c *cost.Charge) string {
			if id := skuOf(c); c.SKU != "" && c.SKU != id {
				return id + ":" + c.SKU // Each line of the price book is of one thing.
			}
			return skuOf(c)
		}),
	}
}

// resourceColumns say what is charged for, and where it is.
func (f *file) resourceColumns() []column {
	label := func(key string) func(*cost.Charge) string {
		return func(c *cost.Charge) string {
			if node := f.nodes[c.Node]; node != nil {
				value, _ := node.Label(key)
				return value
			}
			return ""
		}
	}
	region := label("topology.kubernetes.io/region")
	return []column{
		text("AvailabilityZone", label("topology.kubernetes.io/zone")),
		text("RegionId", region),
		text("RegionName", region),
		text("ResourceId", f.resourceID),
		text("ResourceName", func(c *cost.Charge) string { return c.Item.Name }),
		text("ResourceType", func(c *cost.Charge) string { return kindName(c.Item) }),
		text("SubAccountId", func(c *cost.Charge) string {
			if namespace := namespaceOf(c.Item); namespace != "" {
				return f.o.AccountID + "/" + namespace
			}
			return ""
		}),
		text("SubAccountName", func(c *cost.Charge) string { return namespaceOf(c.Item) }),
		text("SubAccountType", func(c *cost.Charge) string {
			if namespaceOf(c.Item) == "" {
				return ""
			}
			return "Namespace"
		}),
		{"Tags", view.JSONCell, f.tags},
	}
}

// addedColumns are those that 1.3 adds, without those of contracts. What a charge is allocated to
// is known when all are (split).
func (f *file) addedColumns() []column {
	later := func(*cost.Charge) string { return "" }
	return []column{
		{"AllocatedMethodDetails", view.JSONCell, later},
		text("AllocatedMethodId", later),
		text("AllocatedResourceId", later),
		text("AllocatedResourceName", later),
		{"AllocatedTags", view.JSONCell, later},
		fixed("HostProviderName", f.o.Host),
		fixed("ServiceProviderName", f.o.Provider),
	}
}

// ownColumns are ours, which no version has.
func (f *file) ownColumns() []column {
	path := func(c *cost.Charge) []object.Ref { return f.placement.Of[c.Item].Path }
	owner := func(c *cost.Charge) object.Ref {
		if p := path(c); len(p) > 0 {
			return p[0]
		}
		return object.Ref{}
	}
	workload := func(c *cost.Charge) object.Ref {
		if p := path(c); len(p) > 0 {
			return p[len(p)-1]
		}
		return object.Ref{}
	}
	stack := func(c *cost.Charge) object.Ref { return c.Stack }
	id := func(prefix string, ref func(*cost.Charge) object.Ref) column {
		return text(prefix+"Id", func(c *cost.Charge) string {
			if r := ref(c); r != (object.Ref{}) {
				return r.String()
			}
			return ""
		})
	}
	kind := func(prefix string, ref func(*cost.Charge) object.Ref) column {
		return text(prefix+"Kind", func(c *cost.Charge) string { return kindName(ref(c)) })
	}
	name := func(prefix string, ref func(*cost.Charge) object.Ref) column {
		return text(prefix+"Name", func(c *cost.Charge) string { return ref(c).Name })
	}
	return []column{
		text("x_ChargeKind", func(c *cost.Charge) string { return string(c.Kind) }),
		text("x_NamespaceName", func(c *cost.Charge) string { return c.Namespace }),
		text("x_NodeName", func(c *cost.Charge) string { return c.Node }),
		id("x_Owner", owner), kind("x_Owner", owner), name("x_Owner", owner),
		fixed("x_ReadingType", f.reading),
		text("x_ResourceKind", func(c *cost.Charge) string { return string(c.Resource) }),
		number("x_ShareCount", func(c *cost.Charge) string { return strconv.Itoa(c.Of) }),
		number("x_ShareRatio", func(c *cost.Charge) string { return c.Share.String() }),
		id("x_Stack", stack), kind("x_Stack", stack), name("x_Stack", stack),
		text("x_StackNamespaceName", func(c *cost.Charge) string { return c.Stack.Namespace }),
		id("x_Workload", workload), kind("x_Workload", workload), name("x_Workload", workload),
	}
}

// service is what FOCUS calls a service. Each name has one category and one
// subcategory: the specification wants it so.
type service struct{ name, category, subcategory string }

func serviceOf(c *cost.Charge) service {
	switch c.Resource {
	case metrics.Storage, metrics.Ephemeral:
		return service{"Kubernetes Storage", "Storage", "Other (Storage)"}
	case metrics.Received, metrics.Sent:
		return service{"Kubernetes Network Traffic", "Networking", "Network Connectivity"}
	case cost.LoadBalancer:
		return service{"Kubernetes Load Balancing", "Networking", "Application Networking"}
	case "":
		return service{"Kubernetes Overhead", "Management and Governance", "Other (Management and Governance)"}
	}
	return service{"Kubernetes Compute", "Compute", "Containers"}
}

// skuOf is what is sold.
func skuOf(c *cost.Charge) string { return cmp.Or(string(c.Resource), string(cost.Overhead)) }

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
	switch {
	case c.Item == (object.Ref{}):
		return meterOf(c)
	case c.Item.Kind == "Node" && c.Item.Group == "":
		return meterOf(c) + " idle on " + c.Item.String()
	}
	return meterOf(c) + " of " + c.Item.String()
}

// resourceID is what the provider of a node calls it, so that the row can be joined
// with its bill, else the UID, else the name within the account.
func (f *file) resourceID(c *cost.Charge) string {
	node := f.nodes[c.Node]
	switch {
	case c.Item == (object.Ref{}):
		return ""
	case node != nil && node.ProviderID != "" && c.Item == (object.Ref{Kind: "Node", Name: node.Name}):
		return node.ProviderID
	}
	return cmp.Or(c.UID, f.o.AccountID+"/"+c.Item.String())
}

// namespaceOf is the namespace of an object, or what it is itself.
func namespaceOf(r object.Ref) string {
	if kindName(r) == "Namespace" {
		return r.Name
	}
	return r.Namespace
}

func kindName(r object.Ref) string {
	if r.Group == "" {
		return r.Kind
	}
	return r.Kind + "." + r.Group
}
