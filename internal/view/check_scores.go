package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// shortCategory is the head of a column.
func shortCategory(c check.Category) string {
	switch c {
	case check.Consumability:
		return "CONSUME"
	case check.Security:
		return "SECURE"
	case check.Robustness:
		return "ROBUST"
	case check.Portability:
		return "PORTABLE"
	}
	return strings.ToUpper(string(c))
}

// categories are those of which anything has a score.
func (v *checkView) categories() []check.Category {
	var out []check.Category
	for _, c := range check.Categories() {
		if v.r.Scores.By[c].Known() {
			out = append(out, c)
		}
	}
	return out
}

// scoreRow is a row of the summary.
type scoreRow struct {
	name Cell
	*check.Scores
}

// scoreColumns are those of the summary. Of the categories the last go first.
func (v *checkView) scoreColumns() ColumnsOf[scoreRow] {
	count := func(countOf func(scoreRow) int, tone Tone) func(scoreRow) Cell {
		return func(r scoreRow) Cell {
			if n := countOf(r); n > 0 {
				return Cell{strconv.Itoa(n), tone}
			}
			return Cell{"0", Faint}
		}
	}
	found := func(s check.Severity) func(scoreRow) int { return func(r scoreRow) int { return r.Found[s] } }
	unknown := count(func(r scoreRow) int { return r.All.Unknown }, Plain)
	c := ColumnsOf[scoreRow]{
		{Column: Column{Name: "SUBJECT", Truncate: Middle, MinWidth: LeastName}, Value: func(r scoreRow) Cell { return r.name }},
		{Column: Column{Name: "ERRORS", Right: true}, Value: count(found(check.Error), Bad)},
		{Column: Column{Name: "WARNINGS", Right: true}, Value: count(found(check.Warning), Warn)},
		{Column: Column{Name: "INFO", Right: true}, in: wideOnly, Value: count(found(check.Info), Plain)},
		{Column: Column{Name: "UNKNOWN", Right: true}, in: wideOnly, Value: unknown},
		{Column: Column{Name: "WAIVED", Right: true}, in: wideOnly, Value: count(func(r scoreRow) int { return r.All.Waived }, Plain)},
		{Column: Column{Name: "KEPT", Right: true}, in: wideOnly, Value: AsText(func(r scoreRow) string { return keptOf(r.All) })},
		{Column: Column{Name: "SCORE", Right: true}, Value: AsText(func(r scoreRow) string { return r.All.String() })},
	}
	categories := v.categories()
	for i, category := range categories {
		c = append(c,
			ColumnOf[scoreRow]{Column: Column{Name: shortCategory(category), Right: true, DropOrder: i + 1}, in: tableOnly, Value: AsText(func(r scoreRow) string { return r.By[category].String() })},
			ColumnOf[scoreRow]{Column: Column{Name: strings.ToUpper(string(category)), Right: true}, in: wideOnly, Value: AsText(func(r scoreRow) string {
				score := r.By[category]
				if score.Known() {
					return score.String() + " " + keptOf(score)
				}
				return score.String()
			})})
	}
	return append(c, ColumnOf[scoreRow]{Column: Column{Name: "UNKNOWN", Right: true, DropOrder: len(categories) + 1}, in: tableOnly, Value: unknown})
}

func keptOf(s check.Score) string { return fmt.Sprintf("%d/%d", s.Kept, s.Of) }

// scoreRows has a row for each subject, and one for all.
func (v *checkView) scoreRows() []scoreRow {
	var rows []scoreRow
	for i := range v.groups {
		rows = append(rows, scoreRow{Cell{Text: v.groups[i].title}, &v.groups[i].scores})
	}
	if len(v.groups) > 1 {
		rows = append(rows, scoreRow{Cell{fmt.Sprintf("all %d", len(v.groups)), Faint}, &v.r.Scores})
	}
	return rows
}

// scoresTree is the summary with the CRDs of operators under them.
func (v *checkView) scoresTree() *Tree {
	c := v.scoreColumns()
	t := c.tree(v.scoreRows())
	for i := range v.groups {
		g := &v.groups[i]
		for _, s := range g.subjects {
			if len(g.subjects) > 1 && s.Scope == check.OfDefinition {
				scores := check.Scored(s)
				cells := c.Table([]scoreRow{{Cell{Text: s.Name}, &scores}}).Rows[0]
				t.Roots[i].Children = append(t.Roots[i].Children, &TreeRow{Name: cells[0], Cells: cells[1:]})
			}
		}
	}
	return t
}

// scoreWord is the score of a group with its word.
func scoreWord(s *check.Scores) string { return "score " + s.All.String() }

// scoreLine is what a score is made of: 18 of 21 rules kept, 3 unknown: consumability
// 92, security 61.
func scoreLine(s *check.Scores) string {
	if !s.All.Known() {
		return fmt.Sprintf("none of %s could be evaluated", counted(s.All.Unknown, "rule"))
	}
	var parts []string
	for _, c := range check.Categories() {
		if score := s.By[c]; score.Known() {
			parts = append(parts, string(c)+" "+score.String())
		}
	}
	open := ""
	if s.All.Unknown > 0 {
		open = fmt.Sprintf(", %d unknown", s.All.Unknown)
	}
	return fmt.Sprintf("%d of %s passed%s: %s", s.All.Kept, counted(s.All.Of, "rule"), open, strings.Join(parts, ", "))
}
