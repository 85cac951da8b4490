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

// table has a row for each finding under one for what it is about; then what could not be
// decided, shortly.
func (v *checkView) table() *Table {
	t := &Table{Columns: []Column{
		{Name: "RESULT"},
		{Name: "RULE", Truncate: Middle, MinWidth: leastObject},
		{Name: "OBJECT", Truncate: Middle, MinWidth: leastObject},
		{Name: "MESSAGE", Truncate: End, MinWidth: leastMessage},
	}}
	for i := range v.groups {
		g := &v.groups[i]
		t.Rows = append(t.Rows, []Cell{{Text: scoreWord(&g.scores)}, {}, {Text: g.title}, {Text: scoreLine(&g.scores)}})
		for _, f := range v.found(g, false, v.o.All) {
			t.Rows = append(t.Rows, []Cell{SeverityCell(f.finding.Severity), {Text: f.rule.ID}, {Text: v.several(f.objects)}, {Text: f.finding.Message}})
		}
		if v.o.All {
			for _, f := range v.found(g, true, true) {
				t.Rows = append(t.Rows, []Cell{{waivedWord, Faint}, {f.rule.ID, Faint}, {v.several(f.objects), Faint}, {f.finding.Waived.Reason, Faint}})
			}
		}
		for _, o := range v.openFolded(g) {
			t.Rows = append(t.Rows, []Cell{{unknownWord, Warn}, {o.name(), Faint}, {v.several(o.objects), Faint}, {o.why, Faint}})
		}
	}
	for _, o := range v.uncheckable() {
		t.Rows = append(t.Rows, []Cell{{uncheckableWord, Faint}, {o.rule.ID, Faint}, {}, {o.why, Faint}})
	}
	return t
}

// wide has a row for every finding, with its evidence and a way out.
func (v *checkView) wide() *Table {
	t := &Table{}
	for _, name := range []string{"SUBJECT", "RESULT", "RULE", "GUIDELINE", "OBJECT", "FIELD", "VALUE", "MESSAGE", "REMEDY"} {
		t.Columns = append(t.Columns, Column{Name: name})
	}
	for i := range v.groups {
		g := &v.groups[i]
		for _, waived := range []bool{false, true} {
			for _, f := range v.found(g, waived, true) {
				severity, message := SeverityCell(f.finding.Severity), f.finding.Message
				if waived {
					severity, message = Cell{waivedWord, Faint}, message+" (waived: "+f.finding.Waived.Reason+")"
				}
				t.Rows = append(t.Rows, []Cell{
					{Text: g.title},
					severity,
					{Text: f.rule.ID},
					{Text: guidelines(f.rule)},
					{Text: v.several(f.objects)},
					{Text: f.finding.Field},
					{Text: f.finding.Value},
					{Text: message},
					{Text: remedy(f.rule, f.finding)},
				})
			}
		}
		for _, o := range v.open(g) {
			for _, ref := range o.objects {
				t.Rows = append(t.Rows, []Cell{{Text: g.title}, {unknownWord, Warn}, {Text: o.rule.ID}, {Text: guidelines(o.rule)}, {Text: v.name(ref)}, {}, {}, {Text: o.why}, {}})
			}
		}
	}
	for _, o := range v.uncheckable() {
		t.Rows = append(t.Rows, []Cell{{}, {uncheckableWord, Faint}, {Text: o.rule.ID}, {Text: guidelines(o.rule)}, {}, {}, {}, {Text: o.why}, {}})
	}
	return t
}

// guidelines are what a rule comes from, with model, year and principle.
func guidelines(r *check.Rule) string {
	var all []string
	for _, g := range r.Guidelines {
		all = append(all, g.String())
	}
	return strings.Join(all, "; ")
}
