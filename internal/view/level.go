package view

import (
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/level"
)

// levelTitle says which level a System has reached.
func levelTitle(r *level.Report) string {
	if r.Level == 0 {
		return fmt.Sprintf("level 0 of %d", len(r.Levels))
	}
	return fmt.Sprintf("level %d of %d: %s", r.Level, len(r.Levels), r.Levels[r.Level-1].Name)
}

// levelCell is whether a level, or a rule of it, is reached.
func levelCell(s level.Status) Cell {
	switch s {
	case level.Reached:
		return Cell{"✔ reached", Good}
	case level.Violated:
		return Cell{"✖ not reached", Bad}
	}
	return Cell{"? unknown", Warn}
}

// levelRule says which apps violate a rule, and what helps.
func levelRule(r *level.Rule) string {
	text := r.Title
	switch r.Status {
	case level.Violated:
		text = "violated by " + strings.Join(level.Apps(r.Violations), ", ") + ": " + withRemedy(text, r.Command)
	case level.Unknown:
		text = fmt.Sprintf("unknown for %s: %s", strings.Join(level.Apps(r.Unknowns), ", "), r.Unknowns[0].Message)
	}
	return text
}

// levelRow is the level of a System, rule by rule. line makes a row of a name and a text.
func levelRow(r *level.Report, line func(name, text string) *TreeRow) *TreeRow {
	top := line(levelTitle(r), "")
	for i := range r.Levels {
		l := &r.Levels[i]
		row := line(fmt.Sprintf("%d %s", l.Level, l.Name), "")
		row.Mark = levelCell(l.Status)
		for j := range l.Rules {
			if rule := &l.Rules[j]; rule.Status != level.Reached {
				row.Children = append(row.Children, line(rule.Rule, levelRule(rule)))
			}
		}
		top.Children = append(top.Children, row)
	}
	return top
}
