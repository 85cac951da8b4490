package render

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

//go:embed invoice.css
var invoiceStyle string

//go:embed invoice.gohtml
var invoiceText string

// invoice writes an invoice as one document without script, for the screen and for paper.
func invoice(w io.Writer, inv *view.Invoice) error {
	hash := sha256.Sum256([]byte(invoiceStyle))
	t, err := template.New("invoice").Funcs(template.FuncMap{
		"clean": clean,
		"style": func() template.CSS { return template.CSS(invoiceStyle) }, //nolint:gosec // a text of this package
		"policy": func() string {
			return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
		},
		"heads":  invoiceHeads,
		"chart":  chartOf,
		"indent": func(depth int) string { return fmt.Sprintf("d%d", min(depth, 6)) },
		"class":  func(c *drawnChart, i int) string { return classOf(c.InvoiceChart, i) },
		"title":  func(s string) string { return strings.ToUpper(s[:min(1, len(s))]) + s[min(1, len(s)):] },
	}).Parse(invoiceText)
	if err != nil {
		return err
	}
	return t.Execute(w, inv)
}

// invoiceHeads are the heads of the amounts of a line.
func invoiceHeads(inv *view.Invoice) []string {
	if inv.Total.Month != "" {
		return []string{"Pods", "CPU", "requested", "Memory", "requested", "Storage"}
	}
	return []string{"Pods", "Core-h", "requested", "GiB-h", "requested", "Storage GiB-h"}
}

// The size of the chart, in units of the picture.
const (
	chartWidth  = 960.0
	chartHeight = 200.0
	chartMargin = 56.0 // for the amounts beside it
)

// drawnChart is a chart with the places of its bars.
type drawnChart struct {
	*view.InvoiceChart
	Bars   []chartBar
	Labels []chartLabel
	Lines  []chartLabel
}

type chartBar struct {
	X, Y, W, H string
	Class      string
	Title      string
}

type chartLabel struct{ X, Y, Text string }

// chartOf places the bars: one a period, of its groups from below.
func chartOf(c *view.InvoiceChart, currency string) *drawnChart {
	d := &drawnChart{InvoiceChart: c}
	most := 0.0
	for _, p := range c.Periods {
		most = max(most, p.Total.InexactFloat64())
	}
	if most == 0 {
		most = 1
	}
	at := func(f float64) string { return fmt.Sprintf("%.2f", f) }
	for i := range 3 { // lines at none, half and all of the largest
		part := float64(i) / 2
		d.Lines = append(d.Lines, chartLabel{at(chartMargin - 6), at(chartHeight - part*(chartHeight-12)), fmt.Sprintf("%.2f", part*most)})
	}
	width := (chartWidth - chartMargin) / float64(len(c.Periods))
	every := (len(c.Periods) + 9) / 10
	for i, p := range c.Periods {
		x, y := chartMargin+float64(i)*width, chartHeight
		for j, part := range p.Costs {
			h := part.InexactFloat64() / most * (chartHeight - 12)
			y -= h
			if h > 0 {
				d.Bars = append(d.Bars, chartBar{at(x + width*0.08), at(y), at(width * 0.84), at(h), classOf(c, j), fmt.Sprintf("%s, %s: %s %s", clean(p.Name), clean(c.Names[j]), part, currency)})
			}
		}
		if i%every == 0 {
			d.Labels = append(d.Labels, chartLabel{at(x + width*0.08), at(chartHeight + 16), strings.TrimPrefix(p.Name, yearOf(c))})
		}
	}
	return d
}

// classOf is the colour of a group: idle is grey.
func classOf(c *view.InvoiceChart, i int) string {
	if i == c.Idle {
		return "idle"
	}
	return fmt.Sprintf("s%d", i)
}

// yearOf is what days of one year have in common.
func yearOf(c *view.InvoiceChart) string {
	first, last := c.Periods[0].Name, c.Periods[len(c.Periods)-1].Name
	if len(first) == 10 && first[:5] == last[:5] {
		return first[:5]
	}
	return ""
}
