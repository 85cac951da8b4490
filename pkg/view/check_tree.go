package view

import (
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// mostLines are shown of one rule, unless all are wanted.
const mostLines = 8

// tree shows what was checked; under each what was found, by rule and the gravest first;
// then what could not be decided, shortly.
func (v *checkView) tree() *Tree {
	t := &Tree{Columns: []Column{
		{Name: "CHECKED", Cut: Middle, Least: leastName},
		{Name: "EVIDENCE", Drop: 1, Cut: Middle, Least: leastName},
		{Name: "MESSAGE", Under: true, Wrap: true},
	}}
	for i := range v.groups {
		g := &v.groups[i]
		line := &Line{Name: Cell{Text: g.title}, Cells: []Cell{{}, {Text: scoreLine(&g.scores)}}}
		line.Below = append(v.ruleLines(g, v.found(g, false, v.o.All)), v.rest(g)...)
		if len(line.Below) == 0 {
			line.Mark = Cell{"✔ nothing found", Good}
		}
		t.Roots = append(t.Roots, line)
	}
	if open := v.uncheckable(); len(open) > 0 {
		t.Roots = append(t.Roots, v.openLine(Cell{uncheckableWord, Faint}, open, false))
	}
	return t
}

// ruleLines are those of findings, under a line for each rule. A rule that finds things of
// several severities has one for each.
func (v *checkView) ruleLines(g *checkGroup, all []checkFound) []*Line {
	var out []*Line
	var last *checkFound
	for i := range all {
		f := &all[i]
		if last == nil || last.rule.ID != f.rule.ID || last.finding.Severity != f.finding.Severity {
			head := SeverityCell(f.finding.Severity)
			head.Text += " " + f.rule.ID
			out = append(out, &Line{Name: head, Cells: []Cell{{}, {v.ruleText(f.rule, all), Faint}}})
		}
		last = f
		line := out[len(out)-1]
		if !v.o.All && len(line.Below) == mostLines {
			line.Hidden++
			continue
		}
		line.Below = append(line.Below, v.foundLine(f))
	}
	return out
}

// ruleText is what holds where a rule is kept, and how to mend it if no finding says that
// itself.
func (v *checkView) ruleText(r *check.Rule, all []checkFound) string {
	for i := range all {
		if all[i].rule.ID == r.ID && all[i].finding.Remedy != "" {
			return r.Title
		}
	}
	return withRemedy(r.Title, r.Fix)
}

func withRemedy(text, remedy string) string {
	if remedy == "" {
		return text
	}
	return text + " → " + remedy
}

func (v *checkView) foundLine(f *checkFound) *Line {
	return &Line{
		Name:  Cell{Text: v.several(f.objects)},
		Cells: []Cell{{Text: evidence(f.finding.Field, f.finding.Value)}, {Text: withRemedy(f.finding.Message, f.finding.Remedy)}},
	}
}

// rest is what is waived, and what could not be decided.
func (v *checkView) rest(g *checkGroup) []*Line {
	var out []*Line
	if waived := v.found(g, true, v.o.All); len(waived) > 0 {
		head := &Line{Name: Cell{fmt.Sprintf("%s: %d", waivedWord, g.scores.All.Waived), Faint}, Cells: make([]Cell, 2)}
		for i := range waived {
			f := &waived[i]
			head.Below = append(head.Below, &Line{Name: Cell{v.several(f.objects), Faint}, Cells: []Cell{{f.rule.ID, Faint}, {f.finding.Waived.Reason + " (" + f.finding.Waived.Origin + ")", Faint}}})
		}
		out = append(out, head)
	}
	if open := v.open(g); len(open) > 0 {
		out = append(out, v.openLine(Cell{undecidedWord, Warn}, open, true))
	}
	return out
}

// openLine is a head with a line below for each rule that could not be decided.
func (v *checkView) openLine(head Cell, open []checkOpen, objects bool) *Line {
	line := &Line{Name: head, Cells: make([]Cell, 2)}
	for i := range open {
		of := ""
		if objects {
			of = v.several(open[i].objects)
		}
		line.Below = append(line.Below, &Line{Name: Cell{open[i].rule.ID, Faint}, Cells: []Cell{{of, Faint}, {open[i].why, Faint}}})
	}
	return line
}
