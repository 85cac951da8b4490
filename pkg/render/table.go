package render

import (
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/view"
)

func table(w io.Writer, a view.Answer, o Options) error { return write(w, a.Table, o) }

func wide(w io.Writer, a view.Answer, o Options) error { return write(w, a.Wide, o) }

// write prints a table without lines, as kubectl does: columns apart by three
// spaces, nothing cut.
func write(w io.Writer, t *view.Table, o Options) error {
	if len(t.Rows) == 0 {
		return nil
	}
	var text strings.Builder
	tab := tablewriter.NewTable(&text,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.BorderNone,
			Settings: tw.Settings{Separators: tw.SeparatorsNone, Lines: tw.LinesNone},
		})),
		tablewriter.WithHeaderAutoFormat(tw.Off), tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithRowAutoWrap(tw.WrapNone), tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAlignment(tw.AlignLeft), tablewriter.WithAlignment(alignment(t.Columns)),
		tablewriter.WithPadding(tw.Padding{Right: "   ", Overwrite: true}),
	)
	if !o.NoHeaders {
		heads := make([]string, 0, len(t.Columns))
		for _, c := range t.Columns {
			heads = append(heads, c.Name)
		}
		tab.Header(heads)
	}
	for _, r := range t.Rows {
		cells := make([]string, 0, len(r))
		for _, c := range r {
			cells = append(cells, paint(clean(c.Text), c.Tone, o))
		}
		if err := tab.Append(cells); err != nil {
			return err
		}
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
