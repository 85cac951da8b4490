package cost

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
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

// What a price book says it is.
const (
	BookVersion = "sysop.dev/v1alpha1"
	BookKind    = "PriceBook"
)

// The resource and the label of GPUs, where a book names none: those of NVIDIA's
// device plugin and GPU feature discovery.
const (
	defaultGPU      metrics.Resource = "nvidia.com/gpu"
	defaultGPULabel string           = "nvidia.com/gpu.product"
)

const (
	// maxProblems are reported of one book.
	maxProblems = 100
	// maxRows are in a CSV at most, each of which may make two overrides.
	maxRows = 10000
	// maxOverrides are in a book at most: each is matched with every node.
	maxOverrides = 2*maxRows + 1
)

// ParseBook reads a price book: the YAML form (docs/price-book.md), which JSON is
// as well, or one of OpenCost's, its JSON configuration (configs/default.json) and its
// CSV. name is that of the file, for the book that has none of its own and for the
// kind of file. Where anything is wrong there is no book, and the problems say what
// and where, in the order of the text.
func ParseBook(name string, text []byte) (*Book, []strict.Problem) {
	r := &bookReader{name: bookName(name)}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if isCSV(name, text) {
		r.csv(text)
	} else {
		r.document(text)
	}
	if len(r.Problems) == 0 {
		return r.book, nil
	}
	slices.SortStableFunc(r.Problems, func(a, b strict.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if more := len(r.Problems) - maxProblems; more > 0 {
		last := &r.Problems[maxProblems]
		last.Message = fmt.Sprintf("%s; and %d problems more", last.Message, more-1)
		r.Problems = r.Problems[:maxProblems+1]
	}
	return nil, r.Problems
}

// bookName is the name of a file without directories and ending.
func bookName(file string) string {
	base := filepath.Base(file)
	base = strings.TrimSuffix(base, filepath.Ext(base))
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return '_'
		}
		return r
	}, base)
}

// bookReader reads one book.
type bookReader struct {
	strict.Mapping // of problems only
	name           string
	book           *Book
	// splits are where prices of nodes stand, which must have something to be split by.
	splits []*yaml.Node
}

// mapping reads a mapping of these keys.
func (r *bookReader) mapping(n *yaml.Node, fields ...strict.Field) {
	m := strict.Mapping{Fields: fields}
	m.Read(n)
	r.Problems = append(r.Problems, m.Problems...)
}

// list passes on the items of a list; a single item is a list of one.
func (r *bookReader) list(n *yaml.Node, each func(*yaml.Node)) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	if len(items) == 0 {
		r.Report(n, "the list is empty: omit it")
	}
	for _, item := range items {
		if item.Kind == yaml.AliasNode {
			r.Report(item, "aliases are not read: write the value out")
			continue
		}
		each(item)
	}
}

func (r *bookReader) document(text []byte) {
	if json.Valid(text) {
		// In JSON a tab can only stand between values, where YAML has none.
		text = bytes.ReplaceAll(text, []byte("\t"), []byte(" "))
	}
	root, problem := strict.Document(text)
	switch {
	case problem != nil:
		r.Problems = append(r.Problems, *problem)
	case root == nil || root.Kind != yaml.MappingNode:
		r.Problems = append(r.Problems, strict.Problem{Line: 1, Column: 1, Message: "expected a document of apiVersion " + BookVersion + ", kind " + BookKind + ", with prices"})
	case isOpenCost(root):
		r.openCost(root)
	default:
		r.priceBook(root)
	}
}

// priceBook reads the YAML form.
func (r *bookReader) priceBook(root *yaml.Node) {
	b := &Book{Name: r.name}
	r.book = b
	var overrides *yaml.Node
	fields := []strict.Field{
		{Name: "apiVersion", Required: true, Set: func(n *yaml.Node) { r.Want(n, BookVersion) }},
		{Name: "kind", Required: true, Set: func(n *yaml.Node) { r.Want(n, BookKind) }},
		{Name: "name", Set: func(n *yaml.Node) { b.Name = r.line(n) }},
		{Name: "currency", Required: true, Set: func(n *yaml.Node) { b.Currency = r.currency(n) }},
		{Name: "storage", Required: true, Set: func(n *yaml.Node) { r.storage(n, &b.base, true) }},
		{Name: "notCharged", Set: func(n *yaml.Node) {
			b.notCharged = r.table(n, func(name string) string {
				if name == "" || strings.ContainsFunc(name, unicode.IsControl) {
					return "is not a name"
				}
				return ""
			})
		}},
		{Name: "overrides", Set: func(n *yaml.Node) { overrides = n }},
	}
	r.mapping(root, append(fields, r.priceFields(&b.base, true)...)...)
	if overrides != nil {
		r.overrides(overrides)
	}
	r.checkSplits()
}

// priceFields are the prices that the base and an override have alike, but storage.
func (r *bookReader) priceFields(p *prices, required bool) []strict.Field {
	return []strict.Field{
		r.hourly("cpu", required, &p.cpu),
		r.hourly("memory", required, &p.memory),
		{Name: "extended", Set: func(n *yaml.Node) { p.extended = r.extended(n) }},
		{Name: "gpu", Set: func(n *yaml.Node) { p.models = r.models(n) }},
		{Name: "network", Set: func(n *yaml.Node) {
			r.mapping(n,
				strict.Field{Name: "receive", Set: func(n *yaml.Node) { p.receive = r.price(n, false) }},
				strict.Field{Name: "transmit", Set: func(n *yaml.Node) { p.transmit = r.price(n, false) }})
		}},
		r.hourly("loadBalancer", false, &p.balancer),
		{Name: "discounts", Set: func(n *yaml.Node) { p.discounts = r.discounts(n) }},
	}
}

// line reads a text of one line.
func (r *bookReader) line(n *yaml.Node) string {
	text := r.Text(n)
	if strings.ContainsFunc(text, func(c rune) bool { return unicode.IsControl(c) || c == unicode.ReplacementChar }) {
		r.Report(n, "expected one line of text")
	}
	return text
}

func (r *bookReader) currency(n *yaml.Node) string {
	code := r.Text(n)
	if code != "" && !IsCurrency(code) {
		r.Report(n, "unknown currency %q: expected a code of ISO 4217%s", field.Shorten(code), object.DidYouMean(object.Nearest(code, Currencies())))
	}
	return code
}

// storage reads one price for all, or prices by class and by volume.
func (r *bookReader) storage(n *yaml.Node, p *prices, required bool) {
	if n.Kind != yaml.MappingNode || isTimed(n) {
		p.storage.all = r.price(n, true)
		return
	}
	free := func(string) string { return "" }
	r.mapping(n,
		r.hourly("default", required, &p.storage.all),
		strict.Field{Name: "classes", Set: func(n *yaml.Node) { p.storage.classes = r.table(n, free) }},
		strict.Field{Name: "volumes", Set: func(n *yaml.Node) { p.storage.volumes = r.table(n, free) }},
	)
}

// isTimed says that a mapping is one price and for how long.
func isTimed(n *yaml.Node) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i].Value; key == "price" || key == "per" {
			return true
		}
	}
	return false
}

// extended reads prices of extended resources.
func (r *bookReader) extended(n *yaml.Node) map[metrics.Resource]decimal.Decimal {
	all := map[metrics.Resource]decimal.Decimal{}
	for name, d := range r.table(n, notExtended) {
		all[metrics.Resource(name)] = d
	}
	return all
}

// notExtended says why a name is none of an extended resource; nothing where it is.
func notExtended(name string) string {
	if !strings.Contains(name, "/") || len(validation.IsQualifiedName(name)) > 0 {
		return "is not an extended resource: expected a name such as nvidia.com/gpu"
	}
	return ""
}

// models reads prices by model: one mapping, or a list where several labels name
// models.
func (r *bookReader) models(n *yaml.Node) []modelPrices {
	var all []modelPrices
	r.list(n, func(n *yaml.Node) {
		m := modelPrices{label: defaultGPULabel, resource: defaultGPU}
		r.mapping(n,
			strict.Field{Name: "label", Set: func(n *yaml.Node) {
				m.label = r.Text(n)
				if wrong := validation.IsQualifiedName(m.label); len(wrong) > 0 && m.label != "" {
					r.Report(n, "%q is not a label: expected a key such as %s", field.Shorten(m.label), defaultGPULabel)
				}
			}},
			strict.Field{Name: "resource", Set: func(n *yaml.Node) {
				m.resource = metrics.Resource(r.Text(n))
				if wrong := notExtended(string(m.resource)); wrong != "" && m.resource != "" {
					r.Report(n, "%q %s", field.Shorten(string(m.resource)), wrong)
				}
			}},
			strict.Field{Name: "models", Required: true, Set: func(n *yaml.Node) {
				m.prices = r.table(n, func(model string) string {
					if len(validation.IsValidLabelValue(model)) > 0 {
						return "cannot be a label value"
					}
					return ""
				})
				r.sameModels(n)
			}},
		)
		all = append(all, m)
	})
	return all
}

// sameModels refuses two models whose names differ in the case of letters only.
func (r *bookReader) sameModels(n *yaml.Node) {
	seen := map[string]string{}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if other, ok := seen[strings.ToLower(key.Value)]; ok && other != key.Value {
			r.Report(key, "%s is %s again: case is ignored", field.Shorten(key.Value), field.Shorten(other))
		}
		seen[strings.ToLower(key.Value)] = key.Value
	}
}

// discounts reads what is taken off, overall and by what it is taken off.
func (r *bookReader) discounts(n *yaml.Node) map[string]decimal.Decimal {
	names := []string{discountAll, discountCPU, discountMemory, discountStorage, discountNetwork, discountBalancer}
	all := map[string]decimal.Decimal{}
	m := strict.Mapping{}
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
		all[name] = d
	})
	r.Problems = append(r.Problems, m.Problems...)
	return all
}
