package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// The content types of the two text expositions.
const (
	OpenMetricsType = "application/openmetrics-text; version=1.0.0; charset=utf-8"
	PlainTextType   = "text/plain; version=0.0.4; charset=utf-8"
)

// openMetrics writes metric families as OpenMetrics 1.0 has it.
func openMetrics(w io.Writer, a view.Output, _ Options) error {
	return exposition(w, a.Families, true)
}

// PlainText writes metric families in the text format 0.0.4 of Prometheus, for
// scrapers that do not ask for OpenMetrics.
func PlainText(w io.Writer, families []view.Family) error {
	return exposition(w, families, false)
}

// exposition writes families in their order. Neither format can tell two samples of
// the same labels apart, and a scraper would refuse or lose one: they are an error.
func exposition(w io.Writer, families []view.Family, open bool) error {
	out := bufio.NewWriter(w)
	for i := range families {
		if err := writeFamily(out, &families[i], open); err != nil {
			return err
		}
	}
	if open {
		out.WriteString("# EOF\n")
	}
	return out.Flush()
}

func writeFamily(out *bufio.Writer, f *view.Family, open bool) error {
	// OpenMetrics names the family of a counter without _total, the older format with.
	family, sample := f.Name, f.Name
	if f.Type == view.Counter {
		if sample += "_total"; !open {
			family = sample
		}
	}
	if open {
		fmt.Fprintf(out, "# TYPE %s %s\n", family, f.Type)
		if f.Unit != "" {
			fmt.Fprintf(out, "# UNIT %s %s\n", family, f.Unit)
		}
		fmt.Fprintf(out, "# HELP %s %s\n", family, quoteIn(f.Help, openHelp))
	} else {
		fmt.Fprintf(out, "# HELP %s %s\n", family, quoteIn(f.Help, plainHelp))
		fmt.Fprintf(out, "# TYPE %s %s\n", family, f.Type)
	}
	seen := make(map[string]bool, len(f.Samples))
	var labels strings.Builder
	for _, s := range f.Samples {
		labels.Reset()
		writeLabels(&labels, s.Labels)
		text := labels.String()
		if seen[text] {
			return fmt.Errorf("write metrics: two samples of %s have the labels %s", sample, text)
		}
		seen[text] = true
		out.WriteString(sample)
		out.WriteString(text)
		out.WriteByte(' ')
		out.WriteString(s.Value)
		out.WriteByte('\n')
	}
	return nil
}

func writeLabels(b *strings.Builder, labels []view.Label) {
	if len(labels) == 0 {
		return
	}
	for i, l := range labels {
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(l.Name)
		b.WriteString(`="`)
		b.WriteString(quoteIn(l.Value, labelValue))
		b.WriteByte('"')
	}
	b.WriteByte('}')
}

// What each place escapes besides line ends.
var (
	labelValue = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	openHelp   = labelValue
	plainHelp  = strings.NewReplacer(`\`, `\\`)
)

// quoteIn escapes text for a place. Line ends have an escape of their own; what else
// a terminal would obey becomes visible: a label value may hold it, but people read
// these texts too.
func quoteIn(text string, place *strings.Replacer) string {
	if !strings.Contains(text, "\n") {
		return place.Replace(clean(text))
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = place.Replace(clean(line))
	}
	return strings.Join(lines, `\n`)
}
