package view

import (
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// Below these widths the columns of findings say nothing; together with the others they
// fit into 80.
const (
	leastObject  = 18
	leastMessage = 20
)

// resultRow is a finding, or what is unknown; or of what it is said, with its score.
type resultRow struct {
	group   string // empty for what is uncheckable
	result  Cell
	rule    *check.Rule // nil for a score
	name    string      // of the rule
	object  string
	finding *check.Finding // nil for what is unknown
	text    string
	tone    Tone // of the other columns
}

// resultColumns are those of findings. The wide table has every finding, with its evidence and
// a way out.
func (v *checkView) resultColumns() ColumnsOf[*resultRow] {
	toned := func(value func(*resultRow) string) func(*resultRow) Cell {
		return func(r *resultRow) Cell { return Cell{value(r), r.tone} }
	}
	found := func(value func(*resultRow) string) func(*resultRow) Cell {
		return AsText(func(r *resultRow) string {
			if r.finding == nil {
				return ""
			}
			return value(r)
		})
	}
	return ColumnsOf[*resultRow]{
		{Column: Column{Name: "SUBJECT"}, in: wideOnly, Value: AsText(func(r *resultRow) string { return r.group })},
		{Column: Column{Name: "RESULT"}, Value: func(r *resultRow) Cell { return r.result }},
		{Column: Column{Name: "RULE", Truncate: Middle, MinWidth: leastObject}, Value: toned(func(r *resultRow) string { return r.name })},
		{Column: Column{Name: "GUIDELINE"}, in: wideOnly, Value: AsText(func(r *resultRow) string { return guidelines(r.rule) })},
		{Column: Column{Name: "OBJECT", Truncate: Middle, MinWidth: leastObject}, Value: toned(func(r *resultRow) string { return r.object })},
		{Column: Column{Name: "FIELD"}, in: wideOnly, Value: found(func(r *resultRow) string { return r.finding.Field })},
		{Column: Column{Name: "VALUE"}, in: wideOnly, Value: found(func(r *resultRow) string { return r.finding.Value })},
		{Column: Column{Name: "MESSAGE", Truncate: End, MinWidth: leastMessage}, Value: toned(func(r *resultRow) string { return r.text })},
		{Column: Column{Name: "REMEDY"}, in: wideOnly, Value: found(func(r *resultRow) string { return remedy(r.rule, r.finding) })},
	}
}

// table has a row for each finding under one for what it is about; then what could not be
// decided, shortly.
func (v *checkView) table() *Table {
	var rows []*resultRow
	for i := range v.groups {
		g := &v.groups[i]
		rows = append(rows, &resultRow{result: Cell{Text: scoreWord(&g.scores)}, object: g.title, text: scoreLine(&g.scores)})
		rows = append(rows, v.findingRows(g, false, v.o.All)...)
		if v.o.All {
			for _, r := range v.findingRows(g, true, true) {
				r.text, r.tone = r.finding.Waived.Reason, Faint
				rows = append(rows, r)
			}
		}
		for _, o := range v.openFolded(g) {
			rows = append(rows, &resultRow{result: Cell{unknownWord, Warn}, name: o.name(), object: v.several(o.objects), text: o.why, tone: Faint})
		}
	}
	return v.resultColumns().Table(append(rows, v.uncheckableRows(Faint)...))
}

// wide has a row for every finding.
func (v *checkView) wide() *Table {
	var rows []*resultRow
	for i := range v.groups {
		g := &v.groups[i]
		rows = append(rows, v.findingRows(g, false, true)...)
		for _, r := range v.findingRows(g, true, true) {
			r.text += " (waived: " + r.finding.Waived.Reason + ")"
			rows = append(rows, r)
		}
		for _, o := range v.open(g) {
			for _, ref := range o.objects {
				rows = append(rows, &resultRow{group: g.title, result: Cell{unknownWord, Warn}, rule: o.rule, name: o.rule.ID, object: v.name(ref), text: o.why})
			}
		}
	}
	return v.resultColumns().wideTable(append(rows, v.uncheckableRows(Plain)...))
}

func (v *checkView) findingRows(g *checkGroup, waived, all bool) []*resultRow {
	var rows []*resultRow
	for _, f := range v.found(g, waived, all) {
		r := &resultRow{group: g.title, result: SeverityCell(f.finding.Severity), rule: f.rule, name: f.rule.ID, object: v.several(f.objects), finding: f.finding, text: f.finding.Message}
		if waived {
			r.result = Cell{waivedWord, Faint}
		}
		rows = append(rows, r)
	}
	return rows
}

func (v *checkView) uncheckableRows(tone Tone) []*resultRow {
	var rows []*resultRow
	for _, o := range v.uncheckable() {
		rows = append(rows, &resultRow{result: Cell{uncheckableWord, Faint}, rule: o.rule, name: o.rule.ID, text: o.why, tone: tone})
	}
	return rows
}

// guidelines are what a rule comes from, with model, year and principle.
func guidelines(r *check.Rule) string {
	var all []string
	for _, g := range r.Guidelines {
		all = append(all, g.String())
	}
	return strings.Join(all, "; ")
}
