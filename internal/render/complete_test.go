package render

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func TestComplete(t *testing.T) {
	type row struct {
		Names []string `json:"names"`
		Rows  []row    `json:"rows,omitempty"`
	}
	type document struct {
		Of    object.Ref     `json:"of"`
		At    time.Time      `json:"at"`
		Never time.Time      `json:"never,omitzero"`
		Rows  []row          `json:"rows"`
		One   *row           `json:"one"`
		None  *row           `json:"none"`
		By    map[string]row `json:"by"`
		Left  []string       `json:"left,omitzero"`
		Out   []string       `json:"-"`
		Patch any            `json:"patch"`
	}
	doc := document{
		At:   time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600)),
		Rows: []row{{Rows: []row{{}}}}, One: &row{}, By: map[string]row{"a": {}}, Patch: map[string]any{"spec": nil},
	}
	got, err := json.Marshal(completer{}.completed(doc))
	want := `{"of":"","at":"2026-01-02T02:04:05Z","rows":[{"names":[],"rows":[{"names":[]}]}],"one":{"names":[]},"none":null,"by":{"a":{"names":[]}},"patch":{"spec":null}}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	if doc.Rows[0].Names != nil || doc.Rows[0].Rows[0].Names != nil || doc.One.Names != nil || doc.By["a"].Names != nil {
		t.Error("the document itself was changed")
	}
	if (completer{}).completed(nil) != nil {
		t.Error("no document is one")
	}
}
