package cost

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// csvColumns are those of OpenCost's CSV, in their order.
func csvColumns() []string {
	return []string{"EndTimestamp", "InstanceID", "Region", "AssetClass", "InstanceIDField", "InstanceType", "MarketPriceHourly", "Version"}
}

// isCSV says whether a file is OpenCost's CSV: by its name, or by the head of its
// columns, which may follow comments.
func isCSV(name string, text []byte) bool {
	if strings.EqualFold(filepath.Ext(name), ".csv") {
		return true
	}
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return bytes.HasPrefix(line, []byte("EndTimestamp,")) || bytes.Contains(line, []byte(",MarketPriceHourly"))
		}
	}
	return false
}

// csvRow is a row of OpenCost's CSV.
type csvRow struct {
	line                               int
	id, region, class, idField, kind   string
	price                              decimal.Decimal
	idColumn, fieldColumn, classColumn int
}

// csv reads OpenCost's CSV: prices of nodes, of volumes and of GPUs, for those that
// each row names. Prices of what no row names are those of the default book, in USD.
//
// It differs from OpenCost in what is wrong: OpenCost leaves such a row out, and takes
// an unknown class for a node.
func (r *bookReader) csv(text []byte) {
	b := DefaultBook()
	b.Name = r.name
	r.book = b
	defer func() { inRunes(r.Problems, text) }()
	rows := r.csvRows(text)
	if len(r.Problems) > 0 {
		return
	}
	if len(rows) == 0 {
		r.Problems = append(r.Problems, strict.Problem{Line: 1, Column: 1, Message: "the file has no prices: expected rows of " + strings.Join(csvColumns(), ",")})
		return
	}
	seen := map[string]csvRow{}
	var nodes, gpus []csvRow
	for _, row := range rows {
		key := strings.ToLower(strings.Join([]string{row.class, row.region, row.idField, row.id, row.kind}, "\x00"))
		if first, ok := seen[key]; ok {
			if !first.price.Equal(row.price) {
				r.reportAt(row.line, row.idColumn, "%q has another price on line %d", field.Shorten(row.id), first.line)
			}
			continue
		}
		seen[key] = row
		switch row.class {
		case "node":
			nodes = append(nodes, row)
		case "pv":
			r.csvVolume(row)
		case "gpu":
			gpus = append(gpus, row)
		}
	}
	r.csvGPUs(gpus)
	r.csvNodes(nodes, len(gpus) > 0)
}

// inRunes makes columns of characters of columns of bytes, as the reader of CSV tells
// them.
func inRunes(problems []strict.Problem, text []byte) {
	lines := bytes.Split(text, []byte("\n"))
	for i := range problems {
		p := &problems[i]
		if p.Line <= len(lines) && p.Column <= len(lines[p.Line-1])+1 {
			p.Column = utf8.RuneCount(lines[p.Line-1][:p.Column-1]) + 1
		}
	}
}

func (r *bookReader) reportAt(line, column int, format string, args ...any) {
	r.Problems = append(r.Problems, strict.Problem{Line: max(line, 1), Column: max(column, 1), Message: fmt.Sprintf(format, args...)})
}

func (r *bookReader) csvRows(text []byte) []csvRow {
	in := csv.NewReader(bytes.NewReader(text))
	in.Comment, in.FieldsPerRecord = '#', -1
	var columns map[string]int
	var rows []csvRow
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return rows
		}
		if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
			r.reportAt(wrong.Line, wrong.Column, "not CSV: %v", wrong.Err)
			return rows
		} else if err != nil {
			r.reportAt(1, 1, "not CSV: %v", err)
			return rows
		}
		line, _ := in.FieldPos(0)
		if columns == nil {
			head := slices.ContainsFunc(record, func(s string) bool { return slices.Contains(csvColumns(), strings.TrimSpace(s)) })
			if !head {
				record = append([]string(nil), record...)
				columns = columnsOf(csvColumns())
			} else if columns = r.csvHead(record, in); columns == nil {
				return nil
			} else {
				continue
			}
		}
		if len(record) == 1 && strings.TrimSpace(record[0]) == "" {
			continue
		}
		if len(record) != len(columns) {
			r.reportAt(line, 1, "%d fields: expected the %d of the columns", len(record), len(columns))
			continue
		}
		if len(rows) == maxRows {
			r.reportAt(line, 1, "more than %d prices", maxRows)
			return rows
		}
		if row, ok := r.csvRow(record, columns, in); ok {
			rows = append(rows, row)
		}
	}
}

func columnsOf(names []string) map[string]int {
	at := map[string]int{}
	for i, name := range names {
		at[strings.TrimSpace(name)] = i
	}
	return at
}

// csvHead reads the heads of the columns; nil where they are wrong.
func (r *bookReader) csvHead(record []string, in *csv.Reader) map[string]int {
	before := len(r.Problems)
	at := map[string]int{}
	for i, name := range record {
		name = strings.TrimSpace(name)
		line, column := in.FieldPos(i)
		if !slices.Contains(csvColumns(), name) {
			r.reportAt(line, column, "unknown column %q%s", field.Shorten(name), object.DidYouMean(object.Nearest(name, csvColumns())))
		} else if _, ok := at[name]; ok {
			r.reportAt(line, column, "a second column %s: expected one", name)
		}
		at[name] = i
	}
	line, _ := in.FieldPos(0)
	for _, name := range []string{"InstanceID", "AssetClass", "InstanceIDField", "MarketPriceHourly"} {
		if _, ok := at[name]; !ok {
			r.reportAt(line, 1, "the column %s is missing", name)
		}
	}
	if len(r.Problems) > before {
		return nil
	}
	return at
}

// csvRow reads a row, and says whether it is right.
func (r *bookReader) csvRow(record []string, columns map[string]int, in *csv.Reader) (csvRow, bool) {
	before := len(r.Problems)
	get := func(name string) string {
		if i, ok := columns[name]; ok {
			return strings.TrimSpace(record[i])
		}
		return ""
	}
	column := func(name string) int {
		i, ok := columns[name]
		if !ok {
			return 1
		}
		_, at := in.FieldPos(i)
		return at
	}
	row := csvRow{id: get("InstanceID"), region: get("Region"), class: get("AssetClass"), idField: get("InstanceIDField"), kind: get("InstanceType")}
	row.line, _ = in.FieldPos(0)
	row.idColumn, row.fieldColumn, row.classColumn = column("InstanceID"), column("InstanceIDField"), column("AssetClass")
	for i, value := range record {
		if strings.ContainsFunc(value, func(c rune) bool { return unicode.IsControl(c) || c == unicode.ReplacementChar }) {
			line, at := in.FieldPos(i)
			r.reportAt(line, at, "expected one line of text")
		}
	}
	price, wrong := parseImported(get("MarketPriceHourly"))
	if wrong != "" {
		r.reportAt(row.line, column("MarketPriceHourly"), "%q %s", field.Shorten(get("MarketPriceHourly")), wrong)
	}
	row.price = price
	if classes := []string{"node", "pv", "gpu"}; !slices.Contains(classes, row.class) {
		r.reportAt(row.line, row.classColumn, "unknown asset class %q: expected node, pv or gpu%s", field.Shorten(row.class), object.DidYouMean(object.Nearest(row.class, classes)))
		return row, false
	}
	if row.id == "" && (row.class != "node" || row.kind == "") {
		r.reportAt(row.line, row.idColumn, "the InstanceID is missing")
	} else if wrong := row.wrongField(); row.id != "" && wrong != "" {
		r.reportAt(row.line, row.fieldColumn, "%s", wrong)
	}
	return row, len(r.Problems) == before
}

// wrongField says what is wrong with the field that the InstanceID is compared with.
func (row *csvRow) wrongField() string {
	fields := map[string][]string{"node": {"metadata.name", "spec.providerID"}, "pv": {"metadata.name", "spec.storageClassName"}, "gpu": nil}[row.class]
	switch {
	case row.class == "node" && row.idField == "metadata.name" && len(validation.IsDNS1123Subdomain(row.id)) > 0:
		return fmt.Sprintf("%q cannot be a node name", field.Shorten(row.id))
	case slices.Contains(fields, row.idField):
		return ""
	}
	key, isLabel := strings.CutPrefix(row.idField, "metadata.labels.")
	want := strings.Join(fields, ", ")
	switch row.class {
	case "node":
		want += " or metadata.labels.KEY"
	case "gpu":
		key, isLabel, want = strings.TrimPrefix(row.idField, "metadata.labels."), true, "the key of a label such as nvidia.com/gpu_type"
	}
	switch {
	case row.class == "pv" || !isLabel:
		return fmt.Sprintf("%q is not a field that identifies a %s: expected %s", field.Shorten(row.idField), row.class, want)
	case len(validation.IsQualifiedName(key)) > 0:
		return fmt.Sprintf("%q is not a label key: expected %s", field.Shorten(key), want)
	case len(validation.IsValidLabelValue(row.id)) > 0:
		return fmt.Sprintf("%q cannot be a value of the label %s", field.Shorten(row.id), key)
	}
	return ""
}
