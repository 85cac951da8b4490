package render

import (
	"bufio"
	"io"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

const (
	// indent is that of the text below a title.
	indent = "    "
	// widest is how long a line of running text gets where there is room for more:
	// longer ones are hard to read.
	widest = 100
	// tab is how far apart the stops of a tabulator are.
	tab = 8
)

// page writes sections of text, wrapped to the width where there is one.
func page(w io.Writer, a view.Output, o Options) error {
	out := bufio.NewWriter(w)
	for i, s := range a.Page.Sections {
		if i > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(clean(s.Title) + "\n")
		for j, b := range s.Blocks {
			if j > 0 {
				out.WriteByte('\n')
			}
			if err := block(out, b, o); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

func block(out *bufio.Writer, b view.Block, o Options) error {
	switch {
	case b.Table != nil:
		return inset(out, b.Table, o)
	case b.Pairs != nil:
		pairs(out, b.Pairs, o)
	case b.Items != nil:
		for _, item := range b.Items {
			lines(out, indent, indent+indent+indent, o, item.Head, item.Note)
			if item.Text != "" {
				lines(out, indent+indent, indent+indent, o, item.Text)
			}
		}
	case b.Verbatim != "":
		verbatim(out, b.Verbatim)
	default:
		lines(out, indent, indent, o, b.Text)
	}
	return nil
}

// inset writes a table below a title.
func inset(out *bufio.Writer, t *view.Table, o Options) error {
	if o.Width > 0 {
		o.Width = max(o.Width-len(indent), narrowest)
	}
	var text strings.Builder
	if err := write(&text, t, o); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		out.WriteString(indent + line)
	}
	return nil
}

func pairs(out *bufio.Writer, all []view.Pair, o Options) {
	term := 0
	for _, p := range all {
		term = max(term, width(clean(p.Term)))
	}
	rest := indent + strings.Repeat(" ", term) + "  "
	for _, p := range all {
		t := clean(p.Term)
		lines(out, indent+t+strings.Repeat(" ", term-width(t))+"  ", rest, o, p.Text)
	}
}

// lines writes texts one behind the other, wrapped at blanks: first stands before
// the first line, rest before the others. Between two texts is a wider blank.
func lines(out *bufio.Writer, first, rest string, o Options, texts ...string) {
	room := min(o.Width, widest)
	line, blank := first, ""
	for _, text := range texts {
		for word := range strings.FieldsSeq(text) {
			word = clean(word)
			if room > 0 && blank != "" && width(line)+len(blank)+width(word) > room {
				out.WriteString(line + "\n")
				line, blank = rest, ""
			}
			line += blank + word
			blank = " "
		}
		if blank != "" {
			blank = "  "
		}
	}
	out.WriteString(strings.TrimRight(line, " ") + "\n")
}

// verbatim writes the lines of a text as they are, but for tabulators.
func verbatim(out *bufio.Writer, text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		line = strings.TrimSuffix(line, "\r")
		var b strings.Builder
		at := 0
		for i, part := range strings.Split(line, "\t") {
			if i > 0 {
				n := tab - at%tab
				b.WriteString(strings.Repeat(" ", n))
				at += n
			}
			part = clean(part)
			b.WriteString(part)
			at += width(part)
		}
		out.WriteString(strings.TrimRight(indent+b.String(), " ") + "\n")
	}
}
