package cost

import (
	"strings"

	"github.com/shopspring/decimal"
	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// A price in a book has at most so many digits before and after the point.
const (
	maxDigits   = 12
	maxDecimals = 24
)

// parseAmount reads a decimal number as it is written, never through a float. What
// is wrong with it is said; nothing where it is fine.
func parseAmount(text string) (decimal.Decimal, string) {
	whole, fraction, point := strings.Cut(text, ".")
	switch lower := strings.ToLower(text); {
	case strings.HasPrefix(text, "-") && digits(strings.NewReplacer(".", "", "-", "").Replace(text)):
		return decimal.Decimal{}, "is negative: a price is 0 or more"
	case strings.ContainsAny(lower, "e") && digits(strings.NewReplacer(".", "", "e", "", "+", "", "-", "").Replace(lower)):
		return decimal.Decimal{}, "has an exponent: write the full number"
	case strings.Contains(text, ",") && digits(strings.NewReplacer(".", "", ",", "").Replace(text)):
		return decimal.Decimal{}, "has a comma: write a decimal point, without separators of thousands"
	case !digits(whole) || point && !digits(fraction) || len(whole) > 1 && whole[0] == '0':
		return decimal.Decimal{}, "is not a decimal number: expected one such as 0.031611"
	case len(whole) > maxDigits || len(strings.TrimRight(fraction, "0")) > maxDecimals:
		return decimal.Decimal{}, "has too many digits: expected at most 12 before the point and 24 after it"
	}
	d, err := decimal.NewFromString(text)
	if err != nil {
		return decimal.Decimal{}, "is not a decimal number: expected one such as 0.031611"
	}
	return d, ""
}

func digits(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// parseImported reads a price of OpenCost, which are printed floats: an exponent may
// stand there.
func parseImported(text string) (decimal.Decimal, string) {
	mantissa, exponent, ok := strings.Cut(strings.ToLower(text), "e")
	if power := strings.TrimLeft(exponent, "+-"); ok && len(exponent)-len(power) <= 1 && len(power) <= 2 && digits(power) {
		if d, wrong := parseAmount(mantissa); wrong == "" {
			shifted, err := decimal.NewFromString(d.String() + "e" + exponent)
			if err == nil {
				return parseAmount(shifted.String())
			}
		}
	}
	return parseAmount(text)
}

// parseDiscount reads a percentage, or a fraction below 1.
func parseDiscount(text string) (decimal.Decimal, string) {
	number, percent := strings.CutSuffix(text, "%")
	d, wrong := parseAmount(strings.TrimSpace(number))
	one := decimal.NewFromInt(1)
	switch {
	case wrong != "":
		return d, strings.ReplaceAll(strings.ReplaceAll(wrong, "a price", "a discount"), "0.031611", "10% or 0.1")
	case percent:
		d = d.Shift(-2)
	case d.GreaterThanOrEqual(one):
		return d, "is not a fraction below 1: write a percentage with its sign, such as 10%"
	}
	if d.GreaterThan(one) {
		return d, "is more than 100%: expected at most 100%"
	}
	if d.Exponent() < -12 {
		return d, "has too many digits: expected at most 12 after the point of a fraction"
	}
	return d, ""
}

// amount reads the scalar of a price.
func (r *bookReader) amount(n *yaml.Node) (decimal.Decimal, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" && n.Tag != "!!int" && n.Tag != "!!float" {
		r.Report(n, "expected a price: a decimal number such as 0.031611, or {price: NUMBER, per: month}")
		return decimal.Decimal{}, false
	}
	d, wrong := parseAmount(n.Value)
	if wrong != "" {
		r.Report(n, "%q %s", field.Shorten(n.Value), wrong)
	}
	return d, wrong == ""
}

// price reads a price: a number, which is that of the unit the field has, or a mapping
// that says for how long. timed says that the unit has an hour in it. It is nil where
// something is wrong.
func (r *bookReader) price(n *yaml.Node, timed bool) *decimal.Decimal {
	if n.Kind != yaml.MappingNode {
		if d, ok := r.amount(n); ok {
			return &d
		}
		return nil
	}
	var d *decimal.Decimal
	per := "hour"
	r.mapping(n,
		strict.Field{Name: "price", Required: true, Set: func(n *yaml.Node) {
			if v, ok := r.amount(n); ok {
				d = &v
			}
		}},
		strict.Field{Name: "per", Set: func(n *yaml.Node) { per = r.per(n, timed) }},
	)
	if d != nil && per == "month" {
		hourly := d.DivRound(decimal.NewFromInt(HoursPerMonth), Digits)
		d = &hourly
	}
	return d
}

func (r *bookReader) per(n *yaml.Node, timed bool) string {
	switch {
	case !timed:
		r.Report(n, "this price is per GiB of traffic: omit per")
	case n.Kind != yaml.ScalarNode || n.Value != "hour" && n.Value != "month":
		r.Report(n, "got %q: expected hour or month (730 hours)", field.Shorten(n.Value))
	}
	return n.Value
}

// hourly returns a field that takes a price of something times an hour.
func (r *bookReader) hourly(name string, required bool, into **decimal.Decimal) strict.Field {
	return strict.Field{Name: name, Required: required, Set: func(n *yaml.Node) { *into = r.price(n, true) }}
}

// table reads prices by free names.
func (r *bookReader) table(n *yaml.Node, check func(name string) string) map[string]decimal.Decimal {
	all := map[string]decimal.Decimal{}
	m := strict.Mapping{}
	m.Entries(n, func(name string, value *yaml.Node) {
		if wrong := check(name); wrong != "" {
			r.Report(value, "%q %s", field.Shorten(name), wrong)
		}
		if d := r.price(value, true); d != nil {
			all[name] = *d
		}
	})
	r.Problems = append(r.Problems, m.Problems...)
	return all
}
