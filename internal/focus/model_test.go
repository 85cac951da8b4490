package focus_test

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
)

// The evaluator of the FOCUS model: every rule of it ends as passed, failed or not
// applicable, with the reason. It is stricter than the official validator in four
// things. A null is not equal to any value, and so also "is not Correction" (there
// such conditions never hold). Alternatives are judged row by row. Formats are judged
// by the text of the file. And some rules that the model leaves to people (Dynamic)
// are checked, see focusdynamic_test.go.

// focusModel is testdata/focus-model-1.2.json.gz.
type focusModel struct {
	ApplicabilityCriteria map[string]any
	CheckFunctions        map[string]any
	ModelRules            map[string]*focusRule
}

type focusRule struct {
	Function, Reference, EntityType, Type string
	ApplicabilityCriteria                 []string
	ValidationCriteria                    struct {
		MustSatisfy, Keyword   string
		Requirement, Condition map[string]any
	}

	id string
	// parents are the composites that refer to it, alternative that all do as one of
	// several ways.
	parents     []*focusRule
	alternative bool
}

func readFocusModel(t testing.TB) *focusModel {
	t.Helper()
	file, err := os.Open("testdata/focus-model-1.2.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	m := &focusModel{}
	if err := json.NewDecoder(text).Decode(m); err != nil {
		t.Fatal(err)
	}
	for id, r := range m.ModelRules {
		r.id = id
	}
	for _, r := range m.ModelRules {
		m.link(t, r, r.ValidationCriteria.Requirement, false)
	}
	return m
}

// link tells rules of the composites that refer to them.
func (m *focusModel) link(t testing.TB, from *focusRule, check map[string]any, either bool) {
	function, _ := check["CheckFunction"].(string)
	if function == "CheckModelRule" {
		to := m.ModelRules[check["ModelRuleId"].(string)]
		if to == nil {
			t.Fatalf("%s refers to a rule that is not there: %v", from.id, check)
		}
		to.parents = append(to.parents, from)
		to.alternative = either
		return
	}
	for _, item := range items(check["Items"]) {
		m.link(t, from, item, function == "OR")
	}
}

func items(v any) []map[string]any {
	switch v := v.(type) {
	case map[string]any:
		return []map[string]any{v}
	case []any:
		out := make([]map[string]any, len(v))
		for i := range v {
			out[i] = v[i].(map[string]any)
		}
		return out
	}
	return nil
}

// focusData is a file that was written.
type focusData struct {
	names []string
	at    map[string]int
	rows  [][]string
}

func readFocusData(t testing.TB, text string) *focusData {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatalf("read the file as CSV: %v", err)
	}
	d := &focusData{names: records[0], at: map[string]int{}, rows: records[1:]}
	for i, name := range d.names {
		if _, twice := d.at[name]; twice {
			t.Fatalf("column %s occurs twice", name)
		}
		d.at[name] = i
	}
	return d
}

// cell returns the text of a cell, and false for null and for a column that is not
// there.
func (d *focusData) cell(row int, column string) (string, bool) {
	i, ok := d.at[column]
	if !ok || d.rows[row][i] == "NULL" {
		return "", false
	}
	return d.rows[row][i], true
}

func (d *focusData) has(column string) bool { _, ok := d.at[column]; return ok }

type focusStatus string

const (
	focusPassed        focusStatus = "passed"
	focusFailed        focusStatus = "failed"
	focusNotApplicable focusStatus = "not applicable"
)

type focusResult struct {
	status focusStatus
	reason string
}

type focusEvaluator struct {
	t          testing.TB
	m          *focusModel
	d          *focusData
	criteria   []string
	currencies []string
	formats    map[string]func(string) error
	dynamic    map[string]focusCheck
}

// evaluateFocus judges a file by every rule of the model. criteria are what the
// provider says that it supports.
func evaluateFocus(t testing.TB, m *focusModel, d *focusData, criteria []string) map[string]focusResult {
	t.Helper()
	codes, err := os.ReadFile("testdata/focus-currencies.txt")
	if err != nil {
		t.Fatal(err)
	}
	e := &focusEvaluator{t: t, m: m, d: d, criteria: criteria, currencies: strings.Fields(string(codes)), dynamic: focusDynamic()}
	e.formats = focusFormats(e)
	out := map[string]focusResult{}
	for id, r := range m.ModelRules {
		out[id] = e.judge(r)
	}
	return out
}

func (e *focusEvaluator) judge(r *focusRule) focusResult {
	v := &r.ValidationCriteria
	no := func(format string, args ...any) focusResult {
		return focusResult{focusNotApplicable, fmt.Sprintf(format, args...)}
	}
	if missing := e.unsupported(r); missing != "" {
		return no("%s is not claimed", missing)
	}
	if v.Keyword == "MAY" {
		return no("a permission: nothing can break it")
	}
	if r.alternative {
		return no("one of the ways that %s allows", r.parents[0].id)
	}
	if r.EntityType == "Column" && !e.d.has(r.Reference) {
		return no("there is no column %s", r.Reference)
	}
	var rows []int
	for row := range e.d.rows {
		if e.meant(r, row) {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 && len(e.d.rows) > 0 {
		return no("no row meets its condition")
	}
	if r.Type == "Dynamic" {
		check, ok := e.dynamic[r.id]
		if !ok {
			return no("it needs to know more than the file says: %s", v.MustSatisfy)
		}
		if err := check(e, rows); err != nil {
			return focusResult{focusFailed, err.Error()}
		}
		return focusResult{focusPassed, fmt.Sprintf("%d rows", len(rows))}
	}
	for _, row := range rows {
		if err := e.holds(v.Requirement, row, rows); err != nil {
			return focusResult{focusFailed, fmt.Sprintf("row %d: %v", row+1, err)}
		}
	}
	return focusResult{focusPassed, fmt.Sprintf("%d rows", len(rows))}
}

// unsupported returns a criterion of the rule, or of a composite above it, that the
// provider does not claim.
func (e *focusEvaluator) unsupported(r *focusRule) string {
	for _, c := range r.ApplicabilityCriteria {
		if !slices.Contains(e.criteria, c) {
			return c
		}
	}
	for _, p := range r.parents {
		if c := e.unsupported(p); c != "" {
			return c
		}
	}
	return ""
}

// meant says that a rule is about a row: its condition holds, and those of the
// composites above it.
func (e *focusEvaluator) meant(r *focusRule, row int) bool {
	if c := r.ValidationCriteria.Condition; len(c) > 0 && !e.condition(c, row) {
		return false
	}
	for _, p := range r.parents {
		if !e.meant(p, row) {
			return false
		}
	}
	return true
}

// condition reads a condition; two of the model are written in another way than the
// rest: {"AND": [...]}.
func (e *focusEvaluator) condition(c map[string]any, row int) bool {
	if both, ok := c["AND"]; ok {
		for _, item := range items(both) {
			if !e.condition(item, row) {
				return false
			}
		}
		return true
	}
	return e.holds(c, row, nil) == nil
}

// holds says what of a check does not hold for a row; rows are all that the rule is
// about.
func (e *focusEvaluator) holds(check map[string]any, row int, rows []int) error {
	switch check["CheckFunction"] {
	case "AND":
		for _, item := range items(check["Items"]) {
			if err := e.holds(item, row, rows); err != nil {
				return err
			}
		}
		return nil
	case "OR":
		var all []string
		for _, item := range items(check["Items"]) {
			err := e.holds(item, row, rows)
			if err == nil {
				return nil
			}
			all = append(all, err.Error())
		}
		return fmt.Errorf("none of: %s", strings.Join(all[:min(3, len(all))], "; "))
	case "CheckModelRule":
		return e.rule(e.m.ModelRules[check["ModelRuleId"].(string)], row, rows)
	case "ColumnPresent":
		if name := check["ColumnName"].(string); !e.d.has(name) {
			return fmt.Errorf("there is no column %s", name)
		}
		return nil
	case "CheckDistinctCount":
		return e.distinct(check, rows)
	}
	return e.cellHolds(check, row)
}

// rule says whether a rule that another refers to holds for a row.
func (e *focusEvaluator) rule(r *focusRule, row int, rows []int) error {
	if r.alternative { // Judged as such, by the composite alone.
		if c := r.ValidationCriteria.Condition; len(c) > 0 && !e.condition(c, row) {
			return nil
		}
		return e.holds(r.ValidationCriteria.Requirement, row, rows)
	}
	if e.unsupported(r) != "" || r.ValidationCriteria.Keyword == "MAY" || r.Type == "Dynamic" || !e.meant(r, row) {
		return nil
	}
	if r.EntityType == "Column" && !e.d.has(r.Reference) {
		return nil
	}
	if err := e.holds(r.ValidationCriteria.Requirement, row, rows); err != nil {
		return fmt.Errorf("%s: %w", r.id, err)
	}
	return nil
}

func (e *focusEvaluator) distinct(check map[string]any, rows []int) error {
	a, b := check["ColumnAName"].(string), check["ColumnBName"].(string)
	want := int(check["ExpectedCount"].(float64))
	found := map[string]map[string]bool{}
	for _, row := range rows {
		of, _ := e.d.cell(row, a)
		if found[of] == nil {
			found[of] = map[string]bool{}
		}
		if v, ok := e.d.cell(row, b); ok {
			found[of][v] = true
		}
	}
	for of, values := range found {
		if len(values) != want {
			return fmt.Errorf("%s %q has %d values of %s, not %d", a, of, len(values), b, want)
		}
	}
	return nil
}

// cellHolds evaluates the check functions that look at the cells of one row.
func (e *focusEvaluator) cellHolds(check map[string]any, row int) error {
	name := func(key string) string { s, _ := check[key].(string); return s }
	column := name("ColumnName")
	if column == "" {
		column = name("CheckCondition") // so it is called in two conditions of the model
	}
	text, known := e.d.cell(row, column)
	number := func(column string) (decimal.Decimal, bool) {
		text, known := e.d.cell(row, column)
		v, err := decimal.NewFromString(text)
		return v, known && err == nil
	}
	same := func() (same, both bool) {
		a, knownA := e.d.cell(row, name("ColumnAName"))
		b, knownB := e.d.cell(row, name("ColumnBName"))
		return a == b, knownA && knownB
	}
	switch function := check["CheckFunction"].(string); function {
	case "CheckValue", "CheckNotValue":
		equal := equals(text, known, check["Value"])
		if equal != (function == "CheckValue") {
			return fmt.Errorf("%s is %s, against %s %v", column, shown(text, known), function, check["Value"])
		}
	case "CheckSameValue":
		if equal, both := same(); both && !equal {
			return fmt.Errorf("%v differs", check)
		}
	case "CheckNotSameValue":
		if equal, both := same(); !both || equal {
			return fmt.Errorf("%v is the same", check)
		}
	case "CheckGreaterOrEqualThanValue":
		v, ok := number(column)
		if known && (!ok || v.LessThan(decimal.NewFromFloat(check["Value"].(float64)))) {
			return fmt.Errorf("%s is %s, less than %v", column, text, check["Value"])
		}
	case "ColumnByColumnEqualsColumnValue":
		a, okA := number(name("ColumnAName"))
		b, okB := number(name("ColumnBName"))
		result, okR := number(name("ResultColumnName"))
		if okA && okB && (!okR || !a.Mul(b).Equal(result)) {
			return fmt.Errorf("%v: %s x %s is not %s", check, a, b, result)
		}
	default:
		format, ok := e.formats[function]
		if !ok {
			e.t.Fatalf("check function %s is not known", function)
		}
		if known {
			if err := format(text); err != nil {
				return fmt.Errorf("%s %q: %w", column, text, err)
			}
		}
	}
	return nil
}

func equals(text string, known bool, value any) bool {
	switch value := value.(type) {
	case nil:
		return !known
	case string:
		return known && text == value
	case float64:
		v, err := decimal.NewFromString(text)
		return known && err == nil && v.Equal(decimal.NewFromFloat(value))
	}
	return false
}

func shown(text string, known bool) string {
	if !known {
		return "null"
	}
	return fmt.Sprintf("%q", text)
}
