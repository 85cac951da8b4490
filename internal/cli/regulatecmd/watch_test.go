package regulatecmd

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// A cause is said once, however many it holds.
func TestWatchSaysACauseOnce(t *testing.T) {
	w := &watchPrinter{}
	var got []string
	for _, turn := range [][]string{{"db is down", "db is down"}, {"db is down", "web is down"}, {"db is down"}} {
		table := &view.Table{}
		for _, why := range turn {
			table.Rows = append(table.Rows, []view.Cell{{Text: "Stop"}, {Text: why}})
		}
		w.dropRepeatedCause(table)
		for _, row := range table.Rows {
			got = append(got, row[1].Text)
		}
	}
	if text := strings.Join(got, "|"); text != "db is down|||web is down|db is down" {
		t.Errorf("%q", text)
	}
}
