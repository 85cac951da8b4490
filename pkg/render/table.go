package render

import (
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/view"
)

// between is what stands between the columns of a table, as kubectl has it.
const between = "   "

func table(w io.Writer, a view.Answer, o Options) error { return write(w, a.Table, o) }

// wide cuts nothing, however narrow the terminal: who asks for it wants all.
func wide(w io.Writer, a view.Answer, o Options) error {
	o.Width = 0
	return write(w, a.Wide, o)
}

// write prints a table without lines. Where there is no room for it, text is cut
// and columns go by their priority.
func write(w io.Writer, t *view.Table, o Options) error {
	if len(t.Rows) == 0 {
		return nil
	}
	heads, rows, columns := fitTable(t, o)
	var text strings.Builder
	tab := tablewriter.NewTable(&text,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.BorderNone,
			Settings: tw.Settings{Separators: tw.SeparatorsNone, Lines: tw.LinesNone},
		})),
		// Width must not depend on the locale of the process.
		tablewriter.WithEastAsian(tw.Off),
		tablewriter.WithHeaderAutoFormat(tw.Off), tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithRowAutoWrap(tw.WrapNone), tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAlignment(tw.AlignLeft), tablewriter.WithAlignment(alignment(columns)),
		tablewriter.WithPadding(tw.Padding{Right: between, Overwrite: true}),
	)
	if !o.NoHeaders {
		tab.Header(heads)
	}
	if err := tab.Bulk(rows); err != nil {
		return err
	}
	if err := tab.Render(); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		if _, err := io.WriteString(w, strings.TrimRight(line, " \n")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// fitTable returns the heads and cells that there is room for. Cells are painted
// without padding: tablewriter measures text without its colour codes, and pads
// outside of them.
func fitTable(t *view.Table, o Options) (heads []string, rows [][]string, columns []view.Column) {
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
	l := fit(t.Columns, numbers(t.Columns), natural, floor, o.Width, len(between))
	for _, c := range l.columns {
		heads = append(heads, t.Columns[c].Name)
		columns = append(columns, t.Columns[c])
	}
	rows = make([][]string, 0, len(t.Rows))
	for _, r := range t.Rows {
		cells := make([]string, 0, len(l.columns))
		for _, c := range l.columns {
			text := cut(clean(r[c].Text), t.Columns[c].Cut, l.widths[c])
			cells = append(cells, paint(strings.TrimRight(text, " "), r[c].Tone, o))
		}
		rows = append(rows, cells)
	}
	return heads, rows, columns
}

func alignment(columns []view.Column) tw.Alignment {
	align := make(tw.Alignment, 0, len(columns))
	for _, c := range columns {
		if c.Right {
			align = append(align, tw.AlignRight)
		} else {
			align = append(align, tw.AlignLeft)
		}
	}
	return align
}
