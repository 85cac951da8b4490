package view

import (
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// maxLines are shown of one rule, unless all are wanted.
const maxLines = 8

// tree shows what was checked; under each what was found, by rule and the gravest first;
// then what could not be decided, shortly.
func (v *checkView) tree() *Tree {
	t := &Tree{Columns: []Column{
		{Name: "SUBJECT", Truncate: Middle, MinWidth: LeastName},
		{Name: "EVIDENCE", DropOrder: 1, Truncate: Middle, MinWidth: LeastName},
		{Name: "MESSAGE", OwnLine: true, Wrap: true},
	}}
	for i := range v.groups {
		g := &v.groups[i]
		line := &TreeRow{Name: Cell{Text: g.title}, Cells: []Cell{{}, {Text: scoreWord(&g.scores) + ", " + scoreLine(&g.scores)}}}
		line.Children = append(v.ruleLines(v.found(g, false, v.o.All)), v.rest(g)...)
		if len(line.Children) == 0 {
			line.Mark = Cell{"✔ no findings", Good}
		}
		t.Roots = append(t.Roots, line)
	}
	if open := v.uncheckable(); len(open) > 0 {
		t.Roots = append(t.Roots, v.openLine(Cell{uncheckableWord, Faint}, open, false))
	}
	return t
}

// ruleLines are those of findings, under a line for each rule. A rule that finds things of
// several severities has one for each. Habits (info) have one line a rule, unless all is
// wanted.
func (v *checkView) ruleLines(all []mergedFinding) []*TreeRow {
	var out []*TreeRow
	shown := map[string]bool{}
	for len(all) > 0 {
		first := &all[0]
		n := 1
		for n < len(all) && all[n].rule.ID == first.rule.ID && all[n].finding.Severity == first.finding.Severity {
			n++
		}
		text := ""
		if !shown[first.rule.ID] {
			text = ruleText(first.rule, all[:n])
		}
		shown[first.rule.ID] = true
		out = append(out, v.ruleLine(all[:n], text))
		all = all[n:]
	}
	return out
}

// ruleLine is that of the findings of one rule and severity.
func (v *checkView) ruleLine(all []mergedFinding, text string) *TreeRow {
	severity := all[0].finding.Severity
	name := SeverityCell(severity)
	name.Text += " " + all[0].rule.ID
	if severity == check.Info && !v.o.All {
		if len(all) == 1 {
			f := all[0].finding
			text = withRemedy(f.Message, remedy(all[0].rule, f))
		}
		var objects []object.Ref
		for i := range all {
			objects = append(objects, all[i].objects...)
		}
		return &TreeRow{Name: name, Cells: []Cell{{Text: v.several(sortedOnce(objects))}, {Text: text}}}
	}
	line := &TreeRow{Name: name, Cells: []Cell{{}, {text, Faint}}}
	for i := range all {
		if !v.o.All && len(line.Children) == maxLines {
			line.Hidden = len(all) - i
			break
		}
		line.Children = append(line.Children, v.foundLine(&all[i]))
	}
	return line
}

// ruleText is the violated rule, and its fix if no finding has its own. A title
// alone would read as if all was well.
func ruleText(r *check.Rule, all []mergedFinding) string {
	text := "violated: " + r.Title
	for i := range all {
		if all[i].finding.Remedy != "" {
			return text
		}
	}
	return withRemedy(text, r.Fix)
}

func withRemedy(text, remedy string) string {
	if remedy == "" {
		return text
	}
	return text + " → " + remedy
}

func (v *checkView) foundLine(f *mergedFinding) *TreeRow {
	return &TreeRow{
		Name:  Cell{Text: v.several(f.objects)},
		Cells: []Cell{{Text: evidence(f.finding.Field, f.finding.Value)}, {Text: withRemedy(f.finding.Message, f.finding.Remedy)}},
	}
}

// rest is what is waived, and what could not be decided.
func (v *checkView) rest(g *checkGroup) []*TreeRow {
	var out []*TreeRow
	if waived := v.found(g, true, v.o.All); len(waived) > 0 {
		head := &TreeRow{Name: Cell{fmt.Sprintf("%s: %d", waivedWord, g.scores.All.Waived), Faint}, Cells: make([]Cell, 2)}
		for i := range waived {
			f := &waived[i]
			head.Children = append(head.Children, &TreeRow{Name: Cell{v.several(f.objects), Faint}, Cells: []Cell{{f.rule.ID, Faint}, {f.finding.Waived.Reason + " (" + f.finding.Waived.Origin + ")", Faint}}})
		}
		out = append(out, head)
	}
	if open := v.openFolded(g); len(open) > 0 {
		out = append(out, v.openLine(Cell{unknownWord, Warn}, open, true))
	}
	return out
}

// openLine is a head with a line below for each rule that could not be decided.
func (v *checkView) openLine(head Cell, open []checkUnknown, objects bool) *TreeRow {
	line := &TreeRow{Name: head, Cells: make([]Cell, 2)}
	for i := range open {
		subjects := ""
		if objects {
			subjects = v.several(open[i].objects)
		}
		line.Children = append(line.Children, &TreeRow{Name: Cell{open[i].name(), Faint}, Cells: []Cell{{subjects, Faint}, {open[i].why, Faint}}})
	}
	return line
}
