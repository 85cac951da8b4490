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

// scoreColumns are those of the summary. Of the categories the last go first.
func (v *checkView) scoreColumns(wide bool) []Column {
	columns := []Column{
		{Name: "SUBJECT", Truncate: Middle, MinWidth: leastName},
		{Name: "ERRORS", Right: true},
		{Name: "WARNINGS", Right: true},
	}
	if wide {
		columns = append(columns, Column{Name: "INFO", Right: true}, Column{Name: "UNKNOWN", Right: true}, Column{Name: "WAIVED", Right: true}, Column{Name: "KEPT", Right: true})
	}
	columns = append(columns, Column{Name: "SCORE", Right: true})
	for i, c := range v.categories() {
		name := shortCategory(c)
		if wide {
			name = strings.ToUpper(string(c))
		}
		columns = append(columns, Column{Name: name, Right: true, DropOrder: i + 1})
	}
	if !wide {
		columns = append(columns, Column{Name: "UNKNOWN", Right: true, DropOrder: len(columns)})
	}
	return columns
}

// scoreCells are those of the columns behind the name.
func (v *checkView) scoreCells(s *check.Scores, wide bool) []Cell {
	cells := []Cell{countCell(s.Found[check.Error], Bad), countCell(s.Found[check.Warning], Warn)}
	if wide {
		cells = append(cells, countCell(s.Found[check.Info], Plain), countCell(s.All.Unknown, Plain), countCell(s.All.Waived, Plain), Cell{Text: keptOf(s.All)})
	}
	cells = append(cells, Cell{Text: s.All.String()})
	for _, c := range v.categories() {
		by := s.By[c]
		text := by.String()
		if wide && by.Known() {
			text += " " + keptOf(by)
		}
		cells = append(cells, Cell{Text: text})
	}
	if !wide {
		cells = append(cells, countCell(s.All.Unknown, Plain))
	}
	return cells
}

func keptOf(s check.Score) string { return fmt.Sprintf("%d/%d", s.Kept, s.Of) }

func countCell(n int, tone Tone) Cell {
	if n == 0 {
		tone = Faint
	}
	return Cell{strconv.Itoa(n), tone}
}

// scoresTable has a row for each thing that was checked, and one for all.
func (v *checkView) scoresTable(wide bool) *Table {
	t := &Table{Columns: v.scoreColumns(wide)}
	for i := range v.groups {
		g := &v.groups[i]
		t.Rows = append(t.Rows, append([]Cell{{Text: g.title}}, v.scoreCells(&g.scores, wide)...))
	}
	if len(v.groups) > 1 {
		t.Rows = append(t.Rows, append([]Cell{{v.inAll(), Faint}}, v.scoreCells(&v.r.Scores, wide)...))
	}
	return t
}

func (v *checkView) inAll() string { return fmt.Sprintf("all %d", len(v.groups)) }

// scoresTree is the same, with the parts of operators under them.
func (v *checkView) scoresTree() *Tree {
	t := &Tree{Columns: v.scoreColumns(false)}
	for i := range v.groups {
		g := &v.groups[i]
		line := &TreeRow{Name: Cell{Text: g.title}, Cells: v.scoreCells(&g.scores, false)}
		for _, s := range g.subjects {
			if len(g.subjects) > 1 && s.Scope == check.OfDefinition {
				scores := check.Scored(s)
				line.Children = append(line.Children, &TreeRow{Name: Cell{Text: s.Name}, Cells: v.scoreCells(&scores, false)})
			}
		}
		t.Roots = append(t.Roots, line)
	}
	if len(v.groups) > 1 {
		t.Roots = append(t.Roots, &TreeRow{Name: Cell{v.inAll(), Faint}, Cells: v.scoreCells(&v.r.Scores, false)})
	}
	return t
}

// scoreWord is the score of a group with its word.
func scoreWord(s *check.Scores) string { return "score " + s.All.String() }

// scoreLine is what a score is made of: 18 of 21 rules kept, 3 unknown: consumability
// 92, security 61.
func scoreLine(s *check.Scores) string {
	if !s.All.Known() {
		return fmt.Sprintf("none of %s could be evaluated", several(s.All.Unknown, "rule"))
	}
	var parts []string
	for _, c := range check.Categories() {
		if by := s.By[c]; by.Known() {
			parts = append(parts, string(c)+" "+by.String())
		}
	}
	open := ""
	if s.All.Unknown > 0 {
		open = fmt.Sprintf(", %d unknown", s.All.Unknown)
	}
	return fmt.Sprintf("%d of %s passed%s: %s", s.All.Kept, several(s.All.Of, "rule"), open, strings.Join(parts, ", "))
}

func several(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
