package cost

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/shopspring/decimal"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// bookFormats are what the tags of a BookDocument name. Each reads a value, in all ways in which a
// person may write it, into its normal form.
func bookFormats() strict.Formats {
	table := func(check func(string) string) func(*strict.Mapping, *yaml.Node) map[string]decimal.Decimal {
		return func(m *strict.Mapping, n *yaml.Node) map[string]decimal.Decimal {
			return readPrices[string](m, n, check)
		}
	}
	free := func(string) string { return "" }
	return strict.Formats{
		"line": readLine, "currency": readCurrency, "lines": readLines,
		"hourly":   func(m *strict.Mapping, n *yaml.Node) *decimal.Decimal { return readPrice(m, n, true) },
		"traffic":  func(m *strict.Mapping, n *yaml.Node) *decimal.Decimal { return readPrice(m, n, false) },
		"prices":   table(free),
		"base":     func(m *strict.Mapping, n *yaml.Node) StorageDocument { return readStorage(m, n, true) },
		"storage":  func(m *strict.Mapping, n *yaml.Node) StorageDocument { return readStorage(m, n, false) },
		"models":   readModels,
		"byModel":  readByModel,
		"resource": readExtendedResource,
		"label": func(m *strict.Mapping, n *yaml.Node) string {
			label := m.Text(n)
			if wrong := validation.IsQualifiedName(label); len(wrong) > 0 && label != "" {
				m.Report(n, "%q is not a label: expected a key such as %s", field.Shorten(label), defaultGPULabel)
			}
			return label
		},
		"extended": func(m *strict.Mapping, n *yaml.Node) map[metrics.Resource]decimal.Decimal {
			return readPrices[metrics.Resource](m, n, notExtended)
		},
		"notCharged": table(func(name string) string {
			if name == "" || strings.ContainsFunc(name, unicode.IsControl) {
				return "is not a name"
			}
			return ""
		}),
		"discounts": readDiscounts, "overrides": readOverrides, "name": readOverrideName, "nodes": readNodes, "node": readNodePrice, "selector": (*strict.Mapping).Text,
		"nodeNames":  func(m *strict.Mapping, n *yaml.Node) []string { return readPatterns(m, n, "a node") },
		"namespaces": func(m *strict.Mapping, n *yaml.Node) []string { return readPatterns(m, n, "a namespace") },
		"clusters":   readLines, "labels": readSharedLabels, "by": readSharedBy,
	}
}

// readList passes on the items of a list; a single item is a list of one.
func readList(m *strict.Mapping, n *yaml.Node, each func(*yaml.Node)) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	if len(items) == 0 {
		m.Report(n, "the list is empty: omit it")
	}
	for _, item := range items {
		if item.Kind == yaml.AliasNode {
			m.Report(item, "aliases are not read: write the value out")
			continue
		}
		each(item)
	}
}

func readLines(m *strict.Mapping, n *yaml.Node) []string {
	var all []string
	readList(m, n, func(n *yaml.Node) {
		if text := readLine(m, n); text != "" {
			all = append(all, text)
		}
	})
	return all
}

// readPatterns reads names with the wildcards * and ?.
func readPatterns(m *strict.Mapping, n *yaml.Node, kind string) []string {
	var all []string
	readList(m, n, func(n *yaml.Node) {
		text := m.Text(n)
		if text == "" {
			return
		}
		if _, err := path.Match(text, ""); err != nil || strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-.*?") != "" {
			m.Report(n, "%q is not a name of %s: expected lower case letters, digits, dashes and dots, and * or ? for any others", field.Shorten(text), kind)
			return
		}
		all = append(all, text)
	})
	return all
}

// readSharedLabels reads the values of labels by key; a single value is a list of one.
func readSharedLabels(m *strict.Mapping, n *yaml.Node) map[string][]string {
	all := map[string][]string{}
	m.Entries(n, func(key string, value *yaml.Node) {
		if len(validation.IsQualifiedName(key)) > 0 {
			m.Report(value, "%q is not a label: expected a key such as app.kubernetes.io/part-of", field.Shorten(key))
			return
		}
		readList(m, value, func(n *yaml.Node) {
			text := m.Text(n)
			if plain := strings.NewReplacer("*", "a", "?", "a").Replace(text); len(validation.IsValidLabelValue(plain)) > 0 {
				m.Report(n, "%q cannot be the value of a label, with * or ? for any characters", field.Shorten(text))
				return
			}
			all[key] = append(all[key], text)
		})
	})
	return all
}

func readSharedBy(m *strict.Mapping, n *yaml.Node) string {
	way := m.Text(n)
	if all := []string{sharedEvenly, sharedByCost}; way != "" && !slices.Contains(all, way) {
		m.Report(n, "unknown way %q: expected even, or cost for what each stack pays otherwise%s", field.Shorten(way), object.DidYouMean(object.Nearest(way, all)))
	}
	return way
}

// readAmount reads the scalar of a price.
func readAmount(m *strict.Mapping, n *yaml.Node) (decimal.Decimal, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" && n.Tag != "!!int" && n.Tag != "!!float" {
		m.Report(n, "expected a price: a decimal number such as 0.031611, or {price: NUMBER, per: month}")
		return decimal.Decimal{}, false
	}
	d, wrong := parseAmount(n.Value)
	if wrong != "" {
		m.Report(n, "%q %s", field.Shorten(n.Value), wrong)
	}
	return d, wrong == ""
}

// readPrice reads a price: a number, which is that of the unit the field has, or a mapping
// that says for how long. timed says that the unit has an hour in it. It is nil where
// something is wrong.
func readPrice(m *strict.Mapping, n *yaml.Node, timed bool) *decimal.Decimal {
	if n.Kind != yaml.MappingNode {
		if d, ok := readAmount(m, n); ok {
			return &d
		}
		return nil
	}
	var d decimal.Decimal
	ok, per := false, "hour"
	m.Struct(n, &struct{}{}, nil,
		strict.Field{Name: "price", Required: true, Set: func(n *yaml.Node) { d, ok = readAmount(m, n) }},
		strict.Field{Name: "per", Set: func(n *yaml.Node) {
			switch per = n.Value; {
			case !timed:
				m.Report(n, "this price is per GiB of traffic: omit per")
			case n.Kind != yaml.ScalarNode || per != "hour" && per != "month":
				m.Report(n, "got %q: expected hour or month (730 hours)", field.Shorten(n.Value))
			}
		}})
	switch {
	case !ok:
		return nil
	case per == "month":
		d = dividedBy(d, HoursPerMonth)
	}
	return &d
}

// readPrices reads prices by free names; none is nil.
func readPrices[K ~string](m *strict.Mapping, n *yaml.Node, check func(name string) string) map[K]decimal.Decimal {
	var all map[K]decimal.Decimal
	m.Entries(n, func(name string, value *yaml.Node) {
		if wrong := check(name); wrong != "" {
			m.Report(value, "%q %s", field.Shorten(name), wrong)
		}
		if price := readPrice(m, value, true); price != nil {
			if all == nil {
				all = map[K]decimal.Decimal{}
			}
			all[K(name)] = *price
		}
	})
	return all
}

// readStorage reads one price for all, or prices by class and by volume.
func readStorage(m *strict.Mapping, n *yaml.Node, required bool) StorageDocument {
	var d StorageDocument
	if n.Kind != yaml.MappingNode || strict.Value(n, "price") != nil || strict.Value(n, "per") != nil {
		d.Default = readPrice(m, n, true)
		return d
	}
	m.Struct(n, &d, bookFormats(), strict.Field{Name: "default", Required: required, Set: func(n *yaml.Node) { d.Default = readPrice(m, n, true) }})
	return d
}

// readModels reads prices by model: one mapping, or a list where several labels name
// models.
func readModels(m *strict.Mapping, n *yaml.Node) []GPUDocument {
	var all []GPUDocument
	readList(m, n, func(n *yaml.Node) {
		d := GPUDocument{Label: defaultGPULabel, Resource: defaultGPU}
		if m.Struct(n, &d, bookFormats()); d.Models == nil {
			d.Models = map[string]decimal.Decimal{}
		}
		all = append(all, d)
	})
	return all
}

func readExtendedResource(m *strict.Mapping, n *yaml.Node) metrics.Resource {
	name := m.Text(n)
	if wrong := notExtended(name); wrong != "" && name != "" {
		m.Report(n, "%q %s", field.Shorten(name), wrong)
	}
	return metrics.Resource(name)
}

// readByModel reads prices by model, and refuses two whose names differ in the case of letters only.
func readByModel(m *strict.Mapping, n *yaml.Node) map[string]decimal.Decimal {
	seen := map[string]string{}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if other, ok := seen[strings.ToLower(key.Value)]; ok && other != key.Value {
			m.Report(key, "%s is %s again: case is ignored", field.Shorten(key.Value), field.Shorten(other))
		}
		seen[strings.ToLower(key.Value)] = key.Value
	}
	return readPrices[string](m, n, func(model string) string {
		if len(validation.IsValidLabelValue(model)) > 0 {
			return "cannot be a label value"
		}
		return ""
	})
}

// readDiscounts reads what is taken off, overall and by what it is taken off.
func readDiscounts(m *strict.Mapping, n *yaml.Node) map[string]string {
	names := []string{discountAll, discountCPU, discountMemory, discountStorage, discountNetwork, discountBalancer}
	all := map[string]string{}
	m.Entries(n, func(name string, value *yaml.Node) {
		if !slices.Contains(names, name) && notExtended(name) != "" {
			m.Report(value, "unknown discount %q: expected one of %s, or an extended resource%s", field.Shorten(name), strings.Join(names, ", "), object.DidYouMean(object.Nearest(name, names)))
			return
		}
		if value.Kind != yaml.ScalarNode || value.Tag != "!!str" && value.Tag != "!!int" && value.Tag != "!!float" {
			m.Report(value, "expected a percentage such as 10%%, or a fraction such as 0.1")
			return
		}
		d, wrong := parseDiscount(value.Value)
		if wrong != "" {
			m.Report(value, "%q %s", field.Shorten(value.Value), wrong)
			return
		}
		all[name] = percentage(d)
	})
	return all
}
