package web

import (
	"encoding/json"
	"fmt"
	"testing"
)

// The System of the example is in the binary: the page shows its apps, and that nothing ran on it.
func TestRegulationOfTheExample(t *testing.T) {
	text, err := (&API{Page: demoPage(t)}).regulation(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Systems []struct {
			Name string
			Apps []struct{ App, State string }
			Runs []json.RawMessage
			Plan struct {
				Steps []struct{ App, Signal string }
			}
			WhatIf struct {
				Bounds          string
				Fails, Upgraded []struct {
					App        string
					StopOrder  [][]string
					Neighbours []struct{ Signals []struct{ Signal string } }
				}
				Effects map[string]struct{ Actions []struct{ Text string } }
			}
		}
		Unavailable string
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Systems) != 1 || answer.Unavailable != "" {
		t.Fatalf("%s", text)
	}
	if s := answer.Systems[0]; s.Name == "" || len(s.Apps) < 4 || s.Runs == nil || len(s.Runs) > 0 {
		t.Errorf("%+v", s)
	}
	s := answer.Systems[0]
	if len(s.Plan.Steps) != 1 || s.Plan.Steps[0].App != "moodle-1" {
		t.Errorf("plan: %+v", s.Plan)
	}
	db := s.WhatIf.Fails[0]
	if got := fmt.Sprint(db.App, db.StopOrder); got != "db[[moodle-1 importer] [moodle-2 wordpress]]" {
		t.Errorf("if it fails: %s", got)
	}
	signals := 0
	for _, n := range s.WhatIf.Upgraded[0].Neighbours {
		signals += len(n.Signals)
	}
	if got := fmt.Sprint(signals, s.WhatIf.Upgraded[0].StopOrder); got != "1 [[wordpress]]" {
		t.Errorf("if db is upgraded: %s", got)
	}
	if got := fmt.Sprint(s.WhatIf.Effects["Stop/importer"], s.WhatIf.Effects["drain/wordpress"]); got != "{[{replicas = 0}]} {[{wordpress.example.com/read-only=true}]}" {
		t.Errorf("what signals do: %s", got)
	}
}
