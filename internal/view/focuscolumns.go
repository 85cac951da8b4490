package view

import "slices"

// focusNames are the columns of FOCUS 1.2, Cost and Usage. Those of commitment discounts
// and capacity reservations are not among them: a cluster has neither, and the
// specification wants them of providers who do.
func focusNames() []string {
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

// focusAdded are the columns that 1.3 adds, without those of contracts.
func focusAdded() []string {
	return []string{
		"AllocatedMethodDetails", "AllocatedMethodId", "AllocatedResourceId", "AllocatedResourceName", "AllocatedTags",
		"HostProviderName", "ServiceProviderName",
	}
}

// focusOwn are our columns, which no version has.
func focusOwn() []string {
	return []string{
		"x_ChargeKind", "x_NamespaceName", "x_NodeName", "x_OwnerId", "x_OwnerKind", "x_OwnerName", "x_ReadingType",
		"x_ResourceKind", "x_ShareCount", "x_ShareRatio", "x_StackId", "x_StackKind", "x_StackName", "x_StackNamespaceName",
		"x_WorkloadId", "x_WorkloadKind", "x_WorkloadName",
	}
}

// focusColumns are the columns of a version, in the order of the file.
func focusColumns(version string) []string {
	names := focusNames()
	if version != "1.2" {
		names = append(names, focusAdded()...)
		slices.Sort(names)
	}
	return append(names, focusOwn()...)
}

func (f *focusFile) columns() []CSVColumn {
	out := make([]CSVColumn, len(f.names))
	for i, name := range f.names {
		out[i] = CSVColumn{Name: name, Kind: focusKind(name)}
	}
	return out
}

func focusKind(name string) CellKind {
	switch name {
	case "BilledCost", "ConsumedQuantity", "ContractedCost", "ContractedUnitPrice", "EffectiveCost",
		"ListCost", "ListUnitPrice", "PricingCurrencyContractedUnitPrice", "PricingCurrencyEffectiveCost",
		"PricingCurrencyListUnitPrice", "PricingQuantity", "x_ShareCount", "x_ShareRatio":
		return NumberCell
	case "AllocatedMethodDetails", "AllocatedTags", "SkuPriceDetails", "Tags":
		return JSONCell
	}
	return TextCell
}

// focusService is what FOCUS calls a service. Each name has one category and one
// subcategory: the specification wants it so.
type focusService struct{ name, category, subcategory string }

func focusServices() map[string]focusService {
	return map[string]focusService{
		"compute":      {"Kubernetes Compute", "Compute", "Containers"},
		"storage":      {"Kubernetes Storage", "Storage", "Other (Storage)"},
		"network":      {"Kubernetes Network Traffic", "Networking", "Network Connectivity"},
		"loadBalancer": {"Kubernetes Load Balancing", "Networking", "Application Networking"},
		"overhead":     {"Kubernetes Overhead", "Management and Governance", "Other (Management and Governance)"},
	}
}
