package render

import (
	"bufio"
	"io"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// gap is between the columns of a tree.
const gap = 2

// tree draws a forest with columns. Where there is no room for all, a column that
// may stand under its line does so; then names are cut in their middle, down to
// what still tells them apart; then columns go by their priority. Branches and
// marks are never cut.
func tree(w io.Writer, a view.Output, o Options) error {
	t := a.Tree
	d := drawing{maxRows: levels(o.Width), under: slices.ContainsFunc(t.Columns, func(c view.Column) bool { return c.OwnLine })}
	for _, r := range t.Roots {
		d.grow(r)
	}
	if len(d.rows) == 0 {
		return nil
	}
	p := plan(t.Columns, d.rows, o)
	out := bufio.NewWriter(w)
	if !o.NoHeaders {
		p.head(out, o)
	}
	for i := range d.rows {
		p.draw(out, &d.rows[i], o)
	}
	return out.Flush()
}

// treePlan is what of a tree is shown where.
type treePlan struct {
	layout
	all   []view.Column
	under []int // columns that stand under their lines
	room  int
	line  liner
}

// plan measures every line, and finds room.
func plan(all []view.Column, rows []row, o Options) treePlan {
	natural, floor := measure(all, rows, o)
	p := treePlan{all: all, room: o.Width}
	columns := numbers(all)
	if (layout{columns: columns}).sum(natural, gap) > o.Width && o.Width > 0 {
		ownLine := func(c int) bool { return all[c].OwnLine }
		p.under = slices.DeleteFunc(numbers(all), func(c int) bool { return !ownLine(c) })
		columns = slices.DeleteFunc(columns, ownLine)
	}
	p.layout = fit(all, columns, natural, floor, o.Width, gap)
	return p
}

func measure(all []view.Column, rows []row, o Options) (natural, floor []int) {
	natural, floor = make([]int, len(all)), make([]int, len(all))
	for c, col := range all {
		if !o.NoHeaders {
			natural[c] = width(col.Name)
		}
		for i := range rows {
			if c == 0 {
				name := width(rows[i].name)
				natural[0] = max(natural[0], rows[i].fixed+name)
				floor[0] = max(floor[0], rows[i].fixed+min(name, col.MinWidth))
			} else {
				natural[c] = max(natural[c], width(clean(rows[i].cell(c).Text)))
			}
		}
		if c > 0 {
			floor[c] = leastOf(col, natural[c])
		}
	}
	return natural, floor
}

// cell is that of a column but the first.
func (r *row) cell(c int) view.Cell {
	if r.line == nil || c-1 >= len(r.line.Cells) {
		return view.Cell{}
	}
	return r.line.Cells[c-1]
}

func (p *treePlan) head(out *bufio.Writer, o Options) {
	for i, c := range p.columns {
		if i > 0 {
			p.line.blank(gap)
		}
		p.put(c, view.Cell{Text: p.all[c].Name}, o)
	}
	out.WriteString(p.line.end())
}

func (p *treePlan) draw(out *bufio.Writer, r *row, o Options) {
	p.name(r, o)
	for _, c := range p.columns[1:] {
		p.line.blank(gap)
		p.put(c, r.cell(c), o)
	}
	out.WriteString(p.line.end())
	for _, c := range p.under {
		cell := r.cell(c)
		text := clean(cell.Text)
		if text == "" {
			continue
		}
		room := max(p.room-width(r.under), 2*narrowest)
		lines := []string{cut(text, p.all[c].Truncate, room)}
		if p.all[c].Wrap {
			lines = wrap(text, room)
		}
		for _, text := range lines {
			p.line.text(r.under, view.Plain, o)
			p.line.text(text, cell.Tone, o)
			out.WriteString(p.line.end())
		}
	}
}

// name writes the first column of a line: branches, name, mark.
func (p *treePlan) name(r *row, o Options) {
	tone, markTone := view.Faint, view.Plain
	if r.line != nil {
		tone, markTone = r.line.Name.Tone, r.line.Mark.Tone
	}
	name := cutMiddle(r.name, max(narrowest, p.widths[0]-r.fixed))
	p.line.text(r.lead, view.Plain, o)
	p.line.text(name, tone, o)
	p.line.text(r.mark, markTone, o)
	p.line.blank(p.widths[0] - r.fixed - width(name))
}

// put writes a cell to the width of its column.
func (p *treePlan) put(c int, cell view.Cell, o Options) {
	text := cut(clean(cell.Text), p.all[c].Truncate, p.widths[c])
	space := p.widths[c] - width(text)
	if p.all[c].Right {
		p.line.blank(space)
		space = 0
	}
	p.line.text(text, cell.Tone, o)
	p.line.blank(space)
}
