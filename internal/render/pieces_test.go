package render

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

type pieceHead struct {
	Kind string `json:"kind"`
	Note string `json:",omitempty"`
}

// TestPieces holds the pieces to what encoding/json writes at once.
func TestPieces(t *testing.T) {
	type row struct {
		Names []string `json:"names"`
		Rows  []row    `json:"rows,omitempty"`
	}
	type document struct {
		pieceHead `json:",inline"`
		Of        object.Ref     `json:"of"`
		At        time.Time      `json:"at"`
		Never     time.Time      `json:"never,omitzero"`
		Rows      []row          `json:"rows"`
		Any       []any          `json:"any"`
		Data      []byte         `json:"data"`
		Left      []string       `json:"left,omitempty"`
		Zero      []string       `json:"zero,omitzero"`
		None      *row           `json:"none"`
		By        map[string]row `json:"by"`
		Ratio     float64        `json:"ratio,omitempty"`
		Out       []string       `json:"-"`
		hidden    int
	}
	full := document{
		pieceHead: pieceHead{Kind: "Full<>", Note: "n"}, At: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), hidden: 1,
		Rows: []row{{}, {Names: []string{"a"}, Rows: []row{{}}}}, Any: []any{nil, map[string]any{"a": 1}, 1.5}, Data: []byte("x"),
		By: map[string]row{"a": {}}, Ratio: 0.5, Left: []string{"l"}, Zero: []string{},
	}
	type clash struct {
		pieceHead
		Name string `json:"kind"`
	}
	for _, doc := range []any{full, &full, document{}, struct{}{}, []string{"a"}, []string{}, map[string]int{"a": 1}, "text", clash{Name: "outer"}, object.Ref{Kind: "Pod", Name: "p"}, nil} {
		var got, want bytes.Buffer
		if err := pieces(doc, func(p []byte) error { got.Write(p); return nil }); err != nil {
			t.Fatal(err)
		}
		enc := json.NewEncoder(&want)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		if err := enc.Encode(completer{}.completed(doc)); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("%T: got\n%s\nwant\n%s", doc, &got, &want)
		}
	}
}
