package web

import (
	"encoding/json"
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
}
