package focus_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

var (
	focusNumber   = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?(E-?[0-9]+)?$`)
	focusPascal   = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	focusCode     = regexp.MustCompile(`^[A-Z]{3}$`)
	focusDateTime = "2006-01-02T15:04:05Z"
)

// focusFormats are the check functions for types and formats.
func focusFormats(e *focusEvaluator) map[string]func(string) error {
	number := func(text string) error {
		if !focusNumber.MatchString(text) {
			return errors.New("no plain number")
		}
		return nil
	}
	moment := func(text string) error {
		if at, err := time.Parse(focusDateTime, text); err != nil || at.Format(focusDateTime) != text {
			return errors.New("no time as 2006-01-02T15:04:05Z")
		}
		return nil
	}
	return map[string]func(string) error{
		"TypeDecimal": number, "FormatNumeric": number, "CheckDecimalValue": number,
		"TypeDateTime": moment, "FormatDateTime": moment,
		"TypeString": func(text string) error {
			if !utf8.ValidString(text) {
				return errors.New("no Unicode")
			}
			return nil
		},
		"FormatString": asciiText, "FormatUnit": unitText, "FormatKeyValue": keyValues,
		"FormatCurrency": func(text string) error {
			if !focusCode.MatchString(text) {
				return errors.New("no code of three letters")
			}
			return nil
		},
		"CheckNationalCurrency": func(text string) error {
			if !slices.Contains(e.currencies, text) {
				return errors.New("no currency of ISO 4217")
			}
			return nil
		},
	}
}

// asciiText: the official validator wants more than the specification, which has
// Unicode.
func asciiText(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("nothing but spaces")
	}
	for _, r := range text {
		if r >= utf8.RuneSelf {
			return errors.New("not only ASCII")
		}
	}
	return nil
}

// unitText reads a unit: units joined by hyphens, plural at the end, and maybe per
// another. Data sizes and times come from the lists of the specification; what is
// counted may be any noun of letters and digits that begins with a capital.
func unitText(text string) error {
	sizes := strings.Fields("b Kb Mb Gb Tb Pb Eb Kib Mib Gib Tib Pib Eib B KB MB GB TB PB EB KiB MiB GiB TiB PiB EiB")
	counted := regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	for side := range strings.SplitSeq(text, "/") {
		parts := strings.Split(side, "-")
		for i, part := range parts {
			if slices.Contains(sizes, part) {
				continue
			}
			for _, size := range sizes {
				if strings.EqualFold(size, part) || strings.EqualFold(size+"s", part) {
					return fmt.Errorf("%s is not how a data size is written", part)
				}
			}
			if !counted.MatchString(part) {
				return fmt.Errorf("%q is no unit", part)
			}
			if last := i == len(parts)-1 && !strings.Contains(text, "/"); last != strings.HasSuffix(part, "s") {
				return fmt.Errorf("%q is not singular before and plural at the end", part)
			}
		}
	}
	return nil
}

// keyValues reads a JSON object whose keys are unique and whose values are scalars.
func keyValues(text string) error {
	d := json.NewDecoder(strings.NewReader(text))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return errors.New("no JSON object")
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		if seen[key.(string)] {
			return fmt.Errorf("key %s occurs twice", key)
		}
		seen[key.(string)] = true
		value, err := d.Token()
		if err != nil {
			return err
		}
		if _, nested := value.(json.Delim); nested {
			return fmt.Errorf("the value of %s is no scalar", key)
		}
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something after the object")
	}
	return nil
}

type focusCheck func(e *focusEvaluator, rows []int) error

// focusDynamic are the rules that the model leaves to people, and that can be checked
// in the file nevertheless.
func focusDynamic() map[string]focusCheck {
	out := map[string]focusCheck{}
	add := func(check focusCheck, ids ...string) {
		for _, id := range ids {
			out[id] = check
		}
	}
	add(ofType("TypeDateTime"), "DateTimeFormat-A-001-M", "DateTimeFormat-A-002-M", "DateTimeFormat-A-004-M", "DateTimeFormat-A-005-M", "DateTimeFormat-A-006-M")
	add(ofType("TypeDecimal"), "NumericFormat-A-002-M", "NumericFormat-A-003-M", "NumericFormat-A-004-M", "NumericFormat-A-005-M", "NumericFormat-A-006-M",
		"NumericFormat-A-007-M", "NumericFormat-A-008-M", "NumericFormat-A-009-M", "NumericFormat-A-010-M", "NumericFormat-A-011-M")
	add(ofType("FormatCurrency"), "CurrencyFormat-A-001-C")
	add(ofType("TypeString"), "StringHandling-A-001-M")
	add(ofType("FormatString"), "StringHandling-A-007-M")
	add(ofType("FormatUnit"), "UnitFormat-A-001-M", "UnitFormat-A-002-O", "UnitFormat-A-003-M", "UnitFormat-A-004-C")
	add(ofType("FormatKeyValue"), "KeyValueFormat-A-001-M", "KeyValueFormat-A-002-M", "KeyValueFormat-A-003-M", "KeyValueFormat-A-004-M")
	add(focusHeads, "ColumnHandling-A-001-M", "ColumnHandling-A-003-M", "ColumnHandling-A-005-O", "ColumnHandling-A-010-M",
		"ColumnHandling-A-011-O", "ColumnHandling-A-012-O", "ColumnHandling-A-013-O")
	add(focusNulls, "NullHandling-A-001-C", "NullHandling-A-002-M")
	add(focusPeriods, "BillingPeriodStart-C-004-M", "BillingPeriodEnd-C-004-M", "ChargePeriodStart-C-004-M", "ChargePeriodEnd-C-004-M")
	add(eachRow(func(cell func(string) string) bool {
		return product(cell("ContractedUnitPrice"), cell("PricingQuantity"), cell("ContractedCost")) &&
			product(cell("ListUnitPrice"), cell("PricingQuantity"), cell("ListCost"))
	}), "PricingQuantity-C-009-C", "ContractedCost-C-009-C")
	add(eachRow(func(cell func(string) string) bool { return focusNumber.MatchString(cell("ConsumedQuantity")) }), "ConsumedQuantity-C-008-C")
	add(eachRow(func(cell func(string) string) bool { return cell("ChargeClass") == "NULL" }), "ChargeClass-C-003-C")
	add(eachRow(func(cell func(string) string) bool { return cell("ResourceName") == "NULL" }), "ResourceName-C-004-C")
	add(eachRow(func(cell func(string) string) bool {
		return cell("ResourceName") != cell("ResourceId") || cell("ResourceId") == "NULL"
	}), "ResourceName-C-006-C")
	add(eachRow(func(cell func(string) string) bool {
		return cell("PricingCurrency") == cell("BillingCurrency") && cell("PricingCurrencyContractedUnitPrice") == cell("ContractedUnitPrice") &&
			!strings.HasPrefix(cell("PricingCurrencyContractedUnitPrice"), "-")
	}), "PricingCurrencyContractedUnitPrice-C-005-C", "PricingCurrencyContractedUnitPrice-C-008-C", "PricingCurrencyContractedUnitPrice-C-009-C")
	add(eachRow(func(cell func(string) string) bool { return cell("ServiceName") != "NULL" }), "SkuId-C-011-C", "SkuPriceId-C-012-C")
	add(eachRow(func(cell func(string) string) bool { return cell("PricingCategory") == "Standard" }), "PricingCategory-C-008-C")
	return out
}

// ofType checks every cell of the columns which the model says are of a type or a
// format.
func ofType(function string) focusCheck {
	return func(e *focusEvaluator, rows []int) error {
		check := e.formats[function]
		for _, r := range e.m.ModelRules {
			if r.ValidationCriteria.Requirement["CheckFunction"] != function || r.EntityType != "Column" {
				continue
			}
			for _, row := range rows {
				if text, ok := e.d.cell(row, r.Reference); ok {
					if err := check(text); err != nil {
						return fmt.Errorf("%s %q: %w", r.Reference, text, err)
					}
				}
			}
		}
		return nil
	}
}

func eachRow(holds func(cell func(string) string) bool) focusCheck {
	return func(e *focusEvaluator, rows []int) error {
		for _, row := range rows {
			if !holds(func(column string) string { return e.d.rows[row][e.d.at[column]] }) {
				return fmt.Errorf("row %d does not hold it", row+1)
			}
		}
		return nil
	}
}

func product(a, b, result string) bool {
	x, errX := decimal.NewFromString(a)
	y, errY := decimal.NewFromString(b)
	z, errZ := decimal.NewFromString(result)
	return errX == nil && errY == nil && errZ == nil && x.Mul(y).Equal(z)
}

// focusHeads: names are in Pascal case, ours begin with x_ and come last.
func focusHeads(e *focusEvaluator, _ []int) error {
	known := map[string]bool{}
	for _, r := range e.m.ModelRules {
		if r.EntityType == "Column" {
			known[r.Reference] = true
		}
	}
	own := false
	for _, name := range e.d.names {
		custom := strings.HasPrefix(name, "x_")
		switch {
		case !focusPascal.MatchString(strings.TrimPrefix(name, "x_")):
			return fmt.Errorf("%s is not in Pascal case", name)
		case len(name) > 50:
			return fmt.Errorf("%s is long", name)
		case !custom && !known[name]:
			return fmt.Errorf("%s is no column of FOCUS", name)
		case own && !custom:
			return fmt.Errorf("%s is after columns of our own", name)
		}
		own = custom
	}
	return nil
}

// focusNulls: a cell is never empty, nor a word that stands for nothing.
func focusNulls(e *focusEvaluator, _ []int) error {
	for i, row := range e.d.rows {
		for j, text := range row {
			if slices.Contains([]string{"", "null", "None", "nil", "N/A", "Not Applicable", "{}"}, strings.TrimSpace(text)) {
				return fmt.Errorf("row %d: %s is %q", i+1, e.d.names[j], text)
			}
		}
	}
	return nil
}

// focusPeriods: a charge period has a length, and lies in its billing period, which
// is a month.
func focusPeriods(e *focusEvaluator, rows []int) error {
	for _, row := range rows {
		at := func(column string) time.Time {
			text, _ := e.d.cell(row, column)
			v, err := time.Parse(focusDateTime, text)
			if err != nil {
				return time.Time{}
			}
			return v
		}
		start, end := at("ChargePeriodStart"), at("ChargePeriodEnd")
		month, next := at("BillingPeriodStart"), at("BillingPeriodEnd")
		if !start.Before(end) || start.Before(month) || end.After(next) || month.Day() != 1 || !month.AddDate(0, 1, 0).Equal(next) {
			return fmt.Errorf("row %d: charged for %s to %s in the period %s to %s", row+1, start, end, month, next)
		}
	}
	return nil
}
