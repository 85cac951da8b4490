package render

import (
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// row is a line of a tree with its branches drawn and its text clean.
type row struct {
	lead  string // the branches before it
	under string // the branches on a line of its own text below it
	name  string
	mark  string
	line  *view.TreeRow // nil where it counts what is hidden
	fixed int           // the width of lead and mark, which are never cut
}

// drawing is how deep branches are drawn. A level is three columns wide, so that
// a stack of ten thousand would be a line of thirty thousand. Deeper than most,
// the levels on the left go, half of most at a time, and their number is shown
// instead: what leads to a line from near by is always drawn.
type drawing struct {
	maxRows int
	under   bool
	last    []bool // by level above a line: whether its branch ends there
	rows    []row
}

// levels is how many are drawn in a room: they get two fifths of it.
func levels(room int) int {
	const level, unlimited, least = 3, 100, 4
	if room == 0 {
		return unlimited
	}
	return min(unlimited, max(least, room*2/5/level))
}

// grow draws a line and what is below it.
func (d *drawing) grow(l *view.TreeRow) {
	r := row{line: l, name: clean(l.Name.Text), mark: clean(l.Mark.Text)}
	if r.mark != "" {
		r.mark = " " + r.mark
	}
	r.lead = d.lead()
	if d.under {
		r.under = d.beneath(len(l.Children) > 0 || l.Hidden > 0)
	}
	r.fixed = width(r.lead) + width(r.mark)
	d.rows = append(d.rows, r)
	d.last = append(d.last, false)
	for i, child := range l.Children {
		d.last[len(d.last)-1] = i == len(l.Children)-1 && l.Hidden == 0
		d.grow(child)
	}
	if l.Hidden > 0 {
		d.last[len(d.last)-1] = true
		lead := d.lead()
		d.rows = append(d.rows, row{lead: lead, name: "… " + strconv.Itoa(l.Hidden) + " more", fixed: width(lead)})
	}
	d.last = d.last[:len(d.last)-1]
}

// shown returns the levels to draw, and writes a mark with the number of the hidden ones.
func (d *drawing) shown(b *strings.Builder) []bool {
	excess := len(d.last) - d.maxRows
	if excess <= 0 {
		return d.last
	}
	step := max(1, d.maxRows/2)
	hidden := (excess + step - 1) / step * step
	b.WriteString("⋯" + strconv.Itoa(hidden) + " ")
	return d.last[hidden:]
}

func (d *drawing) lead() string {
	var b strings.Builder
	levels := d.shown(&b)
	for i, last := range levels {
		switch {
		case i == len(levels)-1 && last:
			b.WriteString("└─ ")
		case i == len(levels)-1:
			b.WriteString("├─ ")
		default:
			b.WriteString(pass(last))
		}
	}
	return b.String()
}

// beneath is the lead of text under a line, which reaches to what is below it.
func (d *drawing) beneath(more bool) string {
	var b strings.Builder
	for _, last := range d.shown(&b) {
		b.WriteString(pass(last))
	}
	b.WriteString(pass(!more))
	return b.String()
}

func pass(last bool) string {
	if last {
		return "   "
	}
	return "│  "
}
