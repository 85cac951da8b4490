package render

import (
	"bufio"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// between is what stands between the columns of a table, as kubectl has it.
const between = "   "

func table(w io.Writer, a view.Output, o Options) error { return write(w, a.Table, o) }

// wide cuts nothing, however narrow the terminal is: this format promises all the text.
func wide(w io.Writer, a view.Output, o Options) error {
	o.Width = 0
	return write(w, a.Wide, o)
}

// write prints a table without lines. Where there is no room for it, text is cut
// and columns go by their priority. Colour comes last: tablewriter adds codes of
// its own to those it meets.
func write(w io.Writer, t *view.Table, o Options) error {
	if len(t.Rows) == 0 {
		return nil
	}
	l := place(t, o)
	text, err := lay(t, l, o)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	row := -1
	if o.NoHeaders {
		row = 0
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		if row >= 0 && o.Color {
			line = colored(line, t.Rows[row], l, t.Columns, o)
		}
		out.WriteString(line)
		out.WriteByte('\n')
		row++
	}
	return out.Flush()
}

// place finds room for the columns.
func place(t *view.Table, o Options) layout {
	natural, floor := make([]int, len(t.Columns)), make([]int, len(t.Columns))
	for c, col := range t.Columns {
		if !o.NoHeaders {
			natural[c] = width(col.Name)
		}
		for _, r := range t.Rows {
			natural[c] = max(natural[c], width(clean(r[c].Text)))
		}
		floor[c] = leastOf(col, natural[c])
	}
	return fit(t.Columns, numbers(t.Columns), natural, floor, o.Width, len(between))
}

// lay returns the lines of the table.
func lay(t *view.Table, l layout, o Options) (string, error) {
	var text strings.Builder
	heads := make([]string, 0, len(l.columns))
	align := make(tw.Alignment, 0, len(l.columns))
	for _, c := range l.columns {
		heads = append(heads, t.Columns[c].Name)
		align = append(align, alignment(t.Columns[c]))
	}
	rows := make([][]string, 0, len(t.Rows))
	for _, r := range t.Rows {
		cells := make([]string, 0, len(l.columns))
		for _, c := range l.columns {
			cells = append(cells, l.cell(t.Columns, r, c))
		}
		rows = append(rows, cells)
	}
	tab := tablewriter.NewTable(&text,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.BorderNone,
			Settings: tw.Settings{Separators: tw.SeparatorsNone, Lines: tw.LinesNone},
		})),
		// Width must not depend on the locale of the process.
		tablewriter.WithEastAsian(tw.Off),
		tablewriter.WithHeaderAutoFormat(tw.Off), tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithRowAutoWrap(tw.WrapNone), tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAlignment(tw.AlignLeft), tablewriter.WithAlignment(align),
		tablewriter.WithPadding(tw.Padding{Right: between, Overwrite: true}),
	)
	if !o.NoHeaders {
		tab.Header(heads)
	}
	if err := tab.Bulk(rows); err != nil {
		return "", err
	}
	err := tab.Render()
	return text.String(), err
}

func alignment(c view.Column) tw.Align {
	if c.Right {
		return tw.AlignRight
	}
	return tw.AlignLeft
}

// cell is the text of a column as it is shown.
func (l layout) cell(all []view.Column, r []view.Cell, c int) string {
	return strings.TrimSpace(cut(clean(r[c].Text), all[c].Truncate, l.widths[c]))
}

// colored paints the cells of a line, which stand on it in their order with
// nothing but blanks between.
func colored(line string, r []view.Cell, l layout, all []view.Column, o Options) string {
	var b strings.Builder
	for _, c := range l.columns {
		text := l.cell(all, r, c)
		at := strings.Index(line, text)
		if at < 0 || text == "" {
			continue
		}
		b.WriteString(line[:at])
		b.WriteString(paint(text, r[c].Tone, o))
		line = line[at+len(text):]
	}
	b.WriteString(line)
	return b.String()
}
