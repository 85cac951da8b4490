package e2e

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// What the page tells of a time is what metrics tells of it, by a real Prometheus: the spans add
// up to the whole, and so do the rows, and the file of a window has the same sums.
func TestPageOverTime(t *testing.T) {
	t.Parallel()
	h := newHistory(historySeed)
	p := cluster.StartPrometheus(t, cluster.PrometheusOptions{Series: h.all()})
	file := filepath.Join(t.TempDir(), "shop.yaml")
	if err := os.WriteFile(file, []byte(shopNow), 0o600); err != nil {
		t.Fatal(err)
	}
	window := at(6).Format(time.RFC3339) + "/" + at(78).Format(time.RFC3339)
	asked := []string{"-n", historyNamespace, "--from", file, "--prometheus", p.URL}
	whole := metricsOf(t, "", append(asked, "--window", window)...)
	if whole.Total.Cost.Window == nil {
		t.Fatal("metrics knows no cost of the window")
	}
	want := whole.Total.Cost.Window.Shift(2)

	v := visited(t, "", asked...)
	var history struct {
		Currency string
		Points   []struct {
			From, To int64
			Total    decimal.Decimal
		}
	}
	if err := json.Unmarshal([]byte(v.get("/api/history?window="+url.QueryEscape(window))), &history); err != nil {
		t.Fatal(err)
	}
	var sum decimal.Decimal
	end := at(6).Unix()
	for _, point := range history.Points {
		if point.From != end {
			t.Errorf("a span begins at %d, and the one before ended at %d", point.From, end)
		}
		end = point.To
		sum = sum.Add(point.Total)
	}
	if end != at(78).Unix() || len(history.Points) < 10 || history.Currency != "USD" {
		t.Errorf("%d spans until %d in %q", len(history.Points), end, history.Currency)
	}
	if off := sum.Sub(want).Abs(); off.GreaterThan(decimal.RequireFromString("0.01")) {
		t.Errorf("the spans add up to %s hundredths, and metrics says %s", sum, want)
	}

	var costs uistate.Costs
	if err := json.Unmarshal([]byte(v.get("/api/cost?by=stack&window="+url.QueryEscape(window))), &costs); err != nil {
		t.Fatal(err)
	}
	var rows int64
	for _, row := range costs.Rows {
		rows += row.Cost
	}
	if rows != costs.Total || costs.Total != want.Round(0).IntPart() {
		t.Errorf("the rows add up to %d, the total is %d, and metrics says %s", rows, costs.Total, want)
	}
	v.ends()

	written := sysop(t, "", append([]string{"metrics", "-o", "html", "--window", window}, asked...)...).succeeds(t)
	total, places := want.Shift(-2), int32(2)
	if total.LessThan(decimal.NewFromInt(10)) {
		places = 4
	}
	for _, text := range []string{"<h1>Invoice</h1>", total.StringFixed(places) + "</td></tr></tfoot>"} {
		if !strings.Contains(written.stdout, text) {
			t.Errorf("no %s in the invoice", text)
		}
	}
}
