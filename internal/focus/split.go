package focus

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/internal/export"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// tagPrefix is before the keys of tags of ours; labels of users never begin so.
const tagPrefix = "sysop.dev/"

// tags are the labels of the item. In 1.2, which has no other place for it, they say
// besides to which stack the charge goes.
func (f *file) tags(c *cost.Charge) string {
	tags := f.labels(c.Item)
	if f.o.Version == "1.2" && c.Stack != (object.Ref{}) {
		tags[tagPrefix+"stack"] = c.Stack.String()
	}
	if f.o.Tenant != "" {
		tags[tagPrefix+"tenant"] = f.o.Tenant
	}
	return jsonObject(tags)
}

// labels returns a map of its own.
func (f *file) labels(r object.Ref) map[string]string {
	out := map[string]string{}
	if r == (object.Ref{}) {
		return out
	}
	var labels map[string]string
	if f.o.Tags != nil {
		labels = f.o.Tags(r)
	}
	if labels == nil {
		labels = f.gone[r]
	}
	if node := f.nodes[r.Name]; labels == nil && node != nil && r == (object.Ref{Kind: "Node", Name: r.Name}) {
		labels = node.Labels
	}
	maps.Copy(out, labels)
	maps.DeleteFunc(out, func(key, _ string) bool { return strings.HasPrefix(key, tagPrefix) })
	return out
}

// jsonObject writes tags in the order of their keys; none are null.
func jsonObject(tags map[string]string) string {
	if len(tags) == 0 {
		return ""
	}
	return jsonText(tags)
}

// jsonText writes a string, or a map of strings, on one line.
func jsonText(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "" // Strings always can be encoded.
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// split fills in what rows are allocated to (1.3). The origin charge is what rows
// have in common that agree in all but quantities and costs: they are its parts, and
// their ratios add up to 1. What goes to no stack is the part that is not allocated. A charge
// that is not split is related to no split cost allocation: the specification has these
// columns null then.
func (f *file) split(l *cost.Ledger, columns []view.CSVColumn, rows [][]string) {
	origins := map[string][]int{}
	var order []string
	for i, row := range rows {
		key := originOf(columns, row)
		if origins[key] == nil {
			order = append(order, key)
		}
		origins[key] = append(origins[key], i)
	}
	for _, key := range order {
		parts := origins[key]
		if len(parts) == 1 {
			continue
		}
		quantities := make([]decimal.Decimal, len(parts))
		for i, at := range parts {
			quantities[i] = l.Charges[at].Quantity
		}
		for i, ratio := range ratios(quantities) {
			allocated := f.allocated(&l.Charges[parts[i]], ratio)
			for at, c := range columns {
				if value, ok := allocated[c.Name]; ok {
					rows[parts[i]][at] = value
				}
			}
		}
	}
}

// originOf tells the origin charge of a row.
func originOf(columns []view.CSVColumn, row []string) string {
	var b strings.Builder
	for i, c := range columns {
		switch c.Name {
		case "BilledCost", "ConsumedQuantity", "ContractedCost", "EffectiveCost", "ListCost", "PricingCurrencyEffectiveCost", "PricingQuantity":
			continue
		}
		if strings.HasPrefix(c.Name, "x_") {
			break // They are the last, and no part of FOCUS.
		}
		b.WriteString(row[i])
		b.WriteByte(0)
	}
	return b.String()
}

// allocated is what the columns of splits have of a charge that is a part.
func (f *file) allocated(c *cost.Charge, ratio decimal.Decimal) map[string]string {
	out := map[string]string{
		"AllocatedMethodId":      f.method(c),
		"AllocatedMethodDetails": `{"Elements":[{"AllocatedRatio":` + ratio.String() + `,"UsageUnit":` + jsonText(c.Unit) + `,"UsageQuantity":` + c.Quantity.String() + `}]}`,
	}
	if c.Stack != (object.Ref{}) {
		tags, has := f.labels(c.Stack), f.labels(c.Item)
		maps.DeleteFunc(tags, func(key, _ string) bool { _, ok := has[key]; return ok })
		out["AllocatedResourceId"], out["AllocatedResourceName"], out["AllocatedTags"] = c.Stack.String(), c.Stack.Name, jsonObject(tags)
	}
	return out
}

// method names the way of splitting (docs/focus.md).
func (f *file) method(c *cost.Charge) string {
	switch c.Kind {
	case cost.Idle:
		return "sysop-idle"
	case cost.Shared, cost.Overhead:
		if f.o.Sharing.Weighted {
			return "sysop-common-weighted"
		}
		return "sysop-common-even"
	}
	sharing := f.o.Sharing.Sharing
	if sharing == "" {
		sharing = cost.ShareEven
	}
	return "sysop-stack-" + string(sharing)
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
