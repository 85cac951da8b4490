package cli_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/internal/cli"
	"github.com/kubectl-sysop/kubectl-sysop/internal/page"
	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
)

// TestOneNumberPerStack asks stacks, metrics and the page, as a file of each, what stacks cost: the
// answers are equal, and each says among which stacks shared parts are split.
func TestOneNumberPerStack(t *testing.T) {
	ask := func(args string) []byte {
		t.Helper()
		var out, talk bytes.Buffer
		if code := cli.Main(t.Context(), env(strings.NewReader(""), &out, &talk), strings.Fields(args+" --from demo")); code != 0 {
			t.Fatalf("%s: exit %d: %s", args, code, &talk)
		}
		return out.Bytes()
	}
	read := func(text []byte, into any) {
		t.Helper()
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	type priced struct {
		ID, Name string
		Cost     struct{ Month *decimal.Decimal }
	}
	for among, scope := range map[string]string{"cluster": "-A", "namespace": "-n moodle"} {
		var stacks struct {
			SharedAmong string
			Stacks      []priced
		}
		var metrics struct {
			SharedAmong string
			Rows        []priced
		}
		read(ask("stacks -o json "+scope), &stacks)
		read(ask("metrics -o json "+scope), &metrics)
		of := map[string]decimal.Decimal{}
		for _, row := range metrics.Rows {
			if row.ID != "" && row.Cost.Month != nil {
				of[row.ID] = *row.Cost.Month
			}
		}
		found := 0
		for _, s := range stacks.Stacks {
			if s.Cost.Month == nil {
				continue
			}
			if found++; !of[s.Name].Equal(*s.Cost.Month) {
				t.Errorf("%s: %s costs %s by stacks and %s by metrics", scope, s.Name, s.Cost.Month, of[s.Name])
			}
		}
		if found < 4 || stacks.SharedAmong != among || metrics.SharedAmong != among {
			t.Errorf("%s: %d stacks, shared among %s and %s", scope, found, stacks.SharedAmong, metrics.SharedAmong)
		}
		for _, command := range []string{"stacks", "metrics", "health"} {
			text, err := page.Unpack(ask(command + " -o html " + scope))
			if err != nil {
				t.Fatal(err)
			}
			var state uistate.State
			read(text, &state)
			shown := 0
			for _, s := range state.Stacks {
				if s.Cost == nil {
					continue
				}
				// Cents that add up are the cost rounded up or down.
				if off := decimal.NewFromInt(*s.Cost).Sub(of[s.Name].Shift(2)).Abs(); off.GreaterThanOrEqual(decimal.NewFromInt(1)) {
					t.Errorf("%s %s: %s costs %d cents on the page, %s by metrics", command, scope, s.Name, *s.Cost, of[s.Name])
				}
				shown++
			}
			if shown != found || state.SharedAmong != among {
				t.Errorf("%s %s: the page has %d stacks, shared among %s", command, scope, shown, state.SharedAmong)
			}
		}
	}
	for args, heading := range map[string]string{"moodle/moodle-1": "OBJECT (ALONE) ", "moodle/moodle-1 moodle/moodle-2": "OBJECT (SHARED) ", "-A": "OBJECT (SHARED) ", "-A --share none": "OBJECT (UNSHARED) "} {
		if text := string(ask("metrics --depth 1 " + args)); !strings.HasPrefix(text, heading) {
			t.Errorf("%s: heading of\n%s", args, text)
		}
	}
	if text := string(ask("stacks -n moodle")); !strings.HasPrefix(text, "NAME (SHARED) ") {
		t.Errorf("heading of\n%s", text)
	}
	if text := string(ask("stacks -A -o csv")); strings.Count(text, ",cluster,") < 4 {
		t.Errorf("no shared_among in\n%s", text)
	}
}
