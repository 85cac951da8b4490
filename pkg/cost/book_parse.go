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

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
	"github.com/shopspring/decimal"
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
	d := BookDocument{Name: r.name}
	at := r.Struct(root, &d, bookFormats(), r.Head(BookVersion, BookKind)...)
	taken := d.lineNames()
	for i := range d.Overrides {
		o, n := &d.Overrides[i], at.Nodes["overrides"].Content[i]
		o.Name = nameOf(o.Name, i)
		if taken[o.Name] {
			r.Report(n, "%s is also the name of another override, of a storage class or of a model: choose a unique name", o.Name)
		}
		taken[o.Name] = true
		if node := strict.Value(n, "node"); node != nil && isZero(d.CPU) && isZero(d.Memory) {
			r.Report(node, "the price of a node is split in the ratio of the prices of cpu and memory, which are both 0 in this book")
		}
	}
	if n := at.Nodes["sharedBy"]; n != nil && len(d.SharedNamespaces)+len(d.SharedLabels) == 0 {
		r.Report(n, "sharedBy is how shared cost is split: set sharedNamespaces or sharedLabels")
	}
	if len(r.Problems) == 0 {
		r.book = d.book()
	}
}

// isZero says that a price was read and is 0.
func isZero(price *decimal.Decimal) bool { return price != nil && price.IsZero() }

// lineNames are the names of classes and models, by which lines of a book are called.
func (d *BookDocument) lineNames() map[string]bool {
	all := map[string]bool{}
	for name := range d.Storage.Classes {
		all[name] = true
	}
	for _, m := range d.GPU {
		for name := range m.Models {
			all[name] = true
		}
	}
	return all
}

// readLine reads a text of one line.
func readLine(m *strict.Mapping, n *yaml.Node) string {
	text := m.Text(n)
	if strings.ContainsFunc(text, func(c rune) bool { return unicode.IsControl(c) || c == unicode.ReplacementChar }) {
		m.Report(n, "expected one line of text")
	}
	return text
}

func readCurrency(m *strict.Mapping, n *yaml.Node) string {
	code := m.Text(n)
	if code != "" && !IsCurrency(code) {
		m.Report(n, "unknown currency %q: expected a code of ISO 4217%s", field.Shorten(code), object.DidYouMean(object.Nearest(code, Currencies())))
	}
	return code
}

// notExtended says why a name is none of an extended resource; nothing where it is.
func notExtended(name string) string {
	if !strings.Contains(name, "/") || len(validation.IsQualifiedName(name)) > 0 {
		return "is not an extended resource: expected a name such as nvidia.com/gpu"
	}
	return ""
}
