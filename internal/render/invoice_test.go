package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// TestInvoiceIsStatic has names that are markup, and that reorder text: the file has them as text,
// and no script, no address and no style but its own.
func TestInvoiceIsStatic(t *testing.T) {
	const evil = "</title><script>alert(1)</script>\u202e\"'"
	costs := func(a, b string) []decimal.Decimal {
		return []decimal.Decimal{decimal.RequireFromString(a), decimal.RequireFromString(b)}
	}
	line := view.InvoiceLine{Name: evil, Share: "1/3", Mark: evil, Amounts: []string{"1", "", "", "", "", ""}, Cost: "3.00"}
	inv := &view.Invoice{
		Title: "Invoice", Currency: "EUR", By: evil, Facts: []view.Pair{{Term: "From", Text: evil}}, Shared: true, Notes: []string{evil},
		Groups: []view.InvoiceGroup{{InvoiceLine: line, Lines: []view.InvoiceLine{line}}}, Total: line,
		Chart: &view.InvoiceChart{Unit: "day", Names: []string{evil, "idle"}, Idle: 1, Periods: []view.InvoicePeriod{
			{Name: "2026-10-01", Costs: costs("1", "1"), Total: decimal.NewFromInt(2), Texts: []string{"1.00", "1.00", "2.00"}},
			{Name: "2026-10-02", Costs: costs("1", "0"), Total: decimal.NewFromInt(1), Texts: []string{"1.00", "0.00", "1.00"}},
		}},
	}
	var out, again bytes.Buffer
	for _, w := range []*bytes.Buffer{&out, &again} {
		if err := Write(w, "html", view.Output{Invoice: inv}, Options{}); err != nil {
			t.Fatal(err)
		}
	}
	text := out.String()
	if text != again.String() {
		t.Error("the same invoice is written differently")
	}
	for _, bad := range []string{"<script", "\u202e", "http://", "https://", "url(", "ZgotmplZ"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q is in the file", bad)
		}
	}
	// The first bar is the largest: its two groups are of half the height each.
	for _, want := range []string{"style-src &#39;sha256-", `height="94.00" class="s0"`, `height="94.00" class="idle"`, "&lt;script&gt;", `<td class="num">1/3</td>`, ">10-01</text>", `<th scope="row">Total <small class="mark">`, "<td class=\"num\">2.00</td></tr>"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the file", want)
		}
	}
}
