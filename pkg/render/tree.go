package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/view"
)

// row is a line of a tree with its branches drawn.
type row struct {
	lead string
	line *view.Line
	more int
}

// tree draws a forest with columns. Where there is no room, columns go by their
// priority, then the last column is cut at its end, then names in their middle.
func tree(w io.Writer, a view.Answer, o Options) error {
	t := a.Tree
	var rows []row
	for _, r := range t.Roots {
		rows = grow(rows, r, "", "")
	}
	columns := fit(t.Columns, rows, o.Width)
	widths := measure(t.Columns, columns, rows)
	if o.Width > 0 {
		squeeze(t.Columns, columns, widths, rows, o.Width)
	}
	out := bufio.NewWriter(w)
	if !o.NoHeaders && len(rows) > 0 {
		heads := make([]string, 0, len(columns))
		for _, c := range columns {
			heads = append(heads, pad(t.Columns[c].Name, widths[c], false))
		}
		fmt.Fprintln(out, strings.TrimRight(strings.Join(heads, "  "), " "))
	}
	for _, r := range rows {
		fmt.Fprintln(out, drawRow(r, t.Columns, columns, widths, o))
	}
	return out.Flush()
}

// grow appends a line and what is below it. lead is what stands before the line,
// under before those below.
func grow(rows []row, l *view.Line, lead, under string) []row {
	rows = append(rows, row{lead: lead, line: l})
	for i, below := range l.Below {
		if i == len(l.Below)-1 && l.Hidden == 0 {
			rows = grow(rows, below, under+"└─ ", under+"   ")
			continue
		}
		rows = grow(rows, below, under+"├─ ", under+"│  ")
	}
	if l.Hidden > 0 {
		rows = append(rows, row{lead: under + "└─ ", more: l.Hidden})
	}
	return rows
}

func (r row) name() string {
	if r.line == nil {
		return fmt.Sprintf("… %d more", r.more)
	}
	return clean(r.line.Name.Text)
}

func (r row) mark() string {
	if r.line == nil || r.line.Mark.Text == "" {
		return ""
	}
	return " " + r.line.Mark.Text
}

func (r row) cell(c int) view.Cell {
	if r.line == nil || c-1 >= len(r.line.Cells) {
		return view.Cell{}
	}
	return r.line.Cells[c-1]
}

// first is the width of the first column of a row.
func (r row) first() int { return width(r.lead) + width(r.name()) + width(r.mark()) }

// fit returns the columns that there is room for, by number.
func fit(all []view.Column, rows []row, room int) []int {
	var columns []int
	for c := range all {
		columns = append(columns, c)
	}
	for room > 0 && len(columns) > 1 {
		widths := measure(all, columns, rows)
		need := 2 * (len(columns) - 1)
		for _, c := range columns {
			need += min(widths[c], least(c))
		}
		drop := -1
		for i, c := range columns {
			if all[c].Drop > 0 && (drop < 0 || all[c].Drop > all[columns[drop]].Drop) {
				drop = i
			}
		}
		if need <= room || drop < 0 {
			break
		}
		columns = append(columns[:drop:drop], columns[drop+1:]...)
	}
	return columns
}

// least is the width below which a column is not worth having.
func least(c int) int {
	if c == 0 {
		return 40
	}
	return 24
}

func measure(all []view.Column, columns []int, rows []row) []int {
	widths := make([]int, len(all))
	for _, c := range columns {
		widths[c] = width(all[c].Name)
		for _, r := range rows {
			if c == 0 {
				widths[c] = max(widths[c], r.first())
			} else {
				widths[c] = max(widths[c], width(clean(r.cell(c).Text)))
			}
		}
	}
	return widths
}

// squeeze takes what is too much from the last column, and then from the names.
func squeeze(all []view.Column, columns []int, widths []int, rows []row, room int) {
	over := 2*(len(columns)-1) - room
	for _, c := range columns {
		over += widths[c]
	}
	if last := columns[len(columns)-1]; over > 0 && last > 0 {
		cut := min(over, max(0, widths[last]-least(last)))
		widths[last] -= cut
		over -= cut
	}
	if over > 0 {
		widths[0] = max(10, widths[0]-over)
	}
}

func drawRow(r row, all []view.Column, columns, widths []int, o Options) string {
	var b strings.Builder
	for i, c := range columns {
		if i > 0 {
			b.WriteString("  ")
		}
		if c == 0 {
			b.WriteString(drawName(r, widths[0], o))
			continue
		}
		cell := r.cell(c)
		text := cutEnd(clean(cell.Text), widths[c])
		if i < len(columns)-1 || all[c].Right {
			text = pad(text, widths[c], all[c].Right)
		}
		b.WriteString(paint(text, cell.Tone, o))
	}
	return strings.TrimRight(b.String(), " ")
}

func drawName(r row, to int, o Options) string {
	room := to - width(r.lead) - width(r.mark())
	name := cutMiddle(r.name(), max(5, room))
	rest := strings.Repeat(" ", max(0, room-width(name)))
	if r.line == nil {
		return r.lead + paint(name, view.Faint, o) + rest
	}
	return r.lead + paint(name, r.line.Name.Tone, o) + paint(r.mark(), r.line.Mark.Tone, o) + rest
}
