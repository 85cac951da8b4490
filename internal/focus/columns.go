package focus

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// standardNames are the columns of FOCUS 1.2, Cost and Usage. Those of commitment discounts
// and capacity reservations are not among them: a cluster has neither, and the
// specification wants them of providers who do.
func standardNames() []string {
	return []string{
		"AvailabilityZone", "BilledCost", "BillingAccountId", "BillingAccountName", "BillingAccountType", "BillingCurrency",
		"BillingPeriodEnd", "BillingPeriodStart", "ChargeCategory", "ChargeClass", "ChargeDescription", "ChargeFrequency",
		"ChargePeriodEnd", "ChargePeriodStart", "ConsumedQuantity", "ConsumedUnit", "ContractedCost", "ContractedUnitPrice",
		"EffectiveCost", "InvoiceId", "InvoiceIssuerName", "ListCost",
		"ListUnitPrice", "PricingCategory", "PricingCurrency", "PricingCurrencyContractedUnitPrice",
		"PricingCurrencyEffectiveCost", "PricingCurrencyListUnitPrice", "PricingQuantity", "PricingUnit", "ProviderName",
		"PublisherName", "RegionId", "RegionName", "ResourceId", "ResourceName", "ResourceType", "ServiceCategory",
		"ServiceName", "ServiceSubcategory", "SkuId", "SkuMeter", "SkuPriceDetails", "SkuPriceId", "SubAccountId",
		"SubAccountName", "SubAccountType", "Tags",
	}
}

// addedNames are the columns that 1.3 adds, without those of contracts.
func addedNames() []string {
	return []string{
		"AllocatedMethodDetails", "AllocatedMethodId", "AllocatedResourceId", "AllocatedResourceName", "AllocatedTags",
		"HostProviderName", "ServiceProviderName",
	}
}

// ownNames are our columns, which no version has.
func ownNames() []string {
	return []string{
		"x_ChargeKind", "x_NamespaceName", "x_NodeName", "x_OwnerId", "x_OwnerKind", "x_OwnerName", "x_ReadingType",
		"x_ResourceKind", "x_ShareCount", "x_ShareRatio", "x_StackId", "x_StackKind", "x_StackName", "x_StackNamespaceName",
		"x_WorkloadId", "x_WorkloadKind", "x_WorkloadName",
	}
}

// columnNames are the columns of a version, in the order of the file.
func columnNames(version string) []string {
	names := standardNames()
	if version != "1.2" {
		names = append(names, addedNames()...)
		slices.Sort(names)
	}
	return append(names, ownNames()...)
}

func (f *file) columns() []view.CSVColumn {
	out := make([]view.CSVColumn, len(f.names))
	for i, name := range f.names {
		out[i] = view.CSVColumn{Name: name, Kind: kindOf(name)}
	}
	return out
}

func kindOf(name string) view.CellKind {
	switch name {
	case "BilledCost", "ConsumedQuantity", "ContractedCost", "ContractedUnitPrice", "EffectiveCost",
		"ListCost", "ListUnitPrice", "PricingCurrencyContractedUnitPrice", "PricingCurrencyEffectiveCost",
		"PricingCurrencyListUnitPrice", "PricingQuantity", "x_ShareCount", "x_ShareRatio":
		return view.NumberCell
	case "AllocatedMethodDetails", "AllocatedTags", "SkuPriceDetails", "Tags":
		return view.JSONCell
	}
	return view.TextCell
}

// service is what FOCUS calls a service. Each name has one category and one
// subcategory: the specification wants it so.
type service struct{ name, category, subcategory string }

func services() map[string]service {
	return map[string]service{
		"compute":      {"Kubernetes Compute", "Compute", "Containers"},
		"storage":      {"Kubernetes Storage", "Storage", "Other (Storage)"},
		"network":      {"Kubernetes Network Traffic", "Networking", "Network Connectivity"},
		"loadBalancer": {"Kubernetes Load Balancing", "Networking", "Application Networking"},
		"overhead":     {"Kubernetes Overhead", "Management and Governance", "Other (Management and Governance)"},
	}
}
