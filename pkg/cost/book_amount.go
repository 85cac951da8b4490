package cost

import (
	"strings"

	"github.com/shopspring/decimal"
)

// A price in a book has at most so many digits before and after the point.
const (
	maxDigits   = 12
	maxDecimals = 24
)

// parseAmount reads a decimal number as it is written, never through a float, without the zeros at
// its end. What is wrong with it is said; nothing where it is fine.
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
	if point {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	d, err := decimal.NewFromString(text)
	if err != nil {
		return decimal.Decimal{}, "is not a decimal number: expected one such as 0.031611"
	}
	return d, ""
}

// dividedBy divides a price, without zeros at the end.
func dividedBy(d decimal.Decimal, parts int64) decimal.Decimal {
	return decimal.RequireFromString(d.DivRound(decimal.NewFromInt(parts), Digits).String())
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
